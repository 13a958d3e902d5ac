// Ranks against one another: clocks, whose lateness, replays. The cost of a rank's collective
// should stay the same however many ranks there are.
#include <benchmark/benchmark.h>

#include "diagnose/rank_rules.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

// Ranks in groups of eight, and across them, that compute and sum in turn in four steps; one rank's
// host is late.
metrics::Summary tied_ranks(std::int64_t ranks, int rounds) {
  metrics::Summary summary;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    metrics::RankSummary one{.rank = {rank}};
    timeline::Group inside{.name = "tp"};
    timeline::Group across{.name = "dp"};
    for (std::int64_t i = 0; i < 8; ++i) {
      inside.ranks.push_back({rank / 8 * 8 + i});
    }
    for (std::int64_t i = rank % 8; i < ranks; i += 8) {
      across.ranks.push_back({i});
    }
    one.groups = {across, inside};
    one.names = {"ncclDevKernel_AllReduce"};
    std::int64_t at = rank * 1'000'000;  // every clock is another
    for (std::int64_t step = 0; step < 4; ++step) {
      const std::int64_t from = at;
      for (int round = 0; round < rounds; ++round) {
        const std::int64_t host = rank == 5 ? 40'000 : 0;
        one.work.push_back({.step = step,
                            .start_ns = at,
                            .end_ns = at + 100'000 + host,
                            .compute_ns = 100'000,
                            .host_ns = host});
        const std::int64_t came = at + 100'000 + host;
        at += 160'000;
        one.instances.push_back({.step = step,
                                 .group = round % 16 == 15 ? 0U : 1U,
                                 .is_counted = true,
                                 .sequence = round,
                                 .op = CollectiveOp::kAllReduce,
                                 .bytes = 1 << 20,
                                 .start_ns = came,
                                 .end_ns = at,
                                 .name = 0});
      }
      metrics::StepMeasures measures;
      measures.number = step;
      measures.window = {from, at};
      measures.time.compute_ns = at - from;
      one.steps.push_back(measures);
    }
    summary.ranks.push_back(std::move(one));
  }
  return summary;
}

constexpr int kRounds = 64;
constexpr std::int64_t kMeetings = 4 * kRounds;  // of a rank

void align_clocks(benchmark::State& state) {
  const metrics::Summary summary = tied_ranks(state.range(0), kRounds);
  const diagnose::Meetings meetings = diagnose::meetings_of(summary);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(diagnose::clocks_of(summary, meetings));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kMeetings);
}
BENCHMARK(align_clocks)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void study_ranks(benchmark::State& state) {
  const metrics::Summary summary = tied_ranks(state.range(0), kRounds);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(diagnose::rank_study(summary));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kMeetings);
}
BENCHMARK(study_ranks)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void find_late_ranks(benchmark::State& state) {
  const metrics::Summary summary = tied_ranks(state.range(0), kRounds);
  const diagnose::Scene scene = diagnose::scene_of(summary, {}, std::nullopt);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(diagnose::rank_findings(scene));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kMeetings);
}
BENCHMARK(find_late_ranks)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant::bench
