#include "metrics/hta_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Recording;
using timeline::Span;

constexpr std::int64_t kNsInUs = 1000;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_computation(std::string_view name) {
  const bool launches = contains(name, "cuda") && contains(name, "LaunchKernel");
  return !(name.starts_with("nccl") || name.starts_with("hip") || name.starts_with("hccl") ||
           name.starts_with("runFunction") || name.starts_with("Stream Wait Event") ||
           contains(name, "Memcpy") || contains(name, "Memset") || contains(name, "dma") ||
           contains(name, "Sync") || launches);
}

// The calls that HTA counts as putting something into a stream's queue; graphs are not among them.
bool is_queueing_call(std::string_view name) {
  constexpr std::array<std::string_view, 12> kCalls{
      "cudaLaunchKernel",    "cudaLaunchKernelExC",
      "cuLaunchKernel",      "cuLaunchKernelEx",
      "cudaMemcpyAsync",     "cudaMemsetAsync",
      "hipLaunchKernel",     "hipExtModuleLaunchKernel",
      "hipMemcpyAsync",      "hipMemsetAsync",
      "hipMemcpyWithStream", "runFunction - job_prep_and_submit_for_execution"};
  return std::find(kCalls.begin(), kCalls.end(), name) != kCalls.end();
}

// Those of which its launch statistics are made.
bool is_timed_call(std::string_view name) {
  return name == "cudaLaunchKernel" || name == "cudaLaunchKernelExC" || name == "cudaMemcpyAsync" ||
         name == "cudaMemsetAsync";
}

// Nanoseconds of the recorder's clock as microseconds in double precision, as HTA reads them.
double microseconds(std::int64_t ns) {
  const std::int64_t whole = ns / kNsInUs;
  const std::int64_t rest = ns % kNsInUs;
  return static_cast<double>(whole) + static_cast<double>(rest) / static_cast<double>(kNsInUs);
}

class HtaClock {
 public:
  explicit HtaClock(const Recording& recording)
      : origin_ns_(recording.origin_ns - recording.base_ns) {
    const std::span<const Span> spans = recording.timeline.spans();
    is_rounded_ = std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return (origin_ns_ + span.start_ns) % kNsInUs != 0;
    });
  }

  [[nodiscard]] HtaTimes of(std::int64_t start_ns, std::int64_t duration_ns) const {
    const double start = microseconds(origin_ns_ + start_ns);
    const double end = start + microseconds(duration_ns);
    if (!is_rounded_) {
      return {static_cast<std::int64_t>(start), static_cast<std::int64_t>(end)};
    }
    return {static_cast<std::int64_t>(std::ceil(start)),
            static_cast<std::int64_t>(std::floor(end))};
  }
  [[nodiscard]] HtaTimes of(const Span& span) const { return of(span.start_ns, span.duration_ns); }

 private:
  std::int64_t origin_ns_ = 0;
  bool is_rounded_ = false;
};

// Where the last of two or more profiler steps starts: what the host did from then on is dropped,
// and what it launched.
std::optional<std::int64_t> last_step_us(const View& view, RankId rank, const HtaClock& clock) {
  std::optional<std::int64_t> last;
  std::int64_t steps = 0;
  for (const timeline::RecordedStep& step : of_rank(view.recording->steps, rank)) {
    steps += 1;
    const std::int64_t start = clock.of(step.start_ns, step.end_ns - step.start_ns).start_us;
    last = std::max(last.value_or(start), start);
  }
  return steps >= 2 ? last : std::nullopt;
}

class HtaReader {
 public:
  HtaReader(const View& view, const HtaClock& clock, const RankLanes& lanes)
      : view_(view), clock_(clock), lanes_(lanes), last_us_(last_step_us(view, lanes.rank, clock)) {
    for (const timeline::Label& label : view.timeline().labels()) {
      types_.push_back(hta_type(label.name));
      is_queueing_.push_back(is_queueing_call(label.name));
      is_timed_.push_back(is_timed_call(label.name));
    }
  }

  HtaRank read() {
    rank_.rank = lanes_.rank;
    rank_.steps_dropped = last_us_ ? 1 : 0;
    rank_.extent = extent();
    for (const LaneId lane : lanes_.streams) {
      for (const Span& span : view_.timeline().spans_of(lane)) {
        add(span);
      }
    }
    for (const timeline::StreamWait& wait : of_rank(view_.recording->waits, lanes_.rank)) {
      add(wait);
    }
    std::stable_sort(rank_.rows.begin(), rank_.rows.end(), [](const HtaRow& a, const HtaRow& b) {
      return std::tuple(a.stream, a.time.start_us) < std::tuple(b.stream, b.time.start_us);
    });
    return std::move(rank_);
  }

 private:
  [[nodiscard]] bool is_kept(std::int64_t host_us) const {
    return !last_us_ || host_us < *last_us_;
  }

  void add(const Span& span) {
    const std::uint32_t label = label_of(span);
    if (!view_.traits[label].is_work) {
      return;
    }
    HtaRow row{.time = clock_.of(span),
               .stream = view_.timeline().lane_of(span).stream,
               .type = types_[label],
               .label = label,
               .call = {}};
    const std::uint32_t call = view_.call_of[view_.number_of(span)];
    if (call != kNone) {
      const Span& asked = view_.timeline().spans()[call];
      row.call = clock_.of(asked);
      row.is_queued = is_queueing_[label_of(asked)];
      row.is_timed = is_timed_[label_of(asked)];
    }
    // A row without a correlation counts as the host's own.
    const bool is_correlated = view_.timeline().occurrence_of(span).correlation.has_value();
    if (row.call ? is_kept(row.call->start_us)
                 : !last_us_ || (!is_correlated && is_kept(row.time.start_us))) {
      rank_.rows.push_back(row);
    }
  }

  void add(const timeline::StreamWait& wait) {
    if (wait.stream.value < 0 || !wait.is_stream_stated) {
      return;
    }
    const HtaTimes time = clock_.of(wait.at_ns, wait.duration_ns);
    if (is_kept(time.start_us)) {
      rank_.rows.push_back({.time = time, .stream = wait.stream, .is_work = false, .call = {}});
    }
  }

  [[nodiscard]] HtaTimes extent() const {
    std::optional<HtaTimes> all;
    const auto grow = [&](const std::vector<LaneId>& lanes) {
      for (const LaneId lane : lanes) {
        for (const Span& span : view_.timeline().spans_of(lane)) {
          const HtaTimes time = clock_.of(span);
          all = all ? HtaTimes{std::min(all->start_us, time.start_us),
                               std::max(all->end_us, time.end_us)}
                    : time;
        }
      }
    };
    grow(lanes_.streams);
    grow(lanes_.threads);
    return all.value_or(HtaTimes());
  }

  [[nodiscard]] std::uint32_t label_of(const Span& span) const {
    return static_cast<std::uint32_t>(view_.timeline().occurrence_of(span).label.value);
  }

  const View& view_;
  const HtaClock& clock_;
  const RankLanes& lanes_;
  std::optional<std::int64_t> last_us_;
  std::vector<HtaType> types_;
  std::vector<bool> is_queueing_;
  std::vector<bool> is_timed_;
  HtaRank rank_;
};

}  // namespace

HtaType hta_type(std::string_view name) {
  if (name.starts_with("nccl") || name.starts_with("hip") || name.starts_with("hccl") ||
      contains(name, "ncclKernel")) {
    return HtaType::kCommunication;
  }
  if (name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma")) {
    return HtaType::kMemory;
  }
  return is_computation(name) ? HtaType::kComputation : HtaType::kOther;
}

std::vector<HtaRank> hta_rows(const View& view) {
  const HtaClock clock(*view.recording);
  std::vector<HtaRank> ranks;
  for (const RankLanes& lanes : view.ranks) {
    ranks.push_back(HtaReader(view, clock, lanes).read());
  }
  return ranks;
}

}  // namespace sextant::metrics
