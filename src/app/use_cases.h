// Every use case's table, one file each; use_cases() is the list of them.
#pragma once

#include "app/use_case.h"

namespace sextant::app {

UseCase model_use_case();
UseCase cluster_use_case();
UseCase memory_use_case();
UseCase traffic_use_case();
UseCase diagnose_use_case();

}  // namespace sextant::app
