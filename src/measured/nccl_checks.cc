#include "measured/nccl_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sextant::measured {

namespace {

// Beyond rounding: programs that print the average of several threads' bandwidths.
constexpr double kSlack = 0.01;

struct Interval {
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
};

Interval overlap(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// busbw · time / bytes, between its roundings; sharper by busbw / algbw where that is not its
// definition already (all-gather and reduce-scatter before June 2020 printed busbw twice).
Interval factor_of(Bytes bytes, const NcclTiming& timing) {
  const auto at_least_zero = [](auto quantity) { return std::max(quantity, decltype(quantity)()); };
  const BytesPerSecond low = at_least_zero(timing.busbw - timing.busbw_rounding);
  const BytesPerSecond high = timing.busbw + timing.busbw_rounding;
  const Interval by_time{low * at_least_zero(timing.time - timing.time_rounding) / bytes,
                         high * (timing.time + timing.time_rounding) / bytes};
  const BytesPerSecond algbw_low = timing.algbw - timing.algbw_rounding;
  if (timing.algbw == timing.busbw || algbw_low <= 0_GBps) {
    return by_time;
  }
  const Interval sharper =
      overlap(by_time, {low / (timing.algbw + timing.algbw_rounding), high / algbw_low});
  return sharper.low <= sharper.high ? sharper : by_time;
}

template <typename Visit>
void for_each_timing(const std::vector<NcclLine>& lines, Visit visit) {
  for (const NcclLine& line : lines) {
    if (line.out_of_place) {
      visit(line.bytes, *line.out_of_place);
    }
    if (line.in_place) {
      visit(line.bytes, *line.in_place);
    }
  }
}

// What all lines allow, sharpest first; one that contradicts sharper ones has no say.
Interval factor_of_lines(const std::vector<NcclLine>& lines) {
  std::vector<Interval> all;
  for_each_timing(lines, [&](Bytes bytes, const NcclTiming& timing) {
    all.push_back(factor_of(bytes, timing));
  });
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.high - a.low, a.low) < std::pair(b.high - b.low, b.low);
  });
  Interval factor;
  for (const Interval& each : all) {
    const Interval both = overlap(factor, each);
    if (both.low <= both.high) {
      factor = both;
    }
  }
  return factor;
}

bool scales_with_ranks(CollectiveOp op) {
  return op != CollectiveOp::kSendReceive && op != CollectiveOp::kBroadcast;
}

// n of (n−1)/n = share.
double ranks_at(double share) {
  return share < 1.0 ? 1.0 / (1.0 - share) : std::numeric_limits<double>::infinity();
}

bool is_near(BytesPerSecond printed, BytesPerSecond rounding, BytesPerSecond expected,
             double time_error) {
  const BytesPerSecond off = printed < expected ? expected - printed : printed - expected;
  return off <= rounding + expected * (time_error + kSlack);
}

std::string contradiction_of(Bytes bytes, const NcclTiming& timing, std::optional<CollectiveOp> op,
                             std::optional<std::int64_t> ranks) {
  const double time_error = timing.time_rounding / timing.time;
  const BytesPerSecond rate = bytes / timing.time;
  // Where both bandwidths are one number it may hold a factor below 1 already: see factor_of.
  const bool may_be_less = timing.algbw == timing.busbw && timing.algbw <= rate;
  if (!may_be_less && !is_near(timing.algbw, timing.algbw_rounding, rate, time_error)) {
    return fmt::format("algbw {:.2f} GB/s is not bytes / time, {:.2f} GB/s", timing.algbw / 1_GBps,
                       rate / 1_GBps);
  }
  if (!op || (!ranks && scales_with_ranks(*op))) {
    return {};
  }
  const BytesPerSecond expected = rate * describe::bus_share(*op, ranks.value_or(1));
  if (is_near(timing.busbw, timing.busbw_rounding, expected, time_error)) {
    return {};
  }
  return fmt::format("busbw {:.2f} GB/s is not that of {} among {} ranks, {:.2f} GB/s",
                     timing.busbw / 1_GBps,
                     describe::word_of<CollectiveOp>(kCollectiveOpWords, *op), ranks.value_or(1),
                     expected / 1_GBps);
}

}  // namespace

std::optional<RanksFound> ranks_of_lines(CollectiveOp op, const std::vector<NcclLine>& lines) {
  if (!scales_with_ranks(op)) {
    return std::nullopt;
  }
  const Interval factor = factor_of_lines(lines);
  const double whole = op == CollectiveOp::kAllReduce ? 2.0 : 1.0;
  // A part in 10⁹ keeps the exact end points of short numbers inside.
  const double first = std::ceil(ranks_at(factor.low / whole) * (1.0 - 1e-9));
  const double last = std::floor(ranks_at(factor.high / whole) * (1.0 + 1e-9));
  const bool found = first >= 1.0 && first <= last && last <= static_cast<double>(kMostNcclRanks);
  if (!found) {
    return std::nullopt;
  }
  if (first == last) {
    return RanksFound{static_cast<std::int64_t>(first), true};
  }
  const double power = std::exp2(std::ceil(std::log2(first)));
  if (power <= last && 2.0 * power > last) {
    return RanksFound{static_cast<std::int64_t>(power), false};
  }
  return std::nullopt;
}

std::optional<CollectiveOp> op_of_lines(const std::vector<NcclLine>& lines) {
  const Interval factor = factor_of_lines(lines);
  const bool below_one = factor.high < 1.0 && factor.low > 0.0;
  const bool from_one = factor.low > 1.0 - kSlack / 2.0;
  const bool is_one = from_one && factor.high < 1.0 + kSlack / 2.0;
  const NcclLine& line = lines.front();
  const bool reduces = !line.redop.empty() && line.redop != "none";
  const bool rooted = line.root.value_or(-1) >= 0;
  if (reduces) {
    if (rooted || !(below_one || from_one)) {
      return std::nullopt;
    }
    return below_one ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
  }
  // All-to-all and send-receive cannot check their in-place results and print N/A there.
  const bool checked = line.out_of_place && line.out_of_place->errors && line.in_place;
  const bool in_place_unchecked = checked && !line.in_place->errors;
  if (is_one && rooted) {
    return CollectiveOp::kBroadcast;
  }
  if (is_one && in_place_unchecked) {
    return CollectiveOp::kSendReceive;
  }
  if (!below_one || rooted || !checked) {
    return std::nullopt;
  }
  return in_place_unchecked ? CollectiveOp::kAllToAll : CollectiveOp::kAllGather;
}

std::string contradiction(const NcclLine& line, std::optional<CollectiveOp> op,
                          std::optional<std::int64_t> ranks) {
  for (const auto& timing : {line.out_of_place, line.in_place}) {
    if (timing) {
      if (std::string found = contradiction_of(line.bytes, *timing, op, ranks); !found.empty()) {
        return found;
      }
    }
  }
  return {};
}

}  // namespace sextant::measured
