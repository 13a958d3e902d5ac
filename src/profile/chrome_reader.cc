#include "profile/chrome_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/chrome_lanes.h"
#include "profile/event_times.h"
#include "profile/kineto_arguments.h"
#include "profile/recorded_steps.h"
#include "profile/trace_text.h"
#include "profile/unread_counts.h"

namespace sextant::profile {
namespace {

using timeline::Label;
using timeline::SpanKind;

class ChromeHandler final : public TraceHandler {
 public:
  explicit ChromeHandler(const ReadOptions& options)
      : options_(options), lanes_(recording_.timeline) {
    recording_.recorder = timeline::Recorder::kChrome;
  }

  bool event(const RawEvent& event) override {
    const char phase = event.ph.text.size() == 1 ? event.ph.text[0] : '\0';
    if (phase == 'X') {
      complete(event, event_times(event.ts, event.dur, unread_));
    } else if (phase == 'B') {
      begin(event);
    } else if (phase == 'E') {
      end(event);
    } else if (phase == 'M') {
      metadata(event);
    } else if (phase == '\0') {
      unread_.no_phase += 1;
    } else if (phase != 's' && phase != 't' && phase != 'f') {
      unread_.other_phase += 1;
    }
    return true;
  }
  void value(const RawValue& /*key*/, const RawValue& /*value*/) override {}
  void next_document() override {}

  timeline::Recording finish(const TraceTextFacts& text, const std::string& damage) {
    for (const auto& [lane, stack] : begun_) {
      unread_.unfinished += static_cast<std::int64_t>(stack.size());
    }
    const ChromeLanes::Ranks settled = lanes_.settle();
    recording_.timeline.set_ranks(settled.of_lane);
    recording_.ranks = settled.ranks;
    std::map<std::pair<RankId, std::int64_t>, Extent> steps;
    for (const auto& [key, extent] : steps_) {
      steps[{settled.of_lane[static_cast<std::size_t>(key.first.value)], key.second}].take(extent);
    }
    for (const auto& [key, extent] : steps) {
      recording_.steps.push_back({key.first, key.second, extent.start_ns, extent.end_ns});
    }
    recording_.steps = ordered_steps(std::move(recording_.steps));
    recording_.timeline.sort();
    recording_.bytes = Bytes(static_cast<double>(text.bytes));
    recording_.unread = unread_of(unread_, text, damage);
    return std::move(recording_);
  }

 private:
  struct Extent {
    std::int64_t start_ns = timeline::Timeline::kFarthestNs;
    std::int64_t end_ns = -timeline::Timeline::kFarthestNs;
    void take(const Extent& other) {
      start_ns = std::min(start_ns, other.start_ns);
      end_ns = std::max(end_ns, other.end_ns);
    }
  };
  struct Begun {
    std::string name, category, start, arguments;
  };

  void complete(const RawEvent& event, const std::optional<EventTimes>& times) {
    if (!times) {
      return;
    }
    if (static_cast<std::int64_t>(recording_.timeline.spans().size()) >= options_.most_events) {
      unread_.too_many += 1;
      return;
    }
    const auto lane = lanes_.lane(event.pid, event.tid);
    if (!lane) {
      unread_.too_many_lanes += 1;
      return;
    }
    const KinetoArguments arguments =
        event.args.is_nested() ? kineto_arguments(event.args.text) : KinetoArguments{};
    timeline::Occurrence what{.label = label_of(event, arguments)};
    if (const auto sequence = integer_of(arguments.sequence_id)) {
      what.sequence = timeline::SequenceNumber{*sequence};
    }
    if (const auto correlation = integer_of(arguments.correlation)) {
      what.correlation = timeline::CorrelationId{*correlation};
    }
    recording_.timeline.add(*lane, what, times->start_ns, times->duration_ns);
    const auto step = integer_of(arguments.step);
    if (step && (steps_.size() < kMostSteps || steps_.contains({*lane, *step}))) {
      steps_[{*lane, *step}].take({times->start_ns, times->start_ns + times->duration_ns});
    }
  }

  timeline::LabelId label_of(const RawEvent& event, const KinetoArguments& arguments) {
    const RawTable::Found found = labels_.find_or_add(
        RawTable::Parts<5>{event.name.text, event.cat.text, arguments.bytes.text,
                           arguments.microbatch.text, arguments.chunk.text});
    if (!found.is_new && found.number != RawTable::kNoRoom) {
      return label_ids_[found.number];
    }
    if (found.number == RawTable::kNoRoom) {
      unread_.unnamed += 1;
      return recording_.timeline.label(
          {SpanKind::kMark, std::string(timeline::Timeline::kOtherName), {}, {}});
    }
    Label label{SpanKind::kMark, unescaped(event.name), {}, {}};
    Recognised recognised = options_.names.of(label.name);
    if (!recognised.kind) {
      recognised = options_.names.of(unescaped(event.cat));
    }
    label.kind = recognised.kind.value_or(SpanKind::kMark);
    if (label.kind == SpanKind::kCommunication) {
      label.collective = timeline::Collective{.op = recognised.op, .element = recognised.element};
    }
    const auto bytes = integer_of(arguments.bytes);
    if (bytes && *bytes >= 0) {
      label.bytes = Bytes(static_cast<double>(*bytes));
    }
    const auto microbatch = integer_of(arguments.microbatch);
    const auto chunk = integer_of(arguments.chunk);
    if (microbatch && *microbatch >= 0) {
      label.operation = timeline::Operation{.name = fmt::format("microbatch {}", *microbatch)};
      if (chunk && *chunk >= 0) {
        label.operation->module = fmt::format("chunk {}", *chunk);
      }
    }
    label_ids_.push_back(recording_.timeline.label(label));
    return label_ids_.back();
  }

  // A span in two events: what lies between a begin and the end that belongs to it.
  void begin(const RawEvent& event) {
    const auto lane = lanes_.lane(event.pid, event.tid);
    if (!lane || begun_[*lane].size() >= kMostBegun) {
      unread_.unfinished += 1;
      return;
    }
    begun_[*lane].push_back({std::string(event.name.text), std::string(event.cat.text),
                             std::string(event.ts.text), std::string(event.args.text)});
  }
  void end(const RawEvent& event) {
    const auto lane = lanes_.lane(event.pid, event.tid);
    if (!lane || begun_[*lane].empty()) {
      unread_.unfinished += 1;
      return;
    }
    Begun begun = std::move(begun_[*lane].back());
    begun_[*lane].pop_back();
    begun.arguments.append(kSkimPadding, '\0');
    const auto text = [](std::string_view of) {
      return RawValue{RawValue::Type::kString, false, of};
    };
    RawEvent whole = event;
    whole.name = text(begun.name);
    whole.name.is_escaped = begun.name.find('\\') != std::string::npos;
    whole.cat = text(begun.category);
    const std::string_view arguments(begun.arguments.data(), begun.arguments.size() - kSkimPadding);
    whole.args = {RawValue::Type::kNested, false, arguments};
    const auto from = event_times(text(begun.start), text("0"), unread_);
    const auto to = event_times(event.ts, text("0"), unread_);
    if (from && to && to->start_ns < from->start_ns) {
      unread_.negative_duration += 1;
    } else if (from && to) {
      complete(whole, EventTimes{from->start_ns, to->start_ns - from->start_ns});
    }
  }

  void metadata(const RawEvent& event) {
    Members members(event.args.text);
    RawValue key;
    RawValue value;
    while (members.next(key, value)) {
      if (key.text != "name" || !value.is_string()) {
        continue;
      }
      if (event.name.text == "thread_name") {
        lanes_.name_thread(event.pid, event.tid, unescaped(value));
      } else if (event.name.text == "process_name") {
        lanes_.name_process(event.pid, unescaped(value));
      }
    }
  }

  static constexpr std::size_t kMostSteps = 1'000'000;
  static constexpr std::size_t kMostBegun = 1024;
  const ReadOptions& options_;
  timeline::Recording recording_;
  ChromeLanes lanes_;
  UnreadCounts unread_;
  RawTable labels_{std::size_t{32} << 20U};
  std::vector<timeline::LabelId> label_ids_;
  std::map<std::pair<timeline::LaneId, std::int64_t>, Extent> steps_;
  std::map<timeline::LaneId, std::vector<Begun>> begun_;
};

}  // namespace

Result<timeline::Recording> read_chrome(ByteSource& source, const std::string& name,
                                        const ReadOptions& options) {
  ChromeHandler handler(options);
  SEXTANT_TRY(const TraceTextFacts text, walk_trace(source, handler, options.progress));
  timeline::Recording recording = handler.finish(text, source.damage());
  recording.source = name;
  return recording;
}

}  // namespace sextant::profile
