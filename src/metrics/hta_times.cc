#include "metrics/hta_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace sextant::metrics {
namespace {

using TypeFilter = std::function<bool(const HtaRow&)>;

// Touching ones are one; what rounding turned around alone counts less than nothing, as in HTA.
std::vector<HtaTimes> merged(const HtaRank& rank, const TypeFilter& counts) {
  std::vector<HtaTimes> times;
  for (const HtaRow& row : rank.rows) {
    if (counts(row)) {
      times.push_back(row.time);
    }
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const HtaTimes& a, const HtaTimes& b) { return a.start_us < b.start_us; });
  std::vector<HtaTimes> whole;
  for (const HtaTimes& time : times) {
    if (!whole.empty() && time.start_us <= whole.back().end_us) {
      whole.back().end_us = std::max(whole.back().end_us, time.end_us);
    } else {
      whole.push_back(time);
    }
  }
  return whole;
}

std::int64_t hta_length(const std::vector<HtaTimes>& times) {
  std::int64_t sum = 0;
  for (const HtaTimes& time : times) {
    sum += time.length_us();
  }
  return sum;
}

std::vector<HtaTimes> merged(const HtaRank& rank, HtaType type) {
  return merged(rank, [&](const HtaRow& row) { return row.type == type; });
}

constexpr std::array<HtaType, 3> kCounted{HtaType::kComputation, HtaType::kCommunication,
                                          HtaType::kMemory};
// Microseconds in which exactly the types of the bits run.
using TypeMasks = std::array<std::int64_t, 8>;

TypeMasks type_masks(const HtaRank& rank) {
  struct TypeEdge {
    std::int64_t at_us = 0;
    std::size_t type = 0;
    int change = 0;
  };
  std::vector<TypeEdge> edges;
  for (std::size_t i = 0; i < kCounted.size(); ++i) {
    for (const HtaTimes& time : merged(rank, kCounted[i])) {
      edges.push_back({time.start_us, i, 1});
      edges.push_back({time.end_us, i, -1});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const TypeEdge& a, const TypeEdge& b) {
    return std::tuple(a.at_us, a.type, a.change) < std::tuple(b.at_us, b.type, b.change);
  });
  TypeMasks masks{};
  std::array<int, 3> running{};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    running[edges[i].type] += edges[i].change;
    std::size_t mask = 0;
    for (std::size_t type = 0; type < running.size(); ++type) {
      mask |= running[type] > 0 ? std::size_t{1} << type : 0;
    }
    masks[mask] += edges[i + 1].at_us - edges[i].at_us;
  }
  return masks;
}

std::string words_of(std::size_t mask) {
  constexpr std::array<std::string_view, 3> kWords{"COMPUTATION", "COMMUNICATION", "MEMORY"};
  std::string words;
  for (std::size_t type = 0; type < kWords.size(); ++type) {
    if ((mask >> type & 1U) != 0) {
      words += (words.empty() ? "" : " overlapping ") + std::string(kWords[type]);
    }
  }
  return words;
}

}  // namespace

std::optional<HtaTemporal> hta_temporal(const HtaRank& rank) {
  if (rank.rows.empty()) {
    return std::nullopt;
  }
  HtaTimes extent = rank.rows.front().time;
  for (const HtaRow& row : rank.rows) {
    extent.start_us = std::min(extent.start_us, row.time.start_us);
    extent.end_us = std::max(extent.end_us, row.time.end_us);
  }
  HtaTemporal answer{.kernel_us = extent.length_us()};
  answer.idle_us = answer.kernel_us - hta_length(merged(rank, [](const HtaRow&) { return true; }));
  answer.compute_us = hta_length(merged(rank, HtaType::kComputation));
  answer.non_compute_us = answer.kernel_us - answer.compute_us - answer.idle_us;
  return answer;
}

std::optional<double> hta_overlap(const HtaRank& rank) {
  const std::int64_t communication = hta_length(merged(rank, HtaType::kCommunication));
  if (communication == 0) {
    return std::nullopt;
  }
  constexpr std::size_t kBoth = 3;
  constexpr std::size_t kAllThree = 7;
  const TypeMasks masks = type_masks(rank);
  return 100.0 * static_cast<double>(masks[kBoth] + masks[kAllThree]) /
         static_cast<double>(communication);
}

std::vector<HtaTypeRow> hta_kernel_types(const std::vector<HtaRank>& ranks) {
  TypeMasks sums{};
  std::int64_t total = 0;
  for (const HtaRank& rank : ranks) {
    const TypeMasks masks = type_masks(rank);
    for (std::size_t mask = 1; mask < masks.size(); ++mask) {
      sums[mask] += masks[mask];
      total += masks[mask];
    }
  }
  std::vector<HtaTypeRow> rows;
  for (std::size_t mask = 1; mask < sums.size(); ++mask) {
    if (sums[mask] != 0) {
      rows.push_back({words_of(mask), sums[mask],
                      100.0 * static_cast<double>(sums[mask]) / static_cast<double>(total)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaTypeRow& a, const HtaTypeRow& b) { return a.sum_us > b.sum_us; });
  return rows;
}

std::vector<HtaTypeRow> hta_types_joined(std::span<const HtaTypeRow> rows) {
  std::map<std::string, std::int64_t> sums;
  std::int64_t total = 0;
  for (const HtaTypeRow& row : rows) {
    sums[row.types] += row.sum_us;
    total += row.sum_us;
  }
  std::vector<HtaTypeRow> joined;
  for (const auto& [types, sum] : sums) {
    const double share = total == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(total);
    joined.push_back({types, sum, 100.0 * share});
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const HtaTypeRow& a, const HtaTypeRow& b) { return a.sum_us > b.sum_us; });
  return joined;
}

std::vector<HtaKernelRow> hta_kernels(const View& view, const HtaRank& rank) {
  struct Sums {
    HtaKernelRow row;
    double squares = 0.0;
  };
  std::map<std::string, Sums> by_name;
  for (const HtaRow& row : rank.rows) {
    if (!row.is_work) {
      continue;
    }
    const std::string& name = view.timeline().labels()[row.label].name;
    const std::int64_t time = row.time.length_us();
    Sums& sums = by_name[name];
    sums.row.name = name;
    sums.row.type = row.type;
    sums.row.min_us = sums.row.count == 0 ? time : std::min(sums.row.min_us, time);
    sums.row.max_us = sums.row.count == 0 ? time : std::max(sums.row.max_us, time);
    sums.row.count += 1;
    sums.row.sum_us += time;
    sums.squares += static_cast<double>(time) * static_cast<double>(time);
  }
  std::vector<HtaKernelRow> rows;
  for (auto& [name, sums] : by_name) {
    const auto count = static_cast<double>(sums.row.count);
    sums.row.mean_us = static_cast<double>(sums.row.sum_us) / count;
    if (sums.row.count > 1) {
      const double spread = sums.squares - count * sums.row.mean_us * sums.row.mean_us;
      sums.row.deviation_us = std::sqrt(std::max(0.0, spread) / (count - 1));
    }
    rows.push_back(std::move(sums.row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const HtaKernelRow& a, const HtaKernelRow& b) {
    return a.sum_us > b.sum_us;
  });
  return rows;
}

}  // namespace sextant::metrics
