// The search form of traffic: totals of a layout, without lists. The aim is 0.5 µs a layout.
#include <vector>

#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "instructions.h"
#include "workload/matrix.h"
#include "workload/traffic.h"

namespace sextant::bench {
namespace {

using describe::Layout;

struct Candidate {
  Layout layout;
  workload::Shard shard;
  std::vector<workload::Stage> stages;
};

describe::Job job_of(const char* model, std::int64_t devices) {
  describe::Job job;
  job.model = *describe::load_model(model, describe::DataStore());
  job.cluster.devices = devices;
  job.cluster.system.devices_per_node.value = 8;
  job.cluster.system.domain_size.value = 8;
  job.cluster.device.peaks[static_cast<std::size_t>(describe::DType::kBf16)] =
      describe::Sourced<FlopsPerSecond>{};
  job.sequences.length = 8192;
  job.global_batch = 1024;
  return job;
}

Layout layout_of(const describe::Model& model, std::int64_t tp, std::int64_t pp, std::int64_t ep) {
  Layout layout;
  layout.tp = tp;
  layout.sp = tp > 1;
  layout.pp = pp;
  layout.ep = ep;
  layout.zero = describe::Zero::kOptimizer;
  layout.split = describe::plausible_split(model.layer_count(), pp);
  layout.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
  return layout;
}

void add_if_legal(describe::Job& job, std::vector<Candidate>& candidates) {
  if (describe::check_rules(job).empty()) {
    candidates.push_back({job.layout, workload::shard_of(job), workload::stages_of(job)});
  }
}

// Every legal layout of a small grid.
std::vector<Candidate> candidates_of(describe::Job& job) {
  std::vector<Candidate> candidates;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8, 16}) {
      for (const std::int64_t ep : {1, 8, 32}) {
        job.layout = layout_of(job.model, tp, pp, ep);
        add_if_legal(job, candidates);
      }
    }
  }
  return candidates;
}

void traffic_totals(benchmark::State& state, const char* model, describe::Framework framework) {
  describe::Job job = job_of(model, 1024);
  job.framework = framework;
  const std::vector<Candidate> candidates = candidates_of(job);
  const Instructions instructions(state);
  std::size_t next = 0;
  for (auto _ : state) {
    const Candidate& at = candidates[next];
    next = (next + 1) % candidates.size();
    benchmark::DoNotOptimize(workload::traffic_totals(job, at.layout, at.shard, at.stages));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(traffic_totals, llama_70b, "llama-3.1-70b", describe::Framework::kMegatronCore);
BENCHMARK_CAPTURE(traffic_totals, deepseek_v3, "deepseek-v3", describe::Framework::kMegatronCore);
BENCHMARK_CAPTURE(traffic_totals, llama_70b_fsdp2, "llama-3.1-70b",
                  describe::Framework::kTorchtitan);

// One stage, as a cost model asks for it.
void stage_traffic(benchmark::State& state, const char* model) {
  describe::Job job = job_of(model, 1024);
  const std::vector<Candidate> candidates = candidates_of(job);
  std::size_t next = 0;
  for (auto _ : state) {
    const Candidate& at = candidates[next];
    next = (next + 1) % candidates.size();
    benchmark::DoNotOptimize(workload::stage_traffic(job, at.layout, at.shard, at.stages.front()));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(stage_traffic, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(stage_traffic, deepseek_v3, "deepseek-v3");

// Rows of a matrix of 16,384 ranks.
void matrix_rows(benchmark::State& state) {
  describe::Job job = job_of("deepseek-v3", 16384);
  job.layout.pp = 16;
  job.layout.ep = 64;
  job.layout.split = describe::plausible_split(job.model.layer_count(), 16);
  job.global_batch = 16384;
  const workload::CommunicationMatrix matrix(job);
  std::vector<workload::MatrixEntry> row;
  std::int64_t rank = 0;
  for (auto _ : state) {
    matrix.row(rank, row);
    benchmark::DoNotOptimize(row.data());
    rank = (rank + 1) % matrix.ranks();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(matrix_rows);

}  // namespace
}  // namespace sextant::bench
