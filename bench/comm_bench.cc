#include <random>
#include <vector>

#include "cost/comm/collective_time.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

using describe::CollectiveOp;

struct Call {
  CollectiveOp op = CollectiveOp::kAllReduce;
  Bytes bytes;
  cost::GroupShape group;
};

cost::CommModel model() {
  const describe::DataStore data;
  return cost::comm_model(*describe::load_link_facts("nvlink4", data), std::nullopt,
                          *describe::load_network_facts("ib", data), 50_GBps);
}

// Collectives of any kind, size and place, in no order that a branch predictor could learn.
std::vector<Call> calls() {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same calls every time
  std::uniform_int_distribution<int> op(0, 4);
  std::uniform_int_distribution<int> log_size(10, 33);
  std::uniform_int_distribution<int> log_ranks(1, 10);
  std::vector<Call> made;
  for (int i = 0; i < 4096; ++i) {
    const std::int64_t ranks = std::int64_t{1} << log_ranks(random);
    const std::int64_t per_domain = std::int64_t{1} << (log_ranks(random) % 4);
    const std::int64_t inside = std::min(ranks, per_domain);
    made.push_back({static_cast<CollectiveOp>(op(random)),
                    Bytes(static_cast<double>(std::int64_t{1} << log_size(random))),
                    {ranks, ranks / inside, inside, 1}});
  }
  return made;
}

// From nothing: the ways of an operation on a group, then the quickest of them for one size.
void collective_cost(benchmark::State& state) {
  const cost::CommModel links = model();
  const std::vector<Call> list = calls();
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Call& call = list[at];
    benchmark::DoNotOptimize(cost::collective_time(call.op, call.bytes, call.group, links));
    at = at + 1 == list.size() ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(collective_cost);

// As a search asks: the ways are made once a group, then priced for the sizes of a layout.
void prepared_cost(benchmark::State& state) {
  const cost::CommModel links = model();
  std::vector<std::pair<cost::CommLines, Bytes>> list;
  for (const Call& call : calls()) {
    list.emplace_back(cost::comm_lines(call.op, call.group, links), call.bytes);
  }
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(list[at].first.time(list[at].second));
    at = at + 1 == list.size() ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(prepared_cost);

}  // namespace
}  // namespace sextant::bench
