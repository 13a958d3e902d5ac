#include "built_in_data.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

void load_model(benchmark::State& state) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::load_model("deepseek-v3", built_in_data()));
  }
}
BENCHMARK(load_model);

void count_parameters(benchmark::State& state) {
  const describe::Model model = *describe::load_model("deepseek-v3", built_in_data());
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::model_parameters(model).total());
  }
}
BENCHMARK(count_parameters);

void load_cluster(benchmark::State& state) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::load_cluster("2048xh100-sxm@ib-400", built_in_data()));
  }
}
BENCHMARK(load_cluster);

void parse_layout(benchmark::State& state) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::parse_layout(
        "tp=8,pp=4,vpp=5,mbs=1,recompute=selective:core_attn", describe::Framework::kMegatronCore));
  }
}
BENCHMARK(parse_layout);

// The rules gate every layout of a search, so a legal job must be cheap to check.
void check_rules(benchmark::State& state) {
  describe::Job job;
  job.model = *describe::load_model("llama-3.1-70b", built_in_data());
  job.cluster = *describe::load_cluster("64xh100-sxm", built_in_data());
  job.layout.tp = 4;
  job.layout.pp = 4;
  job.sequences.length = 8192;
  job.global_batch = 128;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::check_rules(job));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(check_rules);

}  // namespace
}  // namespace sextant::bench
