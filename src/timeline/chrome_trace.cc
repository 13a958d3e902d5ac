#include "timeline/chrome_trace.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>

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

void append_metadata(std::string& out, const Timeline& timeline) {
  std::optional<RankId> last_rank;
  for (const Lane& lane : timeline.lanes()) {
    if (lane.rank != last_rank) {
      fmt::format_to(std::back_inserter(out),
                     R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}},)"
                     "\n",
                     lane.rank.value, lane.rank.value);
      last_rank = lane.rank;
    }
    fmt::format_to(std::back_inserter(out),
                   R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":)",
                   lane.rank.value, lane.stream.value);
    append_quoted(out, lane.name.empty() ? fmt::format("stream {}", lane.stream.value) : lane.name);
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
    fmt::format_to(std::back_inserter(out_), "{:.0f}", value);
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

// Elements where their type is known, which is what Kineto counts; else bytes under a name of ours.
void append_buffer(Arguments& arguments, const Collective& collective, bool is_input) {
  const std::optional<Bytes>& bytes = is_input ? collective.input : collective.output;
  if (!bytes) {
    return;
  }
  if (collective.element) {
    arguments.number(is_input ? "In msg nelems" : "Out msg nelems",
                     *bytes / format_of(*collective.element).size);
  } else {
    arguments.number(is_input ? "input_bytes" : "output_bytes", bytes->base());
  }
}

// Keys are Kineto's. Source: pytorch/kineto, libkineto/src/output_json.cpp.
void append_collective(Arguments& arguments, const Timeline& timeline,
                       const Collective& collective) {
  const std::string_view word = collective.word.empty() && collective.op
                                    ? torch_word(*collective.op)
                                    : std::string_view(collective.word);
  if (!word.empty()) {
    arguments.text("Collective name", word);
  }
  append_buffer(arguments, collective, true);
  append_buffer(arguments, collective, false);
  if (collective.element) {
    arguments.text("dtype", format_of(*collective.element).torch);
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
  if (!group.ranks.empty()) {
    std::string ranks;
    for (const RankId rank : group.ranks) {
      fmt::format_to(std::back_inserter(ranks), "{}{}", ranks.empty() ? "[" : ", ", rank.value);
    }
    arguments.text("Process Group Ranks", ranks + "]");
  }
}

void append_span(std::string& out, const Timeline& timeline, const Span& span) {
  const Lane& lane = timeline.lane_of(span);
  const Label& label = timeline.label_of(span);
  fmt::format_to(std::back_inserter(out), R"({{"ph":"X","pid":{},"tid":{},"ts":)", lane.rank.value,
                 lane.stream.value);
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
void append_flow(std::string& out, const Timeline& timeline, const Launch& launch,
                 std::size_t number) {
  const auto append_end = [&](char phase, std::uint32_t at, std::string_view binding) {
    const Span& span = timeline.spans()[at];
    const Lane& lane = timeline.lane_of(span);
    fmt::format_to(std::back_inserter(out), R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":)", phase,
                   number, lane.rank.value, lane.stream.value);
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
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  append_metadata(out, timeline);
  for (const Span& span : timeline.spans()) {
    append_span(out, timeline, span);
    out += ",\n";
    pass_on(out, sink);
  }
  std::size_t number = 0;
  for (const Launch& launch : launches(timeline)) {
    append_flow(out, timeline, launch, ++number);
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
