#include "profile/kineto_handler.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "profile/file_rank.h"
#include "profile/kineto_collective.h"
#include "profile/recorded_steps.h"

namespace sextant::profile {
namespace {

using timeline::Place;
using timeline::SpanKind;
using timeline::Timeline;

constexpr std::int64_t kLookForShapes = 2048;  // operators

template <typename T>
void move_ranks(std::vector<T>& values, RankId from, RankId to) {
  for (T& value : values) {
    value.rank = value.rank == from ? to : value.rank;
  }
}

// CPU's allocator is not a device's. Source: pytorch, c10/core/DeviceType.h.
bool is_of_device(const RawValue& device_type) {
  const auto type = integer_of(device_type);
  return type && *type != 0;
}

}  // namespace

KinetoHandler::KinetoHandler(const std::string& name, const ReadOptions& options)
    : name_(name),
      options_(options),
      labels_(options.names, options.operators, recording_.timeline),
      lanes_(recording_.timeline) {
  recording_.recorder = timeline::Recorder::kKineto;
  lanes_.begin_document(document_);
}

bool KinetoHandler::event(const RawEvent& event) {
  const char phase = event.ph.text.size() == 1 ? event.ph.text[0] : '\0';
  switch (phase) {
    case 'X':
      complete(event);
      break;
    case 's':
    case 't':
    case 'f':
      break;  // arrows: correlations say as much
    case 'i':
    case 'I':
      instant(event);
      break;
    case 'M':
      metadata(event);
      break;
    case '\0':
      unread_.no_phase += 1;
      break;
    default:
      unread_.other_phase += 1;
  }
  return true;
}

void KinetoHandler::value(const RawValue& key, const RawValue& value) {
  take_fact(facts_, key, value);
}

void KinetoHandler::next_document() {
  finish_document();
}

bool KinetoHandler::has_room() {
  if (static_cast<std::int64_t>(recording_.timeline.spans().size() + recording_.memory.size() +
                                recording_.waits.size()) >= options_.most_events) {
    unread_.too_many += 1;
    return false;
  }
  return true;
}

std::optional<std::int64_t> KinetoHandler::start_of(const RawEvent& event, ExactTime& exact) {
  const auto time = exact_microseconds(event.ts.text);
  if (!time) {
    unread_.no_start += 1;
    return std::nullopt;
  }
  exact = *time;
  if (!has_origin_) {
    origin_ns_ = time->ns;
    has_origin_ = true;
  }
  const std::int64_t start = time->rounded() - origin_ns_;
  if (start > Timeline::kFarthestNs / 2 || start < -Timeline::kFarthestNs / 2) {
    unread_.too_far += 1;
    return std::nullopt;
  }
  return start;
}

std::optional<KinetoHandler::Extent> KinetoHandler::extent_of(const RawEvent& event) {
  if (!has_room()) {
    return std::nullopt;
  }
  ExactTime exact;
  const auto start = start_of(event, exact);
  if (!start) {
    return std::nullopt;
  }
  const auto duration = exact_microseconds(event.dur.text);
  if (!duration) {
    unread_.no_duration += 1;
    return std::nullopt;
  }
  if (duration->ns < 0) {
    unread_.negative_duration += 1;
    return std::nullopt;
  }
  if (duration->ns > Timeline::kFarthestNs / 4) {
    unread_.too_far += 1;
    return std::nullopt;
  }
  // Both ends are rounded, not the length: neighbours that touch stay touching.
  const std::int64_t end = (exact + *duration).rounded() - origin_ns_;
  return Extent{*start, end - *start};
}

void KinetoHandler::complete(const RawEvent& event) {
  KnownName& known = labels_.known(event);
  if (known.role == KinetoRole::kLeftOut) {
    return;
  }
  const auto extent = extent_of(event);
  if (!extent) {
    return;
  }
  switch (known.role) {
    case KinetoRole::kOperator:
      operation(event, known, *extent);
      break;
    case KinetoRole::kHostMark:
      annotation(event, known, *extent);
      break;
    case KinetoRole::kCall:
      call(event, known, *extent);
      break;
    case KinetoRole::kKernel:
    case KinetoRole::kCopy:
    case KinetoRole::kDeviceMark:
      device(event, known, *extent);
      break;
    case KinetoRole::kSync:
      wait(event, *extent);
      break;
    case KinetoRole::kPython:
      recording_.has_stacks = true;
      host(event, {.label = labels_.plain(known)}, *extent);
      break;
    case KinetoRole::kOverhead:
    case KinetoRole::kUnknown:
      host(event, {.label = labels_.plain(known)}, *extent);
      break;
    case KinetoRole::kLeftOut:
      break;
  }
}

void KinetoHandler::host(const RawEvent& event, const timeline::Occurrence& what,
                         const Extent& extent) {
  const auto lane = lanes_.lane(event.pid, event.tid, Place::kHost);
  if (!lane) {
    unread_.too_many_lanes += 1;
    return;
  }
  recording_.timeline.add(*lane, what, extent.start_ns, extent.duration_ns);
}

void KinetoHandler::operation(const RawEvent& event, KnownName& known, const Extent& extent) {
  if (known.tells_collective) {
    remember(event, known, extent);
  }
  if (!recording_.has_shapes && operators_seen_ < kLookForShapes) {
    operators_seen_ += 1;
    recording_.has_shapes = event.args.text.find("\"Input Dims\"") != std::string_view::npos;
  }
  if (known.is_step) {
    annotation(event, known, extent);
    return;
  }
  host(event, {.label = labels_.operation(known, event.args.text)}, extent);
}

void KinetoHandler::annotation(const RawEvent& event, KnownName& known, const Extent& extent) {
  if (known.is_step) {
    const auto number = to_integer(std::string_view(known.label.name).substr(13));
    if (number) {
      recording_.steps.push_back(
          {document_, *number, extent.start_ns, extent.start_ns + extent.duration_ns});
    }
  }
  if (known.label.kind == SpanKind::kCommunication) {
    host(event, labels_.communication(known, kineto_arguments(event.args.text), nullptr), extent);
    return;
  }
  if (known.tells_collective) {
    remember(event, known, extent);
  }
  host(event, {.label = labels_.plain(known)}, extent);
}

void KinetoHandler::call(const RawEvent& event, KnownName& known, const Extent& extent) {
  timeline::Occurrence what{.label = labels_.plain(known)};
  Members members(event.args.text);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    if (key.text == "correlation") {
      const auto correlation = integer_of(value);
      if (correlation) {
        what.correlation = timeline::CorrelationId{*correlation};
      }
      break;
    }
  }
  host(event, what, extent);
}

void KinetoHandler::device(const RawEvent& event, KnownName& known, const Extent& extent) {
  const KinetoArguments arguments = kineto_arguments(event.args.text);
  const bool is_placed = arguments.stream.is_number() && arguments.device.is_number();
  const auto lane = lanes_.lane(is_placed ? arguments.device : event.pid,
                                is_placed ? arguments.stream : event.tid, Place::kDevice);
  if (!lane) {
    unread_.too_many_lanes += 1;
    return;
  }
  const auto correlation = integer_of(arguments.correlation);
  timeline::Occurrence what;
  if (known.label.kind == SpanKind::kCommunication || says_collective(arguments)) {
    known.label.kind = SpanKind::kCommunication;
    const bool is_said = says_collective(arguments);
    const KinetoLabels::LinkOf* link = is_said ? nullptr : labels_.link_of(arguments);
    if (!is_said && link == nullptr && correlation && links_.has_room()) {
      links_.wait_for_call({*lane, extent.start_ns, extent.duration_ns, {*correlation}, known});
      return;
    }
    what = labels_.communication(known, arguments, link);
  } else if (known.label.kind == SpanKind::kCopy && arguments.bytes.is_number()) {
    what.label = labels_.copy(known, arguments.bytes);
  } else {
    what.label = labels_.plain(known);
  }
  if (correlation) {
    what.correlation = timeline::CorrelationId{*correlation};
  }
  recording_.timeline.add(*lane, what, extent.start_ns, extent.duration_ns);
}

void KinetoHandler::remember(const RawEvent& event, const KnownName& known, const Extent& extent) {
  const auto link = labels_.remember(known, kineto_arguments(event.args.text));
  const auto lane = lanes_.lane(event.pid, event.tid, Place::kHost);
  if (link && lane) {
    links_.note({*lane, extent.start_ns, extent.start_ns + extent.duration_ns, *link});
  }
}

void KinetoHandler::wait(const RawEvent& event, const Extent& extent) {
  const KinetoArguments arguments = kineto_arguments(event.args.text);
  recording_.has_sync_events = true;
  timeline::StreamWait waiting;
  waiting.rank = document_;
  waiting.at_ns = extent.start_ns;
  waiting.duration_ns = extent.duration_ns;
  const auto known = [](const RawValue& value) {
    const auto number = integer_of(value);
    return number && *number >= 0 ? number : std::nullopt;  // -1 is Kineto's "none"
  };
  const auto stream = known(arguments.stream);
  const auto waited_on = known(arguments.waited_on);
  const auto recorded_by = known(arguments.recorded_by);
  waiting.blocks_host = event.name.text != "Stream Wait Event";
  waiting.stream = {stream ? *stream : waited_on.value_or(-1)};
  waiting.is_stream_stated = stream.has_value();
  waiting.waited_on = waited_on ? std::optional(StreamId{*waited_on}) : std::nullopt;
  waiting.recorded_by =
      recorded_by ? std::optional(timeline::CorrelationId{*recorded_by}) : std::nullopt;
  const auto correlation = known(arguments.correlation);
  if (correlation) {
    waiting.correlation = timeline::CorrelationId{*correlation};
  }
  recording_.waits.push_back(waiting);
}

void KinetoHandler::instant(const RawEvent& event) {
  if (event.name.text != "[memory]" || !event.args.is_nested()) {
    return;  // marks of the profiler: where its window begins and ends
  }
  const KinetoArguments arguments = kineto_arguments(event.args.text);
  if (!is_of_device(arguments.device_type)) {
    return;  // the host's allocator is no device's
  }
  const auto bytes = integer_of(arguments.bytes);
  const auto allocated = integer_of(arguments.allocated);
  const auto reserved = integer_of(arguments.reserved);
  if (!bytes || !allocated || !reserved) {
    unread_.memory_without_totals += 1;
    return;
  }
  ExactTime ignored;
  const auto at = has_room() ? start_of(event, ignored) : std::nullopt;
  if (at) {
    recording_.memory.push_back({document_, *at, *bytes, *allocated, *reserved});
  }
}

void KinetoHandler::metadata(const RawEvent& event) {
  if (event.name.text != "thread_name") {
    return;
  }
  Members members(event.args.text);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    if (key.text == "name" && value.is_string()) {
      lanes_.name(event.pid, event.tid, trimmed(unescaped(value)));
    }
  }
}

void KinetoHandler::finish_document() {
  const auto by_name = rank_of_file(name_);
  std::optional<RankId> stated =
      facts_.rank ? std::optional(RankId{*facts_.rank})
                  : (is_first_document_ || recording_.ranks.empty() ? by_name : std::nullopt);
  const bool is_stated = stated.has_value();
  if (!stated) {
    stated = recording_.ranks.empty() ? std::nullopt : std::optional(recording_.ranks.back().rank);
  }
  const RankId rank = stated.value_or(RankId{0});
  const timeline::RecordedRank recorded = recorded_rank(rank, is_stated);
  links_.add_all(recording_.timeline, labels_);
  lanes_.begin_document({document_.value - 1});
  std::vector<RankId> ranks;
  for (const timeline::Lane& lane : recording_.timeline.lanes()) {
    ranks.push_back(lane.rank == document_ ? rank : lane.rank);
  }
  recording_.timeline.set_ranks(ranks);
  move_ranks(recording_.steps, document_, rank);
  move_ranks(recording_.memory, document_, rank);
  move_ranks(recording_.waits, document_, rank);
  document_ = {document_.value - 1};
  const auto same = std::find_if(recording_.ranks.begin(), recording_.ranks.end(),
                                 [&](const auto& one) { return one.rank == rank; });
  if (same == recording_.ranks.end()) {
    recording_.ranks.push_back(recorded);
  }
  recording_.has_shapes = recording_.has_shapes || facts_.has_shapes;
  recording_.has_stacks = recording_.has_stacks || facts_.has_stacks;
  recording_.has_memory = recording_.has_memory || facts_.has_memory || !recording_.memory.empty();
  first_base_ns_ = first_base_ns_ ? first_base_ns_ : facts_.base_ns;
  unread_.facts += facts_.unreadable;
  facts_ = {};
  is_first_document_ = false;
}

timeline::RecordedRank KinetoHandler::recorded_rank(RankId rank, bool is_stated) {
  timeline::RecordedRank recorded{rank, is_stated, facts_.world, facts_.host, {}, {}};
  const auto number = lanes_.device();
  const auto device = number                       ? facts_.devices.find(*number)
                      : facts_.devices.size() == 1 ? facts_.devices.begin()
                                                   : facts_.devices.end();
  if (device != facts_.devices.end()) {
    recorded.device = device->second;
  }
  return recorded;
}

void KinetoHandler::order() {
  // From the first event on: times a person can read.
  const auto spans = recording_.timeline.spans();
  if (!spans.empty()) {
    const auto first =
        std::min_element(spans.begin(), spans.end(),
                         [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    const std::int64_t by = -first->start_ns;
    recording_.timeline.shift(by);
    for (auto& step : recording_.steps) {
      step.start_ns += by;
      step.end_ns += by;
    }
    for (auto& point : recording_.memory) {
      point.at_ns += by;
    }
    for (auto& wait : recording_.waits) {
      wait.at_ns += by;
    }
    origin_ns_ -= by;
  }
  recording_.timeline.sort();
  const auto by_time = [](const auto& a, const auto& b) {
    return std::pair(a.rank, a.at_ns) < std::pair(b.rank, b.at_ns);
  };
  std::stable_sort(recording_.memory.begin(), recording_.memory.end(), by_time);
  std::stable_sort(recording_.waits.begin(), recording_.waits.end(), by_time);
  std::sort(recording_.ranks.begin(), recording_.ranks.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  recording_.steps = ordered_steps(std::move(recording_.steps));
}

timeline::Recording KinetoHandler::finish(const TraceTextFacts& text, const std::string& damage) {
  finish_document();
  order();
  recording_.origin_ns = origin_ns_ + first_base_ns_.value_or(0);
  recording_.base_ns = first_base_ns_.value_or(0);
  recording_.bytes = Bytes(static_cast<double>(text.bytes));
  unread_.unnamed = labels_.unnamed();
  recording_.unread = unread_of(unread_, text, damage);
  return std::move(recording_);
}

}  // namespace sextant::profile
