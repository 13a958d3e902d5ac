// Every use case's table, one file each; use_cases() is the list of them.
#pragma once

#include "app/use_case.h"

namespace sextant::app {

UseCase model_use_case();
UseCase cluster_use_case();
UseCase memory_use_case();
UseCase traffic_use_case();
UseCase estimate_use_case();
UseCase compare_use_case();
UseCase check_use_case();
UseCase emit_use_case();
UseCase plan_use_case();
UseCase explain_use_case();
UseCase validate_use_case();
UseCase calibrate_use_case();
UseCase summarize_use_case();
UseCase diagnose_use_case();
UseCase diff_use_case();
UseCase kb_use_case();
UseCase tune_use_case();

}  // namespace sextant::app
