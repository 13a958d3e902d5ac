// The rows on which HTA (Meta's HolisticTraceAnalysis 0.6.1) reckons, for those who compare with it
// (`--hta-compatible`): whole microseconds where any time has a fraction (starts rounded up, ends
// down, in double precision), without the last of two or more profiler steps, types by HTA's own
// patterns of names. Its known defects that change numbers are in docs/metrics.md; these functions
// have the rounding, which is its definition, and none of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metrics/view.h"

namespace sextant::metrics {

enum class HtaType : std::uint8_t { kComputation, kCommunication, kMemory, kOther };
HtaType hta_type(std::string_view name);

struct HtaTimes {
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;  // before the start, where rounding made it so
  [[nodiscard]] std::int64_t length_us() const { return end_us - start_us; }
};

// Something that has a stream.
struct HtaRow {
  HtaTimes time;
  StreamId stream;
  HtaType type = HtaType::kOther;
  bool is_work = true;  // kernel, copy or set; else a wait between streams
  std::uint32_t label = 0;
  std::optional<HtaTimes> call;  // that launched it
  bool is_queued = false;        // by one of the calls whose queue HTA counts
  bool is_timed = false;         // by one of the four whose delay it counts
};

struct HtaRank {
  RankId rank;
  std::vector<HtaRow> rows;        // by stream, then start
  std::int64_t steps_dropped = 0;  // the last profiler step: 0 or 1
  HtaTimes extent;                 // of everything recorded, host and device
};

std::vector<HtaRank> hta_rows(const View& view);

}  // namespace sextant::metrics
