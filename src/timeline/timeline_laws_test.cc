// What holds for any spans: sums are those of counting each nanosecond, sorting moves and loses
// nothing, equal labels are one.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "timeline/timeline.h"

namespace sextant::timeline {
namespace {

constexpr int kLanes = 4;
constexpr int kEndNs = 40;

std::int64_t random_number(int from, int end) {
  return *rc::gen::inRange(from, end);
}

std::optional<std::int64_t> maybe_number() {
  return random_number(0, 2) == 0 ? std::nullopt : std::optional(random_number(-2, 5));
}

Label random_label() {
  Label label{static_cast<SpanKind>(random_number(0, kSpanKinds)),
              std::string(1, static_cast<char>(random_number('a', 'd'))),
              {},
              {}};
  if (random_number(0, 2) == 0) {
    label.collective = Collective{};
    if (random_number(0, 2) == 0) {
      label.collective->op = static_cast<CollectiveOp>(random_number(0, 6));
    }
  }
  return label;
}

// All that is said of a span, told by value.
struct Said {
  std::int64_t lane = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  Occurrence what;
};
auto key_of(const Said& said) {
  const auto number = [](const auto& id) { return id ? std::optional(id->value) : std::nullopt; };
  return std::tuple(said.lane, said.start, said.duration, said.what.label.value,
                    number(said.what.correlation), number(said.what.sequence));
}

std::vector<Said> random_spans(Timeline& timeline) {
  std::vector<Said> spans;
  for (std::int64_t i = random_number(0, 60); i > 0; --i) {
    Said said;
    said.lane = timeline.lane({random_number(0, kLanes / 2)}, {random_number(0, 2)}).value;
    said.start = random_number(-kEndNs, kEndNs);
    said.duration = random_number(0, kEndNs);
    said.what.label = timeline.label(random_label());
    if (const auto correlation = maybe_number()) {
      said.what.correlation = CorrelationId{*correlation};
    }
    if (const auto sequence = maybe_number()) {
      said.what.sequence = SequenceNumber{*sequence};
    }
    timeline.add({said.lane}, said.what, said.start, said.duration);
    spans.push_back(said);
  }
  return spans;
}

RC_GTEST_PROP(TimelineLaws, SumsAreThoseOfCountingEachNanosecond, ()) {
  Timeline timeline;
  const std::vector<Said> spans = random_spans(timeline);
  timeline.sort();
  for (std::int64_t lane = 0; lane < static_cast<std::int64_t>(timeline.lanes().size()); ++lane) {
    for (std::size_t i = 0; i < kSpanKinds; ++i) {
      const auto kind = static_cast<SpanKind>(i);
      std::set<std::int64_t> covered;
      std::int64_t count = 0;
      std::int64_t total = 0;
      for (const Said& said : spans) {
        const auto label = static_cast<std::size_t>(said.what.label.value);
        if (said.lane != lane || timeline.labels()[label].kind != kind) {
          continue;
        }
        count += 1;
        total += said.duration;
        for (std::int64_t ns = 0; ns < said.duration; ++ns) {
          covered.insert(said.start + ns);
        }
      }
      const KindSum sum = timeline.sum({lane}, kind);
      RC_ASSERT(sum.spans == count);
      RC_ASSERT(sum.total == static_cast<double>(total) * 1_ns);
      RC_ASSERT(sum.busy == static_cast<double>(covered.size()) * 1_ns);
    }
  }
}

RC_GTEST_PROP(TimelineLaws, SortingKeepsWhatIsSaidOfEachSpan, ()) {
  Timeline timeline;
  std::vector<Said> before = random_spans(timeline);
  timeline.sort();
  std::vector<Said> after;
  for (const Span& span : timeline.spans()) {
    after.push_back({span.lane, span.start_ns, span.duration_ns, timeline.occurrence_of(span)});
  }
  const auto by_key = [](const Said& a, const Said& b) { return key_of(a) < key_of(b); };
  std::sort(before.begin(), before.end(), by_key);
  std::sort(after.begin(), after.end(), by_key);
  RC_ASSERT(std::equal(before.begin(), before.end(), after.begin(), after.end(),
                       [](const Said& a, const Said& b) { return key_of(a) == key_of(b); }));
}

RC_GTEST_PROP(TimelineLaws, LanesFollowOneAnotherEachByStartAndEnclosingFirst, ()) {
  Timeline timeline;
  random_spans(timeline);
  timeline.sort();
  std::size_t seen = 0;
  for (std::int64_t lane = 0; lane < static_cast<std::int64_t>(timeline.lanes().size()); ++lane) {
    const std::span<const Span> spans = timeline.spans_of({lane});
    RC_ASSERT(spans.data() - timeline.spans().data() == static_cast<std::ptrdiff_t>(seen));
    seen += spans.size();
    for (const Span& span : spans) {
      RC_ASSERT(span.lane == lane);
    }
    for (std::size_t i = 1; i < spans.size(); ++i) {
      RC_ASSERT(std::tuple(spans[i - 1].start_ns, -spans[i - 1].duration_ns) <=
                std::tuple(spans[i].start_ns, -spans[i].duration_ns));
    }
  }
  RC_ASSERT(seen == timeline.spans().size());
}

RC_GTEST_PROP(TimelineLaws, TheOrderOfAddingPlainSpansIsForgotten, ()) {
  Timeline timeline;
  std::vector<Said> spans = random_spans(timeline);
  const auto sorted = [&] {
    Timeline made;
    for (const Lane& lane : timeline.lanes()) {
      made.lane(lane.rank, lane.stream);
    }
    for (const Label& label : timeline.labels()) {
      made.label(label);
    }
    for (const Said& said : spans) {
      made.add({said.lane}, said.what.label, said.start, said.duration);
    }
    made.sort();
    std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>> rows;
    for (const Span& span : made.spans()) {
      rows.emplace_back(span.start_ns, span.duration_ns, span.lane, span.what);
    }
    return rows;
  };
  const auto rows = sorted();
  std::reverse(spans.begin(), spans.end());
  RC_ASSERT(sorted() == rows);
}

RC_GTEST_PROP(TimelineLaws, EqualLabelsAreOne, ()) {
  Timeline timeline;
  std::vector<std::pair<Label, LabelId>> seen;
  for (std::int64_t i = random_number(0, 60); i > 0; --i) {
    const Label label = random_label();
    const LabelId id = timeline.label(label);
    RC_ASSERT(timeline.labels()[static_cast<std::size_t>(id.value)] == label);
    for (const auto& [other, other_id] : seen) {
      RC_ASSERT((other == label) == (other_id == id));
    }
    seen.emplace_back(label, id);
  }
}

}  // namespace
}  // namespace sextant::timeline
