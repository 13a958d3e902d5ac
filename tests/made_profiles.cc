#include "made_profiles.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

using timeline::SpanKind;

constexpr double kBaseUs = 1'700'000'000'000'000.0;  // what the clocks show when the run begins
constexpr int kThread = 4242;

std::string_view kernel_of(const MadeCollective& collective) {
  const bool is_float = collective.element == "Float";
  if (collective.op == CollectiveOp::kAllReduce) {
    return is_float ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                    : "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  }
  if (collective.op == CollectiveOp::kAllGather) {
    return "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  }
  if (collective.op == CollectiveOp::kReduceScatter) {
    return is_float
               ? "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
               : "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  }
  return "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
}

std::string_view word_of(const MadeCollective& collective, int rank) {
  if (collective.op == CollectiveOp::kAllReduce) {
    return "allreduce";
  }
  if (collective.op == CollectiveOp::kAllGather) {
    return "_allgather_base";
  }
  if (collective.op == CollectiveOp::kReduceScatter) {
    return "_reduce_scatter_base";
  }
  if (collective.op == CollectiveOp::kAllToAll) {
    return "all_to_allv";
  }
  return collective.members.size() == 2 && collective.members[1] == rank ? "recv" : "send";
}

class ProfileText {
 public:
  ProfileText(const MadeRun& run, std::size_t number)
      : run_(run), rank_(run.ranks[number]), number_(static_cast<int>(number)) {}

  std::string text() {
    fmt::format_to(
        out(),
        R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85029158912, "computeMajor": 9, "computeMinor": 0, "numSms": 132}}],
"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}, "nccl_version": "2.21.5"}}, "with_stack": 1,
"traceEvents": [
)",
        number_, run_.ranks.size());
    for (const MadeCall& call : rank_.calls) {
      add_call(call);
    }
    for (std::size_t i = 0; i < rank_.works.size(); ++i) {
      add_work(i);
    }
    return std::move(text_) + "\n]}\n";
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }
  // A clock that began off and goes wrong.
  [[nodiscard]] double at_us(Seconds time) const {
    return kBaseUs + (rank_.clock_offset + time * (1.0 + rank_.clock_drift)) / 1_us;
  }

  void begin(std::string_view category, std::string_view name, int place, Seconds start,
             Seconds end) {
    fmt::format_to(
        out(), R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f})",
        is_first_ ? "" : ",\n", category, name, place == kThread ? kThread : 0, place, at_us(start),
        at_us(end) - at_us(start));
    is_first_ = false;
  }

  void add_call(const MadeCall& call) {
    if (call.kind == MadeCallKind::kClose || call.name.empty()) {
      return;
    }
    begin(call.category, call.name, kThread, call.start, call.end);
    if (call.kind == MadeCallKind::kLaunch) {
      fmt::format_to(out(), R"(,"args":{{"correlation":{}}})", call.work + 1);
    }
    text_ += '}';
  }

  void add_work(std::size_t at) {
    const MadeWork& work = rank_.works[at];
    const MadeCollective* collective =
        work.collective ? &run_.collectives[*work.collective] : nullptr;
    begin(work.kind == SpanKind::kCopy ? "gpu_memcpy" : "kernel",
          collective != nullptr ? kernel_of(*collective) : std::string_view(work.name), work.stream,
          work.start, work.end);
    fmt::format_to(out(), R"(,"args":{{"device":0,"stream":{},"correlation":{})", work.stream,
                   at + 1);
    if (work.kind == SpanKind::kCopy) {
      fmt::format_to(out(), R"(,"bytes":{})", work.bytes);
    }
    if (collective != nullptr) {
      add_metadata(*collective, work.sequence);
    }
    text_ += "}}";
  }

  void add_metadata(const MadeCollective& collective, std::int64_t sequence) {
    const MadeGroup& group = run_.groups[collective.group];
    fmt::format_to(
        out(),
        R"(,"Collective name":"{}","In msg nelems":{},"Out msg nelems":{},"Group size":{},"dtype":"{}","Process Group Name":"{}","Process Group Description":"{}","Process Group Ranks":"[{}]","Seq":{})",
        word_of(collective, number_), collective.in_elements, collective.out_elements,
        group.ranks.size(), collective.element, group.name, group.description,
        fmt::join(group.ranks, ", "), sequence);
    if (collective.op == CollectiveOp::kSendReceive && collective.members.size() == 2) {
      fmt::format_to(out(), R"(,"Src Rank":{},"Dst Rank":{})", collective.members[0],
                     collective.members[1]);
    }
  }

  const MadeRun& run_;
  const MadeRank& rank_;
  int number_ = 0;
  bool is_first_ = true;
  std::string text_;
};

}  // namespace

std::string kineto_profile(const MadeRun& run, std::size_t rank) {
  return ProfileText(run, rank).text();
}

}  // namespace sextant::tests
