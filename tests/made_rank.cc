#include "made_rank.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

using workload::GroupKind;

// SplitMix64. Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::string description_of(GroupKind kind, bool is_torchtitan) {
  struct Row {
    GroupKind kind;
    std::string_view megatron;
    std::string_view torchtitan;
  };
  constexpr std::array<Row, 6> kRows{
      {{GroupKind::kTp, "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp"},
       {GroupKind::kCp, "CONTEXT_PARALLEL_GROUP", "mesh_cp"},
       {GroupKind::kEp, "EXPERT_MODEL_PARALLEL_GROUP", "mesh_ep"},
       {GroupKind::kPipeline, "PIPELINE_MODEL_PARALLEL_GROUP", "mesh_pp"},
       {GroupKind::kShard, "DATA_PARALLEL_GROUP_WITH_CP", "mesh_dp_shard"},
       {GroupKind::kWorld, "default_pg", "default_pg"}}};
  const auto row = std::ranges::find(kRows, kind, &Row::kind);
  assert(row != kRows.end());
  return std::string(is_torchtitan ? row->torchtitan : row->megatron);
}

}  // namespace

double uniform_of(std::uint64_t seed, std::initializer_list<std::int64_t> key) {
  std::uint64_t hash = mixed(seed);
  for (const std::int64_t part : key) {
    hash = mixed(hash ^ static_cast<std::uint64_t>(part));
  }
  return static_cast<double>(hash >> 11U) * 0x1p-53;
}

// The sum of twelve uniform numbers less six has a deviation of one.
double noise_of(std::uint64_t seed, std::initializer_list<std::int64_t> key) {
  std::uint64_t hash = mixed(seed);
  for (const std::int64_t part : key) {
    hash = mixed(hash ^ static_cast<std::uint64_t>(part));
  }
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) {
    hash = mixed(hash);
    sum += static_cast<double>(hash >> 11U) * 0x1p-53;
  }
  return std::clamp(sum, -3.5, 3.5);
}

std::size_t Meetings::group(GroupKind kind, const std::vector<int>& ranks) {
  const auto [at, is_new] = groups_.try_emplace({kind, ranks}, run_.groups.size());
  if (is_new) {
    run_.groups.push_back(
        {fmt::format("{}", run_.groups.size()), description_of(kind, is_torchtitan_), ranks});
  }
  return at->second;
}

std::size_t Meetings::next(int rank, const MadeCollective& collective) {
  const std::int64_t number = counted_[{rank, collective.group, collective.members}]++;
  const auto [at, is_new] =
      known_.try_emplace({collective.group, collective.members, number}, run_.collectives.size());
  if (is_new) {
    MadeCollective one = collective;
    const auto slow = slow_.find(collective.group);
    const auto group = static_cast<std::int64_t>(collective.group);
    // One in three of a slow group's.
    const bool is_slow =
        slow != slow_.end() && uniform_of(plan_.seed, {8, group, number}) < 1.0 / 3.0;
    const double noise = noise_of(plan_.seed, {-1, group, one.members.front(), number});
    one.transfer *= (is_slow ? slow->second : 1.0) * (1.0 + 2.0 * plan_.noise * noise);
    run_.collectives.push_back(std::move(one));
  }
  return at->second;
}

void RankWriter::begin_step(int step) {
  step_ = step;
  kernels_ = 0;
  launches_ = 0;
}

void RankWriter::open(const std::string& category, const std::string& name) {
  run_.ranks[at()].calls.push_back(
      {.kind = MadeCallKind::kOpen, .category = category, .name = name});
}

void RankWriter::close() {
  run_.ranks[at()].calls.push_back({.kind = MadeCallKind::kClose});
}

void RankWriter::pause(const std::string& category, const std::string& name, Seconds takes) {
  run_.ranks[at()].calls.push_back(
      {.kind = MadeCallKind::kPause, .category = category, .name = name, .takes = takes});
}

void RankWriter::wait(std::size_t work) {
  open("cpu_op", "aten::item");
  open("cpu_op", "aten::_local_scalar_dense");
  run_.ranks[at()].calls.push_back({.kind = MadeCallKind::kWait,
                                    .category = "cuda_runtime",
                                    .name = "cudaStreamSynchronize",
                                    .takes = 4_us,
                                    .work = work});
  close();
  close();
}

std::size_t RankWriter::launch(MadeWork work, const std::string& call) {
  MadeRank& rank = run_.ranks[at()];
  const std::size_t number = rank.works.size();
  work.step = step_;
  rank.works.push_back(std::move(work));
  const Seconds takes =
      launch_takes * (1.0 + 0.1 * noise_of(plan_.seed, {1, rank_, step_, launches_++}));
  // Most of what a host takes for a launch it takes beside the call.
  pause("", "", takes * 0.6);
  rank.calls.push_back({.kind = MadeCallKind::kLaunch,
                        .category = call.starts_with("cu") && !call.starts_with("cuda")
                                        ? "cuda_driver"
                                        : "cuda_runtime",
                        .name = call,
                        .takes = takes * 0.4,
                        .work = number});
  return number;
}

void RankWriter::kernel(Chain& chain, const std::string& name, Seconds takes, double times) {
  MadeWork work{.name = name};
  work.takes = takes * (slower * times *
                        (1.0 + plan_.noise * noise_of(plan_.seed, {0, rank_, step_, kernels_++})));
  work.after = std::move(chain.awaited);
  chain.awaited.clear();
  if (chain.last) {
    work.after.push_back(*chain.last);
  }
  chain.last = launch(std::move(work),
                      name.starts_with("triton") ? "cuLaunchKernel" : "cudaLaunchKernelExC");
}

void RankWriter::copy(const std::string& name, std::int64_t bytes, Seconds takes) {
  MadeWork work{.kind = timeline::SpanKind::kCopy, .name = name, .takes = takes};
  work.bytes = bytes;
  launch(std::move(work), "cudaMemcpyAsync");
}

std::size_t RankWriter::collective(const Chain& chain, int stream, const MadeCollective& what,
                                   const std::vector<std::size_t>& after) {
  MadeWork work{.stream = stream, .kind = timeline::SpanKind::kCommunication};
  work.after = after;
  if (chain.last) {
    work.after.push_back(*chain.last);
  }
  const bool is_message = what.op == CollectiveOp::kSendReceive && what.members.size() == 2;
  work.sequence = ++(is_message ? messages_ : sequence_)[what.group];
  work.collective = meetings_.next(rank_, what);
  return launch(std::move(work), "cudaLaunchKernelExC");
}

}  // namespace sextant::tests
