#include "validate/predictor.h"

#include <memory>

#include "validate/predict_changes.h"
#include "validate/predict_cluster.h"
#include "validate/predict_comm.h"
#include "validate/predict_experts.h"
#include "validate/predict_kernels.h"
#include "validate/predict_memory.h"
#include "validate/predict_runs.h"
#include "validate/predict_steps.h"
#include "validate/predict_traffic.h"

namespace sextant::validate {
namespace {

bool is_time_of_run(std::string_view quantity) {
  return quantity == "step_time_s" || quantity == "tokens_per_s_per_device" ||
         quantity == "tflops_per_device";
}

}  // namespace

measured::Predictor predictor(const describe::DataStore& data) {
  const auto changes = std::make_shared<ChangePredictor>(data);
  const auto cluster = std::make_shared<ClusterPredictor>(data);
  const auto comm = std::make_shared<CommPredictor>(data);
  const auto experts = std::make_shared<ExpertPredictor>(data);
  const auto kernels = std::make_shared<KernelPredictor>(data);
  const auto memory = std::make_shared<MemoryPredictor>(data);
  const auto runs = std::make_shared<RunPredictor>(data);
  const auto steps = std::make_shared<StepPredictor>(data);
  return [changes, cluster, comm, experts, kernels, memory, runs,
          steps](const measured::Row& row) -> measured::Answer {
    if (std::holds_alternative<measured::StepCollectiveSubject>(row.subject)) {
      return predict_step_collective(row);
    }
    if (std::holds_alternative<measured::CollectiveSubject>(row.subject) ||
        std::holds_alternative<measured::CommEfficiencySubject>(row.subject)) {
      return (*comm)(row);
    }
    if (std::holds_alternative<measured::ChangeSubject>(row.subject)) {
      return (*changes)(row);
    }
    if (std::holds_alternative<measured::ClusterStepSubject>(row.subject)) {
      return (*cluster)(row);
    }
    if (std::holds_alternative<measured::EpAllToAllSubject>(row.subject)) {
      return (*experts)(row);
    }
    if (std::holds_alternative<measured::KernelSubject>(row.subject) ||
        std::holds_alternative<measured::KernelEfficiencySubject>(row.subject)) {
      return (*kernels)(row);
    }
    if (row.table == measured::TableKind::kTrainSteps ||
        row.table == measured::TableKind::kRankCompute) {
      return (*steps)(row);
    }
    if (row.table == measured::TableKind::kRuns && is_time_of_run(row.quantity)) {
      return (*runs)(row);
    }
    return (*memory)(row);
  };
}

}  // namespace sextant::validate
