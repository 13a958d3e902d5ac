// A job through its files: what `sextant check` and `sextant emit` take beside starting up.
#include <string>

#include "built_in_data.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_rules.h"
#include "describe/model/load_model.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/launch.h"
#include "emit/setting_rules.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

describe::Job job() {
  describe::Job job;
  job.model = *describe::load_model("llama-3.1-70b", built_in_data());
  job.cluster = *describe::load_cluster("64xh100-sxm", built_in_data());
  job.layout.tp = 8;
  job.layout.sp = true;
  job.layout.pp = 4;
  job.layout.dp = 2;
  job.sequences.length = 8192;
  job.global_batch = 128;
  return job;
}

void write_script(benchmark::State& state) {
  const describe::Job given = job();
  const Instructions instructions(state);
  for (auto _ : state) {
    const emit::Writing writing = emit::write(emit::Dialect::kMegatron, given);
    benchmark::DoNotOptimize(
        emit::launch_script(writing, given, emit::Launcher::kSlurm, {}).text.size());
  }
}
BENCHMARK(write_script);

void read_script(benchmark::State& state) {
  const describe::Job given = job();
  const emit::Writing writing = emit::write(emit::Dialect::kMegatron, given);
  const emit::File script = emit::launch_script(writing, given, emit::Launcher::kSlurm, {});
  const Instructions instructions(state);
  for (auto _ : state) {
    const auto settings = emit::parse(script.text, script.name);
    benchmark::DoNotOptimize(emit::read(*settings, built_in_data()).layout.tp);
  }
}
BENCHMARK(read_script);

void check_script(benchmark::State& state) {
  const describe::Job given = job();
  const emit::Settings settings = emit::write(emit::Dialect::kMegatron, given).settings;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(emit::check_all(settings, given).size());
  }
}
BENCHMARK(check_script);

// Asked of every layout of a search, so a legal job must be cheap.
void framework_allows(benchmark::State& state) {
  const describe::Job given = job();
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(describe::framework_allows(given));
  }
}
BENCHMARK(framework_allows);

}  // namespace
}  // namespace sextant::bench
