// Steps that Sextant drew, as they were: every label, occurrence and lane.
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "profile/chrome_reader.h"
#include "profile/event_times.h"
#include "profile/kineto_collective.h"
#include "profile/recognition.h"
#include "profile/trace_text.h"
#include "profile/unread_counts.h"

namespace sextant::profile {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::SpanKind;

std::optional<SpanKind> kind_named(std::string_view word) {
  for (std::size_t kind = 0; kind < timeline::kSpanKinds; ++kind) {
    if (name_of(static_cast<SpanKind>(kind)) == word) {
      return static_cast<SpanKind>(kind);
    }
  }
  return std::nullopt;
}

// The members of an object, all of them: labels are read back whole.
using AllMembers = std::map<std::string, RawValue, std::less<>>;

AllMembers all_members(std::string_view object) {
  AllMembers all;
  Members members(object);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    all.insert_or_assign(unescaped(key), value);
  }
  return all;
}

std::optional<double> number_in(const AllMembers& all, std::string_view key) {
  const auto at = all.find(key);
  return at == all.end() ? std::nullopt : to_double(at->second.text);
}

std::optional<std::string> text_in(const AllMembers& all, std::string_view key) {
  const auto at = all.find(key);
  return at == all.end() ? std::nullopt : std::optional(unescaped(at->second));
}

std::optional<std::int64_t> whole_in(const AllMembers& all, std::string_view key) {
  const auto at = all.find(key);
  return at == all.end() ? std::nullopt : integer_of(at->second);
}

std::optional<CollectiveOp> op_said(const AllMembers& all, const std::string& word) {
  const auto said = text_in(all, "operation");
  if (!said) {
    // The words that timeline/chrome_trace writes for an operation, and no others.
    const bool is_written = is_one_of(word, {"allreduce", "_allgather_base", "_reduce_scatter_base",
                                             "all_to_all", "sendrecv", "broadcast"});
    return is_written ? op_of_torch_word(word) : std::nullopt;
  }
  for (const auto& [op, spelling] : kCollectiveOpWords) {
    if (spelling == *said) {
      return op;
    }
  }
  return std::nullopt;
}

std::optional<timeline::Collective> collective_said(const AllMembers& all,
                                                    timeline::Timeline& timeline) {
  timeline::Collective collective;
  const auto word = text_in(all, "Collective name");
  if (word) {
    collective.op = op_said(all, *word);
    // Without an operation beside it the word is ours for the operation, not the source's.
    collective.word = collective.op && !all.contains("operation") ? "" : *word;
  }
  if (const auto element = text_in(all, "dtype")) {
    collective.element = element_of_torch_word(*element);
  }
  const auto buffer = [&](std::string_view elements, std::string_view bytes) {
    const auto count = number_in(all, elements);
    if (count && collective.element) {
      return std::optional(*count * timeline::format_of(*collective.element).size);
    }
    const auto said = number_in(all, bytes);
    return said ? std::optional(Bytes(*said)) : std::nullopt;
  };
  collective.input = buffer("In msg nelems", "input_bytes");
  collective.output = buffer("Out msg nelems", "output_bytes");
  const auto rank = [&](std::string_view key) {
    const auto number = whole_in(all, key);
    return number ? std::optional(RankId{*number}) : std::nullopt;
  };
  collective.sender = rank("Src Rank");
  collective.receiver = rank("Dst Rank");
  timeline::Group group;
  group.name = text_in(all, "Process Group Name").value_or("");
  group.description = text_in(all, "Process Group Description").value_or("");
  group.size = whole_in(all, "Group size");
  group.ranks =
      rank_list(text_in(all, "Process Group Ranks").value_or("")).value_or(std::vector<RankId>());
  if (!(group == timeline::Group{})) {
    collective.group = timeline.group(group);
  }
  return collective == timeline::Collective{} ? std::nullopt : std::optional(collective);
}

Label label_said(const RawEvent& event, SpanKind kind, const AllMembers& all,
                 timeline::Timeline& timeline) {
  Label label{kind, unescaped(event.name), {}, {}};
  if (const auto bytes = number_in(all, "bytes")) {
    label.bytes = Bytes(*bytes);
  }
  if (const auto flops = number_in(all, "flops")) {
    label.flops = Flops(*flops);
  }
  label.collective = collective_said(all, timeline);
  if (auto operation = text_in(all, "Operation")) {
    label.operation =
        timeline::Operation{*std::move(operation), text_in(all, "Operation category").value_or(""),
                            text_in(all, "Module").value_or("")};
  }
  return label;
}

class SextantHandler final : public TraceHandler {
 public:
  explicit SextantHandler(const ReadOptions& options) : options_(options) {
    recording_.recorder = timeline::Recorder::kSextant;
  }

  bool event(const RawEvent& event) override {
    if (event.ph.text == "X") {
      complete(event);
    } else if (event.ph.text == "M") {
      metadata(event);
    } else if (event.ph.text.empty()) {
      unread_.no_phase += 1;
    }
    return true;
  }
  void value(const RawValue& /*key*/, const RawValue& /*value*/) override {}
  void next_document() override {}

  timeline::Recording finish(const TraceTextFacts& text, const std::string& damage) {
    std::map<RankId, bool> ranks;
    for (const timeline::Lane& lane : recording_.timeline.lanes()) {
      ranks.emplace(lane.rank, true);
    }
    for (const auto& [rank, is_stated] : ranks) {
      recording_.ranks.push_back({.rank = rank, .is_stated = is_stated});
    }
    recording_.timeline.sort();
    recording_.bytes = Bytes(static_cast<double>(text.bytes));
    recording_.unread = unread_of(unread_, text, damage);
    return std::move(recording_);
  }

 private:
  static constexpr std::size_t kMostLanes = 1'000'000;

  std::optional<LaneId> lane_of(const RawValue& process, const RawValue& thread) {
    const auto rank = integer_of(process);
    const auto number = integer_of(thread);
    if (!rank || !number) {
      return std::nullopt;
    }
    const auto known = lanes_.find({*rank, *number});
    if (known != lanes_.end()) {
      return known->second;
    }
    return make({*rank, *number}, {*number}, {}, timeline::Place::kDevice);
  }

  std::optional<LaneId> make(const std::pair<std::int64_t, std::int64_t>& written, StreamId stream,
                             std::string_view name, timeline::Place place) {
    if (lanes_.size() >= kMostLanes) {
      return std::nullopt;
    }
    const LaneId lane = recording_.timeline.lane({written.first}, stream, name, place);
    lanes_.insert_or_assign(written, lane);
    return lane;
  }

  void metadata(const RawEvent& event) {
    const auto rank = integer_of(event.pid);
    const auto number = integer_of(event.tid);
    if (event.name.text != "thread_name" || !rank || !number) {
      return;
    }
    const AllMembers all = all_members(event.args.text);
    const bool is_host = text_in(all, "place") == "host";
    const std::int64_t stream = whole_in(all, "stream").value_or(*number);
    std::string name = text_in(all, "name").value_or("");
    if (name == "stream " + std::to_string(stream)) {
      name.clear();
    }
    (void)make({*rank, *number}, {stream}, name,
               is_host ? timeline::Place::kHost : timeline::Place::kDevice);
  }

  void complete(const RawEvent& event) {
    const auto times = event_times(event.ts, event.dur, unread_);
    const auto kind = kind_named(event.cat.text);
    const auto lane = times && kind ? lane_of(event.pid, event.tid) : std::nullopt;
    if (!lane) {
      unread_.no_phase += times ? 1 : 0;
      return;
    }
    if (static_cast<std::int64_t>(recording_.timeline.spans().size()) >= options_.most_events) {
      unread_.too_many += 1;
      return;
    }
    const AllMembers all = all_members(event.args.text);
    timeline::Occurrence what{
        .label = recording_.timeline.label(label_said(event, *kind, all, recording_.timeline))};
    if (const auto correlation = whole_in(all, "correlation")) {
      what.correlation = timeline::CorrelationId{*correlation};
    }
    if (const auto sequence = whole_in(all, "Seq")) {
      what.sequence = timeline::SequenceNumber{*sequence};
    }
    recording_.timeline.add(*lane, what, times->start_ns, times->duration_ns);
  }

  const ReadOptions& options_;
  timeline::Recording recording_;
  UnreadCounts unread_;
  std::map<std::pair<std::int64_t, std::int64_t>, LaneId> lanes_;  // by pid and tid
};

}  // namespace

Result<timeline::Recording> read_sextant(ByteSource& source, const std::string& name,
                                         const ReadOptions& options) {
  SextantHandler handler(options);
  SEXTANT_TRY(const TraceTextFacts text, walk_trace(source, handler, options.progress));
  timeline::Recording recording = handler.finish(text, source.damage());
  recording.source = name;
  return recording;
}

}  // namespace sextant::profile
