// Recordings made by hand, for tests: one rank with streams and a thread, times in nanoseconds.
#pragma once

#include <string>
#include <utility>

#include "timeline/recording.h"

namespace sextant::metrics {

class MadeRecording {
 public:
  static constexpr std::int64_t kMain = 7;
  static constexpr std::int64_t kSide = 20;
  static constexpr std::int64_t kThread = 100;

  explicit MadeRecording(RankId rank = {0}) : rank_(rank) {}

  // A call on the thread and the work that it launched.
  void launch(std::int64_t call_ns, std::int64_t call_takes, std::int64_t start_ns,
              std::int64_t takes, std::int64_t stream = kMain,
              timeline::Label label = {timeline::SpanKind::kCompute, "gemm", {}, {}}) {
    const timeline::CorrelationId correlation{next_++};
    call("cudaLaunchKernel", call_ns, call_takes, correlation);
    work(std::move(label), start_ns, takes, stream, correlation);
  }
  void call(const std::string& name, std::int64_t start_ns, std::int64_t takes,
            std::optional<timeline::CorrelationId> correlation = std::nullopt) {
    host({timeline::SpanKind::kHost, name, {}, {}}, start_ns, takes, correlation);
  }
  void host(const timeline::Label& label, std::int64_t start_ns, std::int64_t takes,
            std::optional<timeline::CorrelationId> correlation = std::nullopt) {
    timeline::Timeline& timeline = recording_.timeline;
    timeline.add(timeline.lane(rank_, {kThread}, {}, timeline::Place::kHost),
                 {.label = timeline.label(label), .correlation = correlation}, start_ns, takes);
  }
  void work(const timeline::Label& label, std::int64_t start_ns, std::int64_t takes,
            std::int64_t stream = kMain,
            std::optional<timeline::CorrelationId> correlation = std::nullopt) {
    timeline::Timeline& timeline = recording_.timeline;
    timeline.add(timeline.lane(rank_, {stream}),
                 {.label = timeline.label(label), .correlation = correlation}, start_ns, takes);
  }
  void step(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns) {
    recording_.steps.push_back({rank_, number, start_ns, end_ns});
  }
  timeline::Recording& recording() { return recording_; }
  // Sorted.
  timeline::Recording take() {
    recording_.timeline.sort();
    return std::move(recording_);
  }

 private:
  RankId rank_;
  std::int64_t next_ = 1;
  timeline::Recording recording_;
};

inline timeline::Label all_reduce_label(timeline::Recording& recording, Bytes bytes,
                                        std::int64_t ranks) {
  return {timeline::SpanKind::kCommunication,
          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
          bytes,
          {},
          timeline::Collective{.op = CollectiveOp::kAllReduce,
                               .group = recording.timeline.group({.name = "0", .size = ranks})}};
}

}  // namespace sextant::metrics
