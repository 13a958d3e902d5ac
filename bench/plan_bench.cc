// What a whole search costs: the problems of docs/models/search.md. Counts repeat, times do not.
#include <utility>

#include <benchmark/benchmark.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/model/load_model.h"
#include "machine/machine.h"
#include "search/find.h"

namespace sextant::bench {
namespace {

struct Case {
  const char* model;
  const char* cluster;
  std::int64_t batch;
  std::int64_t sequence;
};

search::Problem problem_of(const Case& at) {
  const describe::DataStore data;
  search::Problem problem;
  describe::Job& job = problem.job;
  job.model = *describe::load_model(at.model, data);
  job.cluster = *describe::load_cluster(at.cluster, data);
  job.global_batch = at.batch;
  job.sequences.length = at.sequence;
  describe::fill_defaults(job.layout, {}, job.framework);
  machine::StepMachine machine = *machine::step_machine(job, data);
  problem.memory = machine.memory;
  problem.machine = std::move(machine.model);
  return problem;
}

void plan(benchmark::State& state, const Case& at) {
  const search::Problem problem = problem_of(at);
  search::Found found;
  for (auto unused : state) {
    found = search::find_plans(search::Space(problem), {});
  }
  state.counters["possible"] = found.settled.possible;
  state.counters["timed"] = found.settled.timed;
  state.counters["floors"] = static_cast<double>(found.calls.floors);
  state.counters["weighed"] = static_cast<double>(found.calls.weighed);
}

BENCHMARK_CAPTURE(plan, gpt3_175b_1024_a100, Case{"gpt-3-175b", "1024xa100-sxm4-80gb", 1536, 2048})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(plan, megatron_1t_4096_h100, Case{"megatron-1t", "4096xh100-sxm", 4096, 2048})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(plan, llama31_405b_16384_h100,
                  Case{"llama-3.1-405b", "16384xh100-sxm", 2048, 8192})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(plan, deepseek_v3_2048_h800,
                  Case{"deepseek-v3-671b", "2048xh800-sxm", 15360, 4096})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace sextant::bench
