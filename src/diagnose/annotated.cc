#include "diagnose/annotated.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "timeline/thinned.h"

namespace sextant::diagnose {
namespace {

using timeline::LaneId;
using timeline::Place;
using timeline::SpanKind;
using timeline::Timeline;

// Above the numbers of threads and streams.
constexpr std::int64_t kStepsLane = std::int64_t{1} << 40U;

LaneId own_lane(Timeline& timeline, RankId rank, std::int64_t number, const std::string& name) {
  return timeline.lane(rank, StreamId{kStepsLane + number}, name, Place::kHost);
}

void add_mark(Timeline& timeline, LaneId lane, std::string name, const metrics::Interval& time) {
  const auto within = [](std::int64_t at_ns) {
    return std::clamp(at_ns, -Timeline::kFarthestNs, Timeline::kFarthestNs);
  };
  const std::int64_t start = within(time.start_ns);
  timeline.add(lane, timeline.label({SpanKind::kMark, std::move(name), {}, {}}), start,
               std::max<std::int64_t>(0, within(time.end_ns) - start));
}

// What all ranks' profiles add to their times.
std::optional<std::int64_t> common_base(std::span<const metrics::RankSummary> ranks) {
  const bool is_common = std::ranges::all_of(ranks, [&](const metrics::RankSummary& rank) {
    return rank.base_ns == ranks.front().base_ns;
  });
  return is_common && !ranks.empty() ? std::optional(ranks.front().base_ns) : std::nullopt;
}

bool may_shift(const Timeline& timeline, std::int64_t by_ns) {
  return std::ranges::all_of(timeline.spans(), [&](const timeline::Span& span) {
    return span.start_ns + by_ns >= -Timeline::kFarthestNs &&
           span.end_ns() + by_ns <= Timeline::kFarthestNs;
  });
}

struct Noted {
  const Evidence* evidence = nullptr;
  const Finding* finding = nullptr;
};

// Each interval in the first lane in which nothing lies at its time.
void add_evidence_lanes(Timeline& timeline, RankId rank, std::vector<Noted> notes) {
  std::ranges::stable_sort(notes, {}, [](const Noted& note) {
    return std::tuple(note.evidence->time.start_ns, note.evidence->time.end_ns);
  });
  std::vector<std::int64_t> taken_until;
  for (const Noted& note : notes) {
    const auto free = std::ranges::find_if(
        taken_until, [&](std::int64_t end_ns) { return end_ns <= note.evidence->time.start_ns; });
    const std::int64_t number = free - taken_until.begin();
    if (free == taken_until.end()) {
      taken_until.push_back(note.evidence->time.end_ns);
    } else {
      *free = note.evidence->time.end_ns;
    }
    const LaneId lane = own_lane(timeline, rank, number + 1,
                                 number == 0 ? "findings" : fmt::format("findings {}", number + 1));
    add_mark(timeline, lane, fmt::format("{}: {}", note.finding->rule, note.evidence->what),
             note.evidence->time);
  }
}

}  // namespace

timeline::Timeline annotated(const timeline::Timeline& measured,
                             std::span<const metrics::RankSummary> ranks,
                             std::span<const Finding> findings) {
  std::map<RankId, std::vector<Noted>> notes;
  for (const Finding& finding : findings) {
    for (const Evidence& evidence : finding.evidence) {
      notes[evidence.rank].push_back({&evidence, &finding});
    }
  }
  std::vector<RankId> numbers;
  for (const metrics::RankSummary& rank : ranks) {
    numbers.push_back(rank.rank);
  }
  Timeline timeline;
  timeline::add_longest(measured, {.most = 2 * measured.spans().size(), .ranks = numbers},
                        timeline);
  for (const metrics::RankSummary& rank : ranks) {
    for (const metrics::StepMeasures& step : rank.steps) {
      add_mark(timeline, own_lane(timeline, rank.rank, 0, "steps on the device"),
               fmt::format("step {}", step.number), step.window);
    }
    add_evidence_lanes(timeline, rank.rank, notes[rank.rank]);
  }
  const std::optional<std::int64_t> base = common_base(ranks);
  if (base && may_shift(timeline, -*base)) {
    timeline.shift(-*base);
  }
  timeline.sort();
  return timeline;
}

}  // namespace sextant::diagnose
