#include "app/use_cases.h"

namespace sextant::app {

const std::vector<UseCase>& use_cases() {
  static const std::vector<UseCase> kUseCases{
      model_use_case(),     cluster_use_case(),  memory_use_case(),   traffic_use_case(),
      estimate_use_case(),  compare_use_case(),  check_use_case(),    emit_use_case(),
      plan_use_case(),      explain_use_case(),  validate_use_case(), calibrate_use_case(),
      summarize_use_case(), diagnose_use_case(), diff_use_case(),     kb_use_case(),
      tune_use_case()};
  return kUseCases;
}

}  // namespace sextant::app
