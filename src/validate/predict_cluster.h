// Steps of a small cluster of CPU processes, by the step model with constants from the
// micro-benchmarks beside the table. The steps themselves are never fitted on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

#include "base/result.h"
#include "cost/calibrate/cluster_fit.h"
#include "describe/data_store.h"
#include "describe/processor_facts.h"
#include "measured/validate.h"
#include "step/step_model.h"

namespace sextant::validate {

// The micro-benchmarks of a table of them (bench.csv), those of `threads` threads a rank.
// An Error where the table cannot be read or is of another kind.
Result<cost::ClusterBench> cluster_bench(const std::filesystem::path& path, std::int64_t threads,
                                         const describe::DataStore& data);

// Answers rows of cluster steps; refuses others. `data` must outlive it.
class ClusterPredictor {
 public:
  explicit ClusterPredictor(const describe::DataStore& data) : data_(data) {}
  measured::Answer operator()(const measured::Row& row);
  // What the subject's micro-benchmarks say: read and fitted once for each table.
  Result<cost::ClusterConstants> constants(const measured::ClusterStepSubject& subject);

 private:
  Result<step::StepModel> model_of(const measured::ClusterStepSubject& subject,
                                   const describe::ProcessorFacts& processor);

  const describe::DataStore& data_;
  std::map<std::pair<std::filesystem::path, std::int64_t>, Result<cost::ClusterConstants>> known_;
};

}  // namespace sextant::validate
