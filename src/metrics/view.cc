#include "metrics/view.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "timeline/launches.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Place;
using timeline::SpanKind;
using timeline::Timeline;

// Calls that return when the device is done. cudaMemcpy and its kin wait too, their *Async forms do
// not; freeing memory of the device waits for all of it. Source: CUDA Runtime API, "API
// synchronization behavior"; HIP follows it.
bool is_blocking_call(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWhole{
      "cudaMemcpy",  "hipMemcpy",           "cudaFree",          "hipFree", "cudaMemcpy2D",
      "hipMemcpy2D", "hipMemcpyWithStream", "cudaHostUnregister"};
  // Nsight Systems adds the version of the interface: cudaMemcpy_v3020.
  const std::string_view stem = name.substr(0, name.find("_v"));
  constexpr std::array<std::string_view, 7> kWaits{"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                                   "cudaEventSynchronize",  "hipDeviceSynchronize",
                                                   "hipStreamSynchronize",  "hipEventSynchronize",
                                                   "cudaThreadSynchronize"};
  constexpr std::array<std::string_view, 5> kDriver{"cuCtxSynchronize", "cuStreamSynchronize",
                                                    "cuEventSynchronize", "cuMemcpyDtoH",
                                                    "cuMemcpyHtoD"};
  const auto is_one = [&](const auto& names) {
    return std::find(names.begin(), names.end(), stem) != names.end();
  };
  return is_one(kWhole) || is_one(kWaits) || is_one(kDriver);
}

// "cudaLaunchKernel", "cuLaunchKernelEx", "hipMalloc": a prefix and a capital.
bool is_runtime_call(std::string_view name) {
  constexpr std::array<std::string_view, 3> kPrefixes{"cuda", "cu", "hip"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
           name[prefix.size()] <= 'Z';
  });
}

LabelTraits traits_of_label(const Label& label) {
  LabelTraits traits;
  traits.is_work = label.kind == SpanKind::kCompute || label.kind == SpanKind::kCommunication ||
                   label.kind == SpanKind::kCopy;
  if (label.kind == SpanKind::kHost) {
    traits.is_blocking = is_blocking_call(label.name);
    traits.is_runtime = is_runtime_call(label.name);
  }
  return traits;
}

double work_seconds(const Timeline& timeline, LaneId lane, SpanKind kind) {
  return timeline.sum(lane, kind).busy / 1_s;
}

bool holds_work(const Timeline& timeline, LaneId lane) {
  return timeline.sum(lane, SpanKind::kCompute).spans +
             timeline.sum(lane, SpanKind::kCommunication).spans +
             timeline.sum(lane, SpanKind::kCopy).spans >
         0;
}

std::optional<LaneId> main_stream(const Timeline& timeline, const std::vector<LaneId>& streams) {
  const auto weight = [&](LaneId lane) {
    return std::tuple(work_seconds(timeline, lane, SpanKind::kCompute),
                      work_seconds(timeline, lane, SpanKind::kCommunication) +
                          work_seconds(timeline, lane, SpanKind::kCopy));
  };
  const auto longest = std::max_element(streams.begin(), streams.end(),
                                        [&](LaneId a, LaneId b) { return weight(a) < weight(b); });
  return longest == streams.end() ? std::nullopt : std::optional(*longest);
}

std::vector<RankLanes> ranks_of(const Timeline& timeline) {
  std::map<RankId, RankLanes> by_rank;
  for (std::size_t i = 0; i < timeline.lanes().size(); ++i) {
    const timeline::Lane& lane = timeline.lanes()[i];
    const LaneId id{static_cast<std::int64_t>(i)};
    if (timeline.spans_of(id).empty()) {
      continue;
    }
    RankLanes& rank = by_rank[lane.rank];
    rank.rank = lane.rank;
    if (lane.place == Place::kHost) {
      rank.threads.push_back(id);
    } else if (holds_work(timeline, id)) {
      rank.streams.push_back(id);
    }
  }
  std::vector<RankLanes> ranks;
  for (auto& [id, rank] : by_rank) {
    rank.main = main_stream(timeline, rank.streams);
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

// For each call on the thread the innermost range around it that is an operator.
void set_operators(const View& view, LaneId thread, std::vector<std::uint32_t>& operator_of) {
  std::vector<const timeline::Span*> open;
  for (const timeline::Span& span : view.timeline().spans_of(thread)) {
    while (!open.empty() && open.back()->end_ns() <= span.start_ns) {
      open.pop_back();
    }
    if (view.traits_of(span).is_runtime) {
      // Ranges that only overlap are no nesting: the innermost that holds the call's start.
      operator_of[view.number_of(span)] = open.empty() ? kNone : view.number_of(*open.back());
    } else if (view.timeline().label_of(span).kind == SpanKind::kHost) {
      open.push_back(&span);
    }
  }
}

}  // namespace

View view_of(const timeline::Recording& recording) {
  const Timeline& timeline = recording.timeline;
  View view;
  view.recording = &recording;
  view.ranks = ranks_of(timeline);
  for (const Label& label : timeline.labels()) {
    view.traits.push_back(traits_of_label(label));
  }
  view.call_of.assign(timeline.spans().size(), kNone);
  view.launches.resize(timeline.lanes().size());
  for (const timeline::Launch& launch : timeline::launches(timeline)) {
    view.call_of[launch.started] = launch.call;
    view.launches[timeline.spans()[launch.call].lane] = true;
  }
  view.operator_of.assign(timeline.spans().size(), kNone);
  for (const RankLanes& rank : view.ranks) {
    for (const LaneId thread : rank.threads) {
      set_operators(view, thread, view.operator_of);
    }
  }
  return view;
}

}  // namespace sextant::metrics
