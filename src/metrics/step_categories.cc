#include "metrics/step_categories.h"

#include <algorithm>
#include <array>
#include <utility>

#include "metrics/data_loading.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

bool mentions(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// As CUPTI, XLA's profiler and ROCm call them.
using Directions = std::array<std::string_view, 3>;
constexpr Directions kFromHost{"HtoD", "H2D", "HostToDevice"};
constexpr Directions kToHost{"DtoH", "D2H", "DeviceToHost"};

bool is_compilation(const Label& label) {
  return mentions(label.name, "Compile") || mentions(label.name, "_compile") ||
         mentions(label.name, "cuModuleLoad") || mentions(label.name, "hipModuleLoad");
}

// Moments of spans on the lanes whose label counts.
template <typename Counts>
Intervals moments_with(const View& view, const std::vector<LaneId>& lanes, const Counts& counts) {
  std::vector<bool> is_counted;
  for (const Label& label : view.timeline().labels()) {
    is_counted.push_back(counts(label));
  }
  if (std::find(is_counted.begin(), is_counted.end(), true) == is_counted.end()) {
    return {};
  }
  std::vector<Interval> pieces;
  for (const LaneId lane : lanes) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (is_counted[static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value)]) {
        pieces.push_back({span.start_ns, span.end_ns()});
      }
    }
  }
  return united(std::move(pieces));
}

// Takes from what is left of each window what falls into the moments.
class CategorySplit {
 public:
  CategorySplit(const std::vector<Interval>& windows, Intervals left)
      : windows_(windows), left_(std::move(left)), times_(windows.size()) {}

  void take(StepCategory category, const Intervals& moments) {
    const std::vector<std::int64_t> lengths =
        lengths_within(intersection(left_, moments), windows_);
    for (std::size_t i = 0; i < times_.size(); ++i) {
      times_[i][static_cast<std::size_t>(category)] += lengths[i];
    }
    left_ = difference(left_, moments);
  }
  [[nodiscard]] std::vector<CategoryTimes>& times() { return times_; }
  [[nodiscard]] const Intervals& left() const { return left_; }

 private:
  const std::vector<Interval>& windows_;
  Intervals left_;
  std::vector<CategoryTimes> times_;
};

// What is left of idle time, by its cause.
void add_idle(const std::vector<IdleCauses>& all, const Intervals& left,
              const std::vector<Interval>& windows, std::vector<CategoryTimes>& times) {
  const std::vector<std::int64_t> open = lengths_within(left, windows);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    // What was taken for compiling and loading was the host's: it is taken from there first.
    std::int64_t taken = all[i].total_ns() - open[i];
    const std::int64_t of_host = all[i].host_late_ns + all[i].host_blocked_ns;
    const std::int64_t host = of_host - std::min(taken, of_host);
    taken -= of_host - host;
    const std::int64_t launch = all[i].launching_ns - std::min(taken, all[i].launching_ns);
    times[i][static_cast<std::size_t>(StepCategory::kHost)] += host;
    times[i][static_cast<std::size_t>(StepCategory::kLaunch)] += launch;
    times[i][static_cast<std::size_t>(StepCategory::kOther)] += open[i] - host - launch;
  }
}

}  // namespace

std::string_view name_of(StepCategory category) {
  constexpr std::array<std::string_view, kStepCategories> kNames{
      "compile",          "input",   "output", "launch", "host", "collective",
      "device_to_device", "compute", "other"};
  return kNames[static_cast<std::size_t>(category)];
}

std::vector<CategoryTimes> step_categories(const View& view, const RankLanes& rank,
                                           const Activity& activity,
                                           const std::vector<IdleCauses>& idle,
                                           const std::vector<Interval>& windows) {
  if (windows.empty()) {
    return {};
  }
  CategorySplit split(windows, united(std::vector<Interval>(windows)));
  split.take(StepCategory::kCompute, activity.compute);
  split.take(StepCategory::kCollective, activity.communication);
  const auto copies = [&](const Directions& directions) {
    return moments_with(view, rank.streams, [&](const Label& label) {
      return label.kind == SpanKind::kCopy &&
             std::any_of(directions.begin(), directions.end(),
                         [&](std::string_view one) { return mentions(label.name, one); });
    });
  };
  split.take(StepCategory::kInput, copies(kFromHost));
  split.take(StepCategory::kOutput, copies(kToHost));
  split.take(StepCategory::kDeviceToDevice, activity.copy);
  split.take(StepCategory::kCompile, moments_with(view, rank.threads, is_compilation));
  split.take(StepCategory::kInput, data_loading(view, rank));
  add_idle(idle, split.left(), windows, split.times());
  return std::move(split.times());
}

}  // namespace sextant::metrics
