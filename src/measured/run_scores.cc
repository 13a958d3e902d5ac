#include "measured/run_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"
#include "measured/row_tools.h"
#include "measured/run_targets.h"

namespace sextant::measured {
namespace {

struct Sums {
  std::vector<double> errors;
  std::vector<double> inside;
  std::int64_t refused = 0;
};
using ByName = std::map<std::string, Sums>;

void add_row(const ValidatedRow& row, Sums& sums) {
  if (!row.predicted) {
    ++sums.refused;
    return;
  }
  sums.errors.push_back(row.error.value_or(0.0));
  if (row.interval) {
    const auto& [low, high] = *row.interval;
    sums.inside.push_back(low <= row.measured_value && row.measured_value <= high ? 1.0 : 0.0);
  }
}

RunScore run_score(std::string name, const Sums& sums) {
  std::vector<double> sizes;
  sizes.reserve(sums.errors.size());
  for (const double error : sums.errors) {
    sizes.push_back(std::abs(error));
  }
  return {std::move(name),   static_cast<std::int64_t>(sizes.size()),
          sums.refused,      sextant::mean(sizes),
          median(sizes),     quantile(sizes, 0.9),
          mean(sums.errors), mean(sums.inside)};
}

std::vector<RunScore> scores_by_name(const ByName& all) {
  std::vector<RunScore> scores;
  for (const auto& [name, sums] : all) {
    scores.push_back(run_score(name, sums));
  }
  return scores;
}

// Source: Korthikanti et al. 2022, arXiv:2205.05198, tables 4 and 5: eight rows of the table.
bool is_korthikanti(std::string_view id) {
  return id >= "MEG-051" && id <= "MEG-058" && id.size() == 7;
}

bool is_in(const RunLimit& limit, const Row& row) {
  if (!limit.source.empty() && row.source != limit.source) {
    return false;
  }
  const auto& run = std::get<RunSubject>(row.subject);
  switch (limit.part) {
    case RunPart::kAll:
      return true;
    case RunPart::kDense:
      return run.job && !has_experts(run.job->model);
    case RunPart::kExperts:
      return run.job && has_experts(run.job->model);
    case RunPart::kAmd:
      return run.job && run.job->cluster.device.vendor == describe::Vendor::kAmd;
    case RunPart::kSelectiveRecompute:
      return is_korthikanti(row.id);
  }
  return false;
}

// Whether the row said enough to be predicted.
bool states_all(const ValidatedRow& row) {
  return row.predicted ||
         (!contains(row.reason, "not stated") && !contains(row.reason, "unstated"));
}

struct Split {
  ByName sources;
  ByName devices;
  ByName frameworks;
  ByName layouts;
  ByName classes;
};

void add_by_name(const Row& row, const ValidatedRow& scored, const describe::StepSpreads& spreads,
                 Split& split) {
  add_row(scored, split.sources[row.source]);
  const auto& run = std::get<RunSubject>(row.subject);
  if (!run.job) {
    return;
  }
  const describe::Job& job = *run.job;
  add_row(scored, split.devices[job.cluster.device.id]);
  add_row(scored, split.frameworks[std::string(describe::word_of<describe::Framework>(
                      describe::kFrameworkWords, job.framework))]);
  add_row(scored, split.layouts[run_layout_class(job)]);
  add_row(scored, split.classes[spreads.of(job).name]);
}

struct Assumed {
  std::vector<double> with;
  std::set<std::string> sources;
};

double size_of(const ValidatedRow& row) {
  return std::abs(row.error.value_or(0.0));
}

std::vector<AssumedScore> assumed_scores(const std::vector<const ValidatedRow*>& scored) {
  std::map<std::string, Assumed> facts;
  std::map<std::string, std::pair<double, std::int64_t>> totals;  // by source: sum, rows
  std::map<std::pair<std::string, std::string>, std::pair<double, std::int64_t>> of_fact;
  for (const ValidatedRow* row : scored) {
    auto& [sum, rows] = totals[row->source];
    sum += size_of(*row);
    ++rows;
    std::set<std::string> shapes;
    for (const describe::Assumption& one : row->assumed) {
      shapes.insert(fact_of(one));
    }
    for (const std::string& shape : shapes) {
      facts[shape].with.push_back(size_of(*row));
      facts[shape].sources.insert(row->source);
      auto& [own, count] = of_fact[{shape, row->source}];
      own += size_of(*row);
      ++count;
    }
  }
  std::vector<AssumedScore> scores;
  for (const auto& [fact, found] : facts) {
    double others = 0.0;
    std::int64_t rows = 0;
    for (const std::string& source : found.sources) {
      others += totals[source].first - of_fact[{fact, source}].first;
      rows += totals[source].second - of_fact[{fact, source}].second;
    }
    AssumedScore score{fact, static_cast<std::int64_t>(found.with.size()), mean(found.with), {}};
    if (rows > 0) {
      score.without = others / static_cast<double>(rows);
    }
    scores.push_back(std::move(score));
  }
  std::ranges::sort(scores, [](const AssumedScore& a, const AssumedScore& b) {
    return std::tie(b.rows, a.fact) < std::tie(a.rows, b.fact);
  });
  return scores;
}

std::optional<double> mean_of(const std::vector<ValidationSummary>& rankings,
                              std::optional<double> ValidationSummary::* value) {
  std::vector<double> values;
  for (const ValidationSummary& one : rankings) {
    if (const std::optional<double>& known = one.*value) {
      values.push_back(*known);
    }
  }
  return mean(values);
}

bool is_scored(const Row& row) {
  return std::holds_alternative<RunSubject>(row.subject) && row.quantity == "step_time_s" &&
         row.trust != Trust::kC;
}

}  // namespace

std::string fact_of(const describe::Assumption& assumption) {
  return describe::to_text(describe::Assumption{
      assumption.key, without_numbers(assumption.value), without_numbers(assumption.why), {}});
}

std::string without_numbers(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      shape += c;
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
  return shape;
}

RunScores run_scores(const std::vector<Row>& rows, const ValidationReport& report,
                     const describe::StepSpreads& spreads) {
  RunScores scores;
  Sums all;
  Split split;
  std::vector<Sums> targets(kRunLimits.size());
  std::vector<const ValidatedRow*> predicted;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const ValidatedRow& scored = report.rows[i];
    if (!is_scored(rows[i])) {
      continue;
    }
    add_row(scored, all);
    add_by_name(rows[i], scored, spreads, split);
    for (std::size_t at = 0; at < kRunLimits.size(); ++at) {
      if (is_in(kRunLimits[at], rows[i])) {
        add_row(scored, targets[at]);
      }
    }
    scores.stated += states_all(scored) ? 1 : 0;
    scores.stated_predicted += scored.predicted ? 1 : 0;
    if (scored.predicted) {
      predicted.push_back(&scored);
    }
  }
  scores.all = run_score("all", all);
  for (std::size_t at = 0; at < kRunLimits.size(); ++at) {
    if (!targets[at].errors.empty()) {
      scores.targets.push_back(
          {run_score(std::string(kRunLimits[at].name), targets[at]), kRunLimits[at].mean});
    }
  }
  scores.sources = scores_by_name(split.sources);
  scores.devices = scores_by_name(split.devices);
  scores.frameworks = scores_by_name(split.frameworks);
  scores.layouts = scores_by_name(split.layouts);
  scores.classes = scores_by_name(split.classes);
  scores.assumed = assumed_scores(predicted);
  scores.scaling = scaling_series(rows, report);
  scores.top3 = best_in_predicted_top3(rows, report);
  for (const ValidationSummary& summary : report.summary) {
    if (summary.quantity == "step_time_s" && summary.groups > 0) {
      scores.rankings.push_back(summary);
    }
  }
  return scores;
}

std::optional<double> mean_kendall(const RunScores& scores) {
  return mean_of(scores.rankings, &ValidationSummary::kendall);
}

std::optional<double> mean_regret(const RunScores& scores) {
  return mean_of(scores.rankings, &ValidationSummary::top1_regret);
}

std::optional<double> mean_top3(const RunScores& scores) {
  std::vector<double> values;
  for (const auto& [source, share] : scores.top3) {
    values.push_back(share);
  }
  return mean(values);
}

std::optional<double> mean_difference(const RunScores& scores) {
  std::vector<double> values;
  for (const ScalingSeries& series : scores.scaling) {
    values.push_back(series.difference());
  }
  return mean(values);
}

}  // namespace sextant::measured
