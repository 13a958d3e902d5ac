#include "timeline/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "timeline/launches.h"

namespace sextant::timeline {
namespace {

constexpr std::size_t kBlock = 1U << 16U;

// A JSON string. Bytes that are not UTF-8 become \ufffd: names come from foreign traces.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t good = first_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, good)) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out += c;
      }
    }
    text.remove_prefix(good);
    if (!text.empty()) {
      out += "\\ufffd";
      text.remove_prefix(1);
    }
  }
  out += '"';
}

// Nanoseconds as microseconds with exactly three decimals, without passing through a double.
void append_microseconds(std::string& out, std::int64_t ns) {
  const std::uint64_t magnitude =
      ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1U : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", ns < 0 ? "-" : "", magnitude / 1000U,
                 magnitude % 1000U);
}

// The number under which a lane is written: its stream's or thread's own, but that a thread of the
// host whose number a stream of its rank has too gets another.
std::vector<std::int64_t> written_numbers(const Timeline& timeline) {
  constexpr std::int64_t kFirstOther = 1'000'000'000;
  std::set<std::pair<RankId, std::int64_t>> taken;
  for (const Lane& lane : timeline.lanes()) {
    if (lane.place == Place::kDevice) {
      taken.insert({lane.rank, lane.stream.value});
    }
  }
  std::vector<std::int64_t> numbers;
  for (const Lane& lane : timeline.lanes()) {
    std::int64_t number = lane.stream.value;
    if (lane.place == Place::kHost) {
      for (std::int64_t other = kFirstOther; !taken.insert({lane.rank, number}).second; ++other) {
        number = other;
      }
    }
    numbers.push_back(number);
  }
  return numbers;
}

void append_metadata(std::string& out, const Timeline& timeline,
                     const std::vector<std::int64_t>& numbers) {
  std::optional<RankId> last_rank;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Lane& lane = timeline.lanes()[i];
    if (lane.rank != last_rank) {
      fmt::format_to(std::back_inserter(out),
                     R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}},)"
                     "\n",
                     lane.rank.value, lane.rank.value);
      last_rank = lane.rank;
    }
    fmt::format_to(std::back_inserter(out),
                   R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":)",
                   lane.rank.value, numbers[i]);
    append_quoted(out, lane.name.empty() ? fmt::format("stream {}", lane.stream.value) : lane.name);
    if (lane.place == Place::kHost) {
      fmt::format_to(std::back_inserter(out), R"(,"place":"host","stream":{})", lane.stream.value);
    }
    out += "}},\n";
  }
}

// Writes "args" with what there is to say; nothing where there is nothing.
class Arguments {
 public:
  explicit Arguments(std::string& out) : out_(out) {}
  void number(std::string_view key, std::int64_t value) {
    open(key);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void number(std::string_view key, double value) {
    open(key);
    // Whole numbers as such; others with the digits that make them what they are.
    if (value == std::floor(value)) {
      fmt::format_to(std::back_inserter(out_), "{:.0f}", value);
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", value);
    }
  }
  void text(std::string_view key, std::string_view value) {
    open(key);
    append_quoted(out_, value);
  }
  void close() { out_ += is_open_ ? "}" : ""; }

 private:
  void open(std::string_view key) {
    out_ += is_open_ ? "," : R"(,"args":{)";
    is_open_ = true;
    append_quoted(out_, key);
    out_ += ':';
  }
  std::string& out_;
  bool is_open_ = false;
};

// As torch.distributed names them where it records a collective (RECORD_PARAM_COMMS of
// ProcessGroupNCCL.cpp); it sends and receives one at a time, which no word of ours tells.
std::string_view torch_word(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllReduce:
      return "allreduce";
    case CollectiveOp::kAllGather:
      return "_allgather_base";
    case CollectiveOp::kReduceScatter:
      return "_reduce_scatter_base";
    case CollectiveOp::kAllToAll:
      return "all_to_all";
    case CollectiveOp::kSendReceive:
      return "sendrecv";
    case CollectiveOp::kBroadcast:
      return "broadcast";
  }
  return "?";
}

std::string_view our_word(CollectiveOp op) {
  const auto* const at = std::find_if(kCollectiveOpWords.begin(), kCollectiveOpWords.end(),
                                      [&](const auto& word) { return word.first == op; });
  return at->second;
}

// Elements where their type is known, which is what Kineto counts; else bytes under a name of ours.
void append_buffer(Arguments& arguments, const Collective& collective, bool is_input) {
  const std::optional<Bytes>& bytes = is_input ? collective.input : collective.output;
  if (!bytes) {
    return;
  }
  const double elements = collective.element ? *bytes / format_of(*collective.element).size : 0.5;
  if (elements == std::floor(elements)) {
    arguments.number(is_input ? "In msg nelems" : "Out msg nelems", elements);
  } else {
    arguments.number(is_input ? "input_bytes" : "output_bytes", bytes->base());
  }
}

// The word as the source said it, else torch's for the operation. That the two are told apart by
// who reads it back, the operation stands beside a word of the source's own.
void append_word(Arguments& arguments, const Collective& collective) {
  const std::string_view word = collective.word.empty() && collective.op
                                    ? torch_word(*collective.op)
                                    : std::string_view(collective.word);
  if (!word.empty()) {
    arguments.text("Collective name", word);
  }
  if (!collective.word.empty() && collective.op) {
    arguments.text("operation", our_word(*collective.op));
  } else if (!collective.word.empty()) {
    const bool looks_known =
        std::any_of(kCollectiveOpWords.begin(), kCollectiveOpWords.end(),
                    [&](const auto& known) { return torch_word(known.first) == collective.word; });
    if (looks_known) {
      arguments.text("operation", "");
    }
  }
}

// Keys are Kineto's. Source: pytorch/kineto, libkineto/src/output_json.cpp.
void append_collective(Arguments& arguments, const Timeline& timeline,
                       const Collective& collective) {
  append_word(arguments, collective);
  append_buffer(arguments, collective, true);
  append_buffer(arguments, collective, false);
  if (collective.element) {
    arguments.text("dtype", format_of(*collective.element).torch);
  }
  if (collective.sender) {
    arguments.number("Src Rank", collective.sender->value);
  }
  if (collective.receiver) {
    arguments.number("Dst Rank", collective.receiver->value);
  }
  if (!collective.group) {
    return;
  }
  const Group& group = timeline.group_of(*collective.group);
  if (group.size) {
    arguments.number("Group size", *group.size);
  }
  if (!group.name.empty()) {
    arguments.text("Process Group Name", group.name);
  }
  if (!group.description.empty()) {
    arguments.text("Process Group Description", group.description);
  }
  if (!group.ranks.empty()) {
    std::string ranks;
    for (const RankId rank : group.ranks) {
      fmt::format_to(std::back_inserter(ranks), "{}{}", ranks.empty() ? "[" : ", ", rank.value);
    }
    arguments.text("Process Group Ranks", ranks + "]");
  }
}

void append_operation(Arguments& arguments, const Operation& operation) {
  arguments.text("Operation", operation.name);
  if (!operation.category.empty()) {
    arguments.text("Operation category", operation.category);
  }
  if (!operation.module.empty()) {
    arguments.text("Module", operation.module);
  }
}

// A Timeline and under which number each of its lanes is written.
struct Written {
  const Timeline& timeline;
  std::vector<std::int64_t> numbers;
};

void append_span(std::string& out, const Written& written, const Span& span) {
  const Timeline& timeline = written.timeline;
  const Lane& lane = timeline.lane_of(span);
  const Label& label = timeline.label_of(span);
  fmt::format_to(std::back_inserter(out), R"({{"ph":"X","pid":{},"tid":{},"ts":)", lane.rank.value,
                 written.numbers[span.lane]);
  append_microseconds(out, span.start_ns);
  out += R"(,"dur":)";
  append_microseconds(out, span.duration_ns);
  out += R"(,"name":)";
  append_quoted(out, label.name);
  fmt::format_to(std::back_inserter(out), R"(,"cat":"{}")", name_of(label.kind));
  Arguments arguments(out);
  if (label.bytes) {
    arguments.number("bytes", label.bytes->base());
  }
  if (label.flops) {
    arguments.number("flops", label.flops->base());
  }
  const Occurrence occurrence = timeline.occurrence_of(span);
  if (label.collective) {
    append_collective(arguments, timeline, *label.collective);
  }
  if (label.operation) {
    append_operation(arguments, *label.operation);
  }
  if (occurrence.sequence) {
    arguments.number("Seq", occurrence.sequence->value);
  }
  if (occurrence.correlation) {
    arguments.number("correlation", occurrence.correlation->value);
  }
  arguments.close();
  out += '}';
}

// An arrow from a call to what it started, as Kineto draws it; the number of the launch, which no
// other rank has, in place of the correlation.
void append_flow(std::string& out, const Written& written, const Launch& launch,
                 std::size_t number) {
  const Timeline& timeline = written.timeline;
  const auto append_end = [&](char phase, std::uint32_t at, std::string_view binding) {
    const Span& span = timeline.spans()[at];
    const Lane& lane = timeline.lane_of(span);
    fmt::format_to(std::back_inserter(out), R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":)", phase,
                   number, lane.rank.value, written.numbers[span.lane]);
    append_microseconds(out, span.start_ns);
    fmt::format_to(std::back_inserter(out),
                   R"(,"cat":"ac2g","name":"ac2g"{}}},)"
                   "\n",
                   binding);
  };
  append_end('s', launch.call, "");
  append_end('f', launch.started, R"(,"bp":"e")");
}

// Hands on what has gathered, once it is a block.
void pass_on(std::string& out, const Sink& sink) {
  if (out.size() >= kBlock) {
    sink(out);
    out.clear();
  }
}

}  // namespace

void write_chrome_trace(const Timeline& timeline, const Sink& sink) {
  std::string out = R"({"displayTimeUnit":"ms","otherData":{"writer":"sextant"},"traceEvents":[)"
                    "\n";
  const Written written{timeline, written_numbers(timeline)};
  append_metadata(out, timeline, written.numbers);
  for (const Span& span : timeline.spans()) {
    append_span(out, written, span);
    out += ",\n";
    pass_on(out, sink);
  }
  std::size_t number = 0;
  for (const Launch& launch : launches(timeline)) {
    append_flow(out, written, launch, ++number);
    pass_on(out, sink);
  }
  // A closing metadata event takes the last comma's successor: JSON allows none before ']'.
  out += R"({"ph":"M","name":"trace_writer","pid":0,"args":{"name":"sextant"}}]})";
  out += '\n';
  sink(out);
}

std::string chrome_trace(const Timeline& timeline) {
  std::string all;
  write_chrome_trace(timeline, [&](std::string_view piece) { all += piece; });
  return all;
}

}  // namespace sextant::timeline
