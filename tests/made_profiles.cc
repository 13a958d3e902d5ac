#include "made_profiles.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

using timeline::SpanKind;

constexpr std::int64_t kBaseNs =
    1'700'000'000'000'000'000;  // what the clocks show when the run begins
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

std::string_view torch_word(const MadeCollective& collective, int rank) {
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

// Appends numbers fast: most of what tests of faults do is to write and to read.
void append(std::string& text, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end.ptr);
}

// Nanoseconds as microseconds with three decimals.
void append_us(std::string& text, std::int64_t ns) {
  append(text, ns / 1000);
  const std::int64_t rest = ns % 1000;
  text += '.';
  text += static_cast<char>('0' + rest / 100);
  text += static_cast<char>('0' + rest / 10 % 10);
  text += static_cast<char>('0' + rest % 10);
}

class ProfileText {
 public:
  ProfileText(const MadeRun& run, std::size_t number)
      : run_(run), rank_(run.ranks[number]), number_(static_cast<int>(number)) {}

  std::string text() {
    text_ = fmt::format(
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
  // A clock that began off and goes wrong.
  [[nodiscard]] std::int64_t at_ns(Seconds time) const {
    const Seconds shown = rank_.clock_offset + time * (1.0 + rank_.clock_drift);
    return kBaseNs + static_cast<std::int64_t>(std::llround(shown / 1_ns));
  }

  void begin(std::string_view category, std::string_view name, int place, Seconds start,
             Seconds end) {
    text_ += is_first_ ? "" : ",\n";
    is_first_ = false;
    text_.append(R"({"ph":"X","cat":")").append(category).append(R"(","name":")").append(name);
    text_ += R"(","pid":)";
    append(text_, place == kThread ? kThread : 0);
    text_ += R"(,"tid":)";
    append(text_, place);
    text_ += R"(,"ts":)";
    append_us(text_, at_ns(start));
    text_ += R"(,"dur":)";
    append_us(text_, at_ns(end) - at_ns(start));
  }

  void add_call(const MadeCall& call) {
    if (call.kind == MadeCallKind::kClose || call.name.empty()) {
      return;
    }
    begin(call.category, call.name, kThread, call.start, call.end);
    if (call.kind == MadeCallKind::kLaunch) {
      text_ += R"(,"args":{"correlation":)";
      append(text_, static_cast<std::int64_t>(call.work) + 1);
      text_ += '}';
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
    text_ += R"(,"args":{"device":0,"stream":)";
    append(text_, work.stream);
    text_ += R"(,"correlation":)";
    append(text_, static_cast<std::int64_t>(at) + 1);
    if (work.kind == SpanKind::kCopy) {
      text_ += R"(,"bytes":)";
      append(text_, work.bytes);
    }
    if (collective != nullptr) {
      text_ += metadata_of(*collective);
      text_ += R"(,"Seq":)";
      append(text_, work.sequence);
    }
    text_ += "}}";
  }

  // Of those alike the same text.
  const std::string& metadata_of(const MadeCollective& collective) {
    const auto [at, is_new] =
        known_.try_emplace({collective.group, collective.op, collective.in_elements,
                            collective.out_elements, collective.members});
    if (is_new) {
      const MadeGroup& group = run_.groups[collective.group];
      at->second = fmt::format(
          R"(,"Collective name":"{}","In msg nelems":{},"Out msg nelems":{},"Group size":{},"dtype":"{}","Process Group Name":"{}","Process Group Description":"{}","Process Group Ranks":"[{}]")",
          torch_word(collective, number_), collective.in_elements, collective.out_elements,
          group.ranks.size(), collective.element, group.name, group.description,
          fmt::join(group.ranks, ", "));
      if (collective.op == CollectiveOp::kSendReceive && collective.members.size() == 2) {
        at->second += fmt::format(R"(,"Src Rank":{},"Dst Rank":{})", collective.members[0],
                                  collective.members[1]);
      }
    }
    return at->second;
  }

  const MadeRun& run_;
  const MadeRank& rank_;
  int number_ = 0;
  bool is_first_ = true;
  std::string text_;
  std::map<std::tuple<std::size_t, CollectiveOp, std::int64_t, std::int64_t, std::vector<int>>,
           std::string>
      known_;
};

}  // namespace

std::string kineto_profile(const MadeRun& run, std::size_t rank) {
  return ProfileText(run, rank).text();
}

}  // namespace sextant::tests
