#include "timeline/chrome_trace.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

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
  if (label.bytes || label.flops) {
    out += R"(,"args":{)";
    if (label.bytes) {
      fmt::format_to(std::back_inserter(out), R"("bytes":{:.0f}{})", label.bytes->base(),
                     label.flops ? "," : "");
    }
    if (label.flops) {
      fmt::format_to(std::back_inserter(out), R"("flops":{:.0f})", label.flops->base());
    }
    out += '}';
  }
  out += '}';
}

}  // namespace

void write_chrome_trace(const Timeline& timeline, const Sink& sink) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  append_metadata(out, timeline);
  for (const Span& span : timeline.spans()) {
    append_span(out, timeline, span);
    out += ",\n";
    if (out.size() >= kBlock) {
      sink(out);
      out.clear();
    }
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
