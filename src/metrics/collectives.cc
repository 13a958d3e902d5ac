#include "metrics/collectives.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

std::vector<Spread> times_by_label(const View& view, const RankLanes& rank, const Steps& steps,
                                   const RankSteps& of_rank) {
  std::vector<Spread> times(view.traits.size());
  for (const LaneId lane : rank.has_device() ? rank.streams : rank.threads) {
    if (view.timeline().sum(lane, SpanKind::kCommunication).spans == 0) {
      continue;
    }
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t step = steps.step_of[view.number_of(span)];
      if (step != kNone && of_rank.steps[step].is_kept) {
        times[static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value)].add(
            span.duration_ns);
      }
    }
  }
  return times;
}

std::optional<BytesPerSecond> over(double bytes, std::int64_t time_ns) {
  return bytes > 0.0 && time_ns > 0
             ? std::optional(Bytes(bytes) / (static_cast<double>(time_ns) * 1_ns))
             : std::nullopt;
}

CollectiveRow row_of(const View& view, const Label& label, const Spread& time) {
  CollectiveRow row;
  row.time = time;
  if (label.collective) {
    row.op = label.collective->op;
    row.word = row.op ? std::string() : label.collective->word;
    if (label.collective->group) {
      const timeline::Group& group = view.timeline().group_of(*label.collective->group);
      row.ranks = group.size;
      if (!row.ranks && !group.ranks.empty()) {
        row.ranks = static_cast<std::int64_t>(group.ranks.size());
      }
    }
  }
  const double bytes = label.bytes ? label.bytes->base() : 0.0;
  if (bytes >= 1.0 && bytes < 0x1p62) {
    const auto whole = static_cast<std::uint64_t>(bytes);
    row.size_class = static_cast<std::int64_t>(std::bit_ceil(whole));
    row.bytes.add_product(whole, static_cast<std::uint64_t>(time.count));
    row.fastest = over(bytes, time.min_ns);
  }
  return row;
}

auto key_of(const CollectiveRow& row) {
  return std::tuple(row.op, row.word, row.ranks, row.size_class);
}

}  // namespace

std::optional<BytesPerSecond> CollectiveRow::algorithm_bandwidth() const {
  return over(bytes.value(), time.total_ns);
}

std::optional<BytesPerSecond> CollectiveRow::bus_bandwidth() const {
  const auto plain = algorithm_bandwidth();
  return plain && op && ranks && *ranks >= 1 ? std::optional(*plain * bus_share(*op, *ranks))
                                             : std::nullopt;
}

CollectiveRow& CollectiveRow::operator+=(const CollectiveRow& other) {
  time += other.time;
  bytes += other.bytes;
  fastest = std::max(fastest, other.fastest);
  return *this;
}

std::vector<CollectiveRow> folded(std::vector<CollectiveRow> rows) {
  std::map<decltype(key_of(rows.front())), CollectiveRow> by_key;
  for (CollectiveRow& row : rows) {
    const auto [at, is_new] = by_key.try_emplace(key_of(row), row);
    if (!is_new) {
      at->second += row;
    }
  }
  std::vector<CollectiveRow> table;
  for (auto& [key, row] : by_key) {
    table.push_back(std::move(row));
  }
  std::stable_sort(table.begin(), table.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.time.total_ns > b.time.total_ns;
  });
  return table;
}

std::vector<CollectiveRow> collective_table(const View& view, const RankLanes& rank,
                                            const Steps& steps, std::size_t rank_number) {
  const std::vector<Spread> times = times_by_label(view, rank, steps, steps.ranks[rank_number]);
  std::vector<CollectiveRow> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Label& label = view.timeline().labels()[i];
    if (times[i].count > 0 && label.kind == SpanKind::kCommunication) {
      rows.push_back(row_of(view, label, times[i]));
    }
  }
  return folded(std::move(rows));
}

}  // namespace sextant::metrics
