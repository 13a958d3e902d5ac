#include <algorithm>
#include <random>
#include <vector>

#include "cost/compute/operator_time.h"
#include "describe/cluster/load_cluster.h"
#include "instructions.h"
#include "layout_grid.h"
#include "workload/operators.h"

namespace sextant::bench {
namespace {

using workload::Operator;
using workload::OpKind;

// The operators of a microbatch, each shape as often as it is listed, shuffled: the grid's first
// four layouts, which differ in tp alone.
std::vector<Operator> operators_of(const char* model) {
  describe::Job job = grid_job(model);
  std::vector<Operator> operators;
  for (std::size_t index = 0; index < 4; ++index) {
    job.layout = numbered_layout(job.model, index);
    const workload::Shard shard = workload::shard_of(job, job.layout);
    for (const workload::Stage& stage : workload::stages_of(job, job.layout)) {
      const auto made = workload::stage_operators(job, stage, shard);
      operators.insert(operators.end(), made.begin(), made.end());
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(operators.begin(), operators.end(), random);
  return operators;
}

void operator_cost(benchmark::State& state, const char* model) {
  const describe::DataStore data;
  const cost::DeviceModel device =
      *cost::device_model(data, *describe::load_device("h200-sxm", data));
  const std::vector<Operator> operators = operators_of(model);
  state.counters["operators"] = static_cast<double>(operators.size());
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(cost::operator_time(operators[at], device).total());
    at = at + 1 == operators.size() ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(operator_cost, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(operator_cost, deepseek_v3, "deepseek-v3");

void operator_cost_of(benchmark::State& state, OpKind kind) {
  const describe::DataStore data;
  const cost::DeviceModel device =
      *cost::device_model(data, *describe::load_device("h200-sxm", data));
  std::vector<Operator> operators = operators_of("llama-3.1-70b");
  std::erase_if(operators, [kind](const Operator& op) { return op.kind != kind; });
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(cost::operator_time(operators[at], device).total());
    at = at + 1 == operators.size() ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(operator_cost_of, product, OpKind::kGemm);
BENCHMARK_CAPTURE(operator_cost_of, attention, OpKind::kAttention);
BENCHMARK_CAPTURE(operator_cost_of, norm, OpKind::kNorm);

}  // namespace
}  // namespace sextant::bench
