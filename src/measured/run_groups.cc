#include "measured/run_groups.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.h"
#include "describe/layout/layout_text.h"

namespace sextant::measured {
namespace {

constexpr std::size_t kFewestPoints = 4;
constexpr std::size_t kFewestLayouts = 4;
constexpr std::ptrdiff_t kTop = 3;

double growth(const ScalingSeries& series, std::size_t i, double ScalingPoint::* value) {
  const auto cost = [&](const ScalingPoint& point) {
    return point.*value * (series.weak ? 1.0 : static_cast<double>(point.devices));
  };
  return cost(series.points[i]) / cost(series.points.front()) - 1.0;
}

std::string layout_without_dp(const describe::Job& job) {
  describe::Layout layout = job.layout;
  layout.dp = 0;
  layout.zero_group = layout.zero_group >= job.dp() ? 0 : layout.zero_group;
  return to_text(layout);
}

std::string series_name(const describe::Job& job) {
  const describe::Layout& layout = job.layout;
  const std::string shards = layout.zero_group > 0 && layout.zero_group < job.dp()
                                 ? fmt::format(" zero_group={}", layout.zero_group)
                                 : "";
  return fmt::format(
      "{}, {}, s={}, tp={} pp={} cp={} ep={} mbs={}{} on {}", job.model.name,
      describe::word_of<describe::Precision>(describe::kPrecisionWords, layout.precision),
      job.sequences.length, layout.tp, layout.pp, layout.cp, layout.ep, layout.mbs, shards,
      job.cluster.device.id);
}

struct SeriesKey {
  std::string all;  // everything that must be the same
  bool weak = true;
  std::int64_t batch = 0;  // strong: sequences; weak: sequences / devices in lowest terms
  std::int64_t devices = 0;
  auto operator<=>(const SeriesKey&) const = default;
};

SeriesKey series_key(const Row& row, const RunSubject& run, bool weak) {
  const describe::Job& job = *run.job;
  SeriesKey key;
  key.all =
      fmt::format("{}|{}|{}|{}|{}x{}|{}|{}|{}|{}", row.source, series_name(job), run.framework,
                  run.date, job.model.layer_count(), job.model.hidden, layout_without_dp(job),
                  job.sequences.length, static_cast<int>(job.workload), job.cluster.device.id);
  key.weak = weak;
  key.batch = job.global_batch;
  if (weak) {
    const std::int64_t common = std::gcd(job.global_batch, job.cluster.devices);
    key.batch = job.global_batch / common;
    key.devices = job.cluster.devices / common;
  }
  return key;
}

struct Draft {
  ScalingSeries series;
  std::map<std::int64_t, ScalingPoint> points;  // sums
};

void add_point(const Row& row, double predicted, const describe::Job& job, Draft& draft) {
  ScalingPoint& point = draft.points[job.cluster.devices];
  point.devices = job.cluster.devices;
  point.rows += 1;
  point.measured += row.measured;
  point.predicted += predicted;
}

struct Pair {
  double measured = 0.0;
  double predicted = 0.0;
};

bool best_is_in_top(const std::vector<Pair>& layouts) {
  const double best = std::ranges::min(layouts, {}, &Pair::measured).measured;
  return std::ranges::any_of(layouts, [&](const Pair& one) {
    return one.measured == best && std::ranges::count_if(layouts, [&one](const Pair& other) {
                                     return other.predicted < one.predicted;
                                   }) < kTop;
  });
}

}  // namespace

std::string run_system(const describe::Cluster& cluster) {
  return fmt::format("{}, {}", cluster.device.id,
                     cluster.domains() > 1 && cluster.slices == 1 ? cluster.fabric.id
                     : cluster.slices > 1                         ? "slices"
                                                                  : "one domain");
}

std::string run_configuration(const describe::Job& job) {
  return fmt::format("{}|{}x{}|{}|{}|{}|{}|{}|{}", job.model.name, job.model.layer_count(),
                     job.model.hidden, run_system(job.cluster), job.cluster.devices,
                     to_text(job.layout), job.sequences.length, job.global_batch,
                     static_cast<int>(job.workload));
}

std::string run_layout_class(const describe::Job& job) {
  const describe::Layout& layout = job.layout;
  if (layout.ep > 1) {
    return "ep";
  }
  if (layout.cp > 1) {
    return "cp";
  }
  if (layout.tp > 1 && layout.pp > 1) {
    return "tp+pp";
  }
  if (layout.pp > 1) {
    return "pp";
  }
  if (layout.tp > 1) {
    return "tp";
  }
  if (job.cluster.devices == 1) {
    return "one device";
  }
  return layout.zero == describe::Zero::kParameters ? "sharded dp" : "dp";
}

double ScalingSeries::measured_growth(std::size_t i) const {
  return growth(*this, i, &ScalingPoint::measured);
}

double ScalingSeries::predicted_growth(std::size_t i) const {
  return growth(*this, i, &ScalingPoint::predicted);
}

double ScalingSeries::difference() const {
  double sum = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    sum += std::abs(predicted_growth(i) - measured_growth(i));
  }
  return points.size() < 2 ? 0.0 : sum / static_cast<double>(points.size() - 1);
}

std::vector<ScalingSeries> scaling_series(const std::vector<Row>& rows,
                                          const ValidationReport& report) {
  std::map<SeriesKey, Draft> drafts;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const auto* run = std::get_if<RunSubject>(&rows[i].subject);
    const auto& predicted = report.rows[i].predicted_value;
    if (run == nullptr || !run->job || !predicted || rows[i].quantity != "step_time_s" ||
        rows[i].trust == Trust::kC || rows[i].measured <= 0.0) {
      continue;
    }
    for (const bool weak : {true, false}) {
      Draft& draft = drafts[series_key(rows[i], *run, weak)];
      draft.series = {rows[i].source, series_name(*run->job), weak, {}};
      add_point(rows[i], *predicted, *run->job, draft);
    }
  }
  std::vector<ScalingSeries> found;
  for (auto& [key, draft] : drafts) {
    if (draft.points.size() < kFewestPoints) {
      continue;
    }
    for (auto& [devices, point] : draft.points) {
      point.measured /= static_cast<double>(point.rows);
      point.predicted /= static_cast<double>(point.rows);
      draft.series.points.push_back(point);
    }
    found.push_back(std::move(draft.series));
  }
  return found;
}

std::map<std::string, double> best_in_predicted_top3(const std::vector<Row>& rows,
                                                     const ValidationReport& report) {
  std::map<std::pair<std::string, std::string>, std::vector<Pair>> groups;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const Row& row = rows[i];
    const auto& predicted = report.rows[i].predicted_value;
    if (predicted && row.quantity == "step_time_s" && row.trust != Trust::kC &&
        row.measured > 0.0 && !row.layout_group.empty()) {
      groups[{row.source, row.layout_group}].push_back({row.measured, *predicted});
    }
  }
  std::map<std::string, std::vector<double>> hits;
  for (const auto& [name, layouts] : groups) {
    if (layouts.size() >= kFewestLayouts) {
      hits[name.first].push_back(best_is_in_top(layouts) ? 1.0 : 0.0);
    }
  }
  std::map<std::string, double> shares;
  for (const auto& [source, own] : hits) {
    shares[source] = mean(own).value_or(0.0);
  }
  return shares;
}

}  // namespace sextant::measured
