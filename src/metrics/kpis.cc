#include "metrics/kpis.h"

#include <algorithm>

#include "base/integers.h"

namespace sextant::metrics {
namespace {

Seconds seconds_of(std::int64_t ns) {
  return as_double(ns) * 1_ns;
}

template <typename Amount, typename Rate>
std::optional<double> utilisation(std::optional<Amount> amount, std::optional<Rate> peak,
                                  Seconds time) {
  return amount && peak && peak->base() > 0.0 && time > Seconds()
             ? std::optional(*amount / *peak / time)
             : std::nullopt;
}

bool says_flops(const OperatorRow& row) {
  return row.time.count > 0 && row.stated_flops == row.time.count;
}
bool says_bytes(const OperatorRow& row) {
  return row.time.count > 0 && row.stated_bytes == row.time.count;
}

OperatorRoofline roofline_of(const OperatorRow& row, const DevicePeaks& peaks) {
  OperatorRoofline answer;
  answer.name = row.name;
  answer.category = row.category;
  answer.occurrences = row.time.count;
  answer.total = seconds_of(row.time.total_ns);
  std::optional<Seconds> compute;
  std::optional<Seconds> memory;
  if (says_flops(row) && answer.total > Seconds()) {
    answer.rate = Flops(row.flops.value()) / answer.total;
    if (peaks.compute) {
      compute = Flops(row.flops.value()) / *peaks.compute;
    }
  }
  if (says_bytes(row) && answer.total > Seconds()) {
    answer.bandwidth = Bytes(row.bytes.value()) / answer.total;
    if (peaks.memory) {
      memory = Bytes(row.bytes.value()) / *peaks.memory;
    }
  }
  if (answer.rate && answer.bandwidth && row.bytes.value() > 0.0) {
    answer.intensity = Flops(row.flops.value()) / Bytes(row.bytes.value());
  }
  // One roof alone bounds nothing: the other might be nearer.
  if (compute && memory) {
    answer.bound = *compute >= *memory ? OperatorBound::kCompute : OperatorBound::kMemory;
    // Faster than memory can be: the bytes came from the chip itself.
    if (answer.bound == OperatorBound::kMemory && *memory > answer.total && peaks.on_chip) {
      answer.bound = OperatorBound::kOnChip;
      memory = Bytes(row.bytes.value()) / *peaks.on_chip;
    }
    answer.ideal = std::max(*compute, *memory);
    answer.efficiency = *answer.ideal / answer.total;
    answer.wasted = std::max(Seconds(), answer.total - *answer.ideal);
  }
  return answer;
}

struct AllReduces {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t standard_ns = 0;  // of all operations that have a name
};

AllReduces all_reduces(const std::vector<CollectiveRow>& rows) {
  AllReduces sum;
  for (const CollectiveRow& row : rows) {
    sum.standard_ns += row.op ? row.time.total_ns : 0;
    if (row.op == CollectiveOp::kAllReduce) {
      sum.count += row.time.count;
      sum.total_ns += row.time.total_ns;
    }
  }
  return sum;
}

}  // namespace

std::optional<Kpis> kpis(const RankMeasures& rank, const DevicePeaks& peaks,
                         std::optional<Flops> model_flops) {
  return kpis(totals(rank), rank.operators, rank.collectives, peaks, model_flops);
}

std::optional<Kpis> kpis(const RankTotals& sum, const std::vector<OperatorRow>& operators,
                         const std::vector<CollectiveRow>& collectives, const DevicePeaks& peaks,
                         std::optional<Flops> model_flops) {
  const Seconds all = seconds_of(sum.time.total_ns());
  if (sum.steps == 0 || all <= Seconds()) {
    return std::nullopt;
  }
  const double steps = as_double(sum.steps);
  Kpis answer;
  answer.step = all / steps;
  answer.busy = seconds_of(sum.time.busy_ns()) / steps;
  answer.duty_cycle = answer.busy / answer.step;
  if (sum.flops.value() > 0.0) {
    answer.flops_utilisation =
        utilisation(std::optional(Flops(sum.flops.value())), peaks.compute, all);
  }
  Bytes moved;
  Seconds ideal;
  bool any_ideal = false;
  for (const OperatorRow& row : operators) {
    moved += says_bytes(row) ? Bytes(row.bytes.value()) : Bytes();
    const OperatorRoofline roofline = roofline_of(row, peaks);
    any_ideal |= roofline.ideal.has_value();
    ideal += std::min(roofline.ideal.value_or(roofline.total), roofline.total);
  }
  if (moved > Bytes()) {
    answer.memory_utilisation = utilisation(std::optional(moved), peaks.memory, all);
  }
  if (any_ideal) {
    answer.goodput = std::min(1.0, ideal / all);
  }
  answer.mfu = utilisation(model_flops, peaks.compute, answer.step);
  const AllReduces reduces = all_reduces(collectives);
  if (reduces.count > 0) {
    answer.mean_all_reduce = seconds_of(reduces.total_ns) / as_double(reduces.count);
    answer.all_reduce_share = *answer.mean_all_reduce / answer.step;
  }
  answer.standard_communication_share = seconds_of(reduces.standard_ns) / all;
  answer.communication_share = seconds_of(sum.time.communication_ns) / all;
  answer.exposed_share = seconds_of(sum.time.exposed_communication_ns) / all;
  return answer;
}

std::string_view name_of(OperatorBound bound) {
  constexpr std::array<std::string_view, 4> kNames{"compute", "memory", "on_chip", "unknown"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::vector<OperatorRoofline> top_operators(const RankMeasures& rank, const DevicePeaks& peaks,
                                            std::size_t most) {
  return top_operators(rank.operators, peaks, most);
}

std::vector<OperatorRoofline> top_operators(const std::vector<OperatorRow>& operators,
                                            const DevicePeaks& peaks, std::size_t most) {
  Seconds all;
  for (const OperatorRow& row : operators) {
    all += seconds_of(row.time.total_ns);
  }
  std::vector<OperatorRoofline> top;
  for (std::size_t i = 0; i < std::min(most, operators.size()); ++i) {
    top.push_back(roofline_of(operators[i], peaks));
    top.back().share = all > Seconds() ? top.back().total / all : 0.0;
  }
  return top;
}

}  // namespace sextant::metrics
