#include "measured/run_job.h"

#include <memory>
#include <utility>

#include "measured/run_cluster.h"
#include "measured/run_layout.h"

namespace sextant::measured {

namespace {

void append(describe::Assumptions& to, const describe::Assumptions& from) {
  to.insert(to.end(), from.begin(), from.end());
}

describe::Workload workload_of(const RunCells& run) {
  return describe::parse_word<describe::Workload>(
             describe::kWorkloadWords, run.workload_kind.empty() ? "pretrain" : run.workload_kind,
             "workload", "")
      .value_or(describe::Workload::kPretrain);
}

RunJob assemble(const RunCells& run, const describe::Model& model, const describe::Cluster& cluster,
                RunJob out) {
  RunLayout layout = run_layout(run, model);
  append(out.assumed, layout.assumed);
  out.beyond_layout = std::move(layout.beyond_layout);
  if (!layout.refusal.empty()) {
    out.refusal = std::move(layout.refusal);
    return out;
  }
  describe::Job job;
  job.model = model;
  job.cluster = cluster;
  job.layout = std::move(layout.layout);
  job.framework = layout.framework;
  job.stated = std::move(layout.stated);
  job.sequences.length = run.seq.value_or(0);
  job.global_batch = run.global_batch.value_or(0);
  job.workload = workload_of(run);
  if (job.workload == describe::Workload::kLora) {
    job.lora = describe::Lora{};
    out.assumed.push_back({"lora", "rank 16 on attention", "not stated", {}});
  }
  if (job.workload != describe::Workload::kPretrain) {
    out.assumed.push_back({"sequences", "full", "lengths of packed documents are not stated", {}});
  }
  job.assumed = out.assumed;
  out.job = std::make_shared<const describe::Job>(std::move(job));
  return out;
}

}  // namespace

std::optional<std::string> missing_batch(const RunCells& run) {
  if (!run.seq) {
    return "seq_len not stated";
  }
  if (!run.global_batch) {
    return "global_batch not stated";
  }
  return std::nullopt;
}

Result<RunJob> run_job(const RunCells& run, const ModelReading& model, Hardware& hardware) {
  RunJob out;
  out.assumed = model.assumed;
  if (!model.model) {
    out.refusal = model.refusal;
    return out;
  }
  SEXTANT_TRY(const RunCluster cluster, run_cluster(run, hardware));
  append(out.assumed, cluster.assumed);
  if (!cluster.cluster) {
    out.refusal = cluster.refusal;
    return out;
  }
  if (const auto missing = missing_batch(run)) {
    out.refusal = *missing;
    return out;
  }
  return assemble(run, *model.model, *cluster.cluster, std::move(out));
}

}  // namespace sextant::measured
