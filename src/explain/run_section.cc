#include "explain/run_section.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/percent.h"
#include "explain/text_table.h"
#include "measured/run_targets.h"

namespace sextant::explain {
namespace {

using measured::RunScore;
using measured::RunScores;

std::string points(double share) {
  return fmt::format("{:.1f}", share * 100.0);
}

std::string yes(bool holds) {
  return holds ? "yes" : "**no**";
}

Table target_table(const RunScores& scores) {
  Table table{{{"runs"},
               {"rows", true},
               {"mean error", true},
               {"must hold", true},
               {"holds"},
               {"median", true},
               {"bias", true}},
              {}};
  for (const measured::RunTarget& one : scores.targets) {
    table.rows.push_back({one.score.name, part_of_all(one.score.rows, one.score.refused),
                          percent(one.score.mean), fmt::format("{:.0f} %", one.limit * 100.0),
                          yes(one.holds()), percent(one.score.median),
                          signed_percent(one.score.bias)});
  }
  const RunScore& all = scores.all;
  table.rows.push_back({"all: median", part_of_all(all.rows, all.refused), percent(all.median),
                        fmt::format("{:.0f} %", measured::kRunMedianLimit * 100.0),
                        yes(all.median && *all.median <= measured::kRunMedianLimit), "-",
                        signed_percent(all.bias)});
  return table;
}

Table run_score_table(const std::string& what, const std::vector<RunScore>& scores) {
  Table table{{{what},
               {"rows", true},
               {"mean error", true},
               {"median", true},
               {"p90", true},
               {"bias", true},
               {"in interval", true}},
              {}};
  for (const RunScore& one : scores) {
    table.rows.push_back({one.name, part_of_all(one.rows, one.refused), percent(one.mean),
                          percent(one.median), percent(one.p90), signed_percent(one.bias),
                          percent(one.coverage)});
  }
  return table;
}

// Coverage of one source by intervals that its rows did not make.
std::optional<double> left_out_of(const RunChecks& checks, std::string_view source) {
  for (const calibrate::SpreadCoverage& one : checks.coverage) {
    if (one.source == source) {
      return one.unseen;
    }
  }
  return std::nullopt;
}

Table coverage_table(const RunScores& scores, const RunChecks& checks) {
  Table table{{{"source"}, {"rows", true}, {"in interval", true}, {"left out", true}, {"holds"}},
              {}};
  const auto add = [&](const RunScore& one) {
    const bool asked = one.name == "all" || one.rows >= measured::kCoverageRows;
    const bool holds = one.coverage && *one.coverage >= measured::kCoverageLeast &&
                       *one.coverage <= measured::kCoverageMost;
    table.rows.push_back({one.name, with_thousands(one.rows), percent(one.coverage),
                          percent(left_out_of(checks, one.name)), asked ? yes(holds) : "-"});
  };
  for (const RunScore& one : scores.sources) {
    if (one.rows > 0) {
      add(one);
    }
  }
  add(scores.all);
  return table;
}

std::string halves_text(const RunChecks& checks) {
  if (checks.halves.empty()) {
    return {};
  }
  Table table{{{"half"},
               {"systems", true},
               {"rows", true},
               {"fit on all", true},
               {"fit on it", true},
               {"fit on the other", true},
               {"in interval", true},
               {"left out", true},
               {"ratio", true},
               {"holds"}},
              {}};
  Table constants{{{"constant"}}, {}};
  for (std::size_t i = 0; i < checks.halves.size(); ++i) {
    const calibrate::RunHalf& half = checks.halves[i];
    const std::string name = i == 0 ? "first" : "second";
    const double ratio = half.fitted > 0.0 ? half.left_out / half.fitted : 0.0;
    table.rows.push_back({name, std::to_string(half.systems), with_thousands(half.rows),
                          percent(half.now), percent(half.fitted), percent(half.left_out),
                          percent(half.covered), percent(half.covered_left_out),
                          fmt::format("{:.2f}", ratio), yes(ratio <= measured::kRunHalvesLimit)});
    constants.columns.push_back({"fit on the " + name, true});
    for (std::size_t key = 0; key < half.constants.size(); ++key) {
      if (i == 0) {
        constants.rows.push_back({half.constants[key].first});
      }
      constants.rows[key].push_back(half.constants[key].second);
    }
  }
  return fmt::format(
      "\n### Systems left out of the fit\n\nThe constants of `data/step.toml` and the intervals, "
      "fitted on every other system (device and network, by name) from the middle of their ranges, "
      "score the rest; means over sources, a row counting at most 1. Must hold: left out at most "
      "{} times fitted.\n{}{}",
      measured::kRunHalvesLimit, markdown_block(table), markdown_block(constants));
}

std::string growth_text(const measured::ScalingSeries& series, bool measured_ones) {
  std::string text;
  for (std::size_t i = 1; i < series.points.size(); ++i) {
    text += fmt::format(
        "{}{:+.1f}", i == 1 ? "" : " ",
        100.0 * (measured_ones ? series.measured_growth(i) : series.predicted_growth(i)));
  }
  return text;
}

std::string scaling_text(const RunScores& scores) {
  if (scores.scaling.empty()) {
    return {};
  }
  Table table{{{"source"},
               {"series"},
               {"kind"},
               {"devices"},
               {"measured growth"},
               {"predicted growth"},
               {"difference", true}},
              {}};
  for (const measured::ScalingSeries& series : scores.scaling) {
    std::string devices;
    for (const measured::ScalingPoint& point : series.points) {
      devices += fmt::format("{}{}", devices.empty() ? "" : " ", point.devices);
    }
    table.rows.push_back({series.source, series.name, series.weak ? "weak" : "strong", devices,
                          growth_text(series, true), growth_text(series, false),
                          points(series.difference())});
  }
  const std::optional<double> mean = measured::mean_difference(scores);
  table.rows.push_back({"mean", "", "", "", "", "", mean ? points(*mean) : "-"});
  return fmt::format(
      "\n### Scaling\n\nOne job on more and more devices: source, framework and its version, "
      "model, "
      "sequence, device and layout the same but for dp, at least four device counts. Growth of the "
      "step over that of the fewest devices, in percent (strong scaling: of devices times step); "
      "the difference is the mean distance of predicted from measured growth, in points. Must "
      "hold: {} on average ({}).\n{}",
      points(measured::kScalingLimit), yes(mean && *mean <= measured::kScalingLimit),
      markdown_block(table));
}

std::string ranking_text(const RunScores& scores) {
  if (scores.rankings.empty()) {
    return {};
  }
  Table table{{{"source"},
               {"groups", true},
               {"Kendall", true},
               {"regret", true},
               {"best in predicted top 3", true}},
              {}};
  for (const measured::ValidationSummary& one : scores.rankings) {
    const auto top3 = scores.top3.find(one.source);
    table.rows.push_back({one.source, std::to_string(one.groups), correlation(one.kendall),
                          percent(one.top1_regret),
                          top3 == scores.top3.end() ? "-" : percent(top3->second)});
  }
  const std::optional<double> kendall = measured::mean_kendall(scores);
  const std::optional<double> regret = measured::mean_regret(scores);
  table.rows.push_back({"mean over sources", "", correlation(kendall), percent(regret),
                        percent(measured::mean_top3(scores))});
  return fmt::format(
      "\n### Ranking of layouts\n\nGroups of at least four rows with the same source, date, "
      "framework and its version, model, sequence, precision, workload, device, number of devices "
      "and global batch: they differ in layout alone. Kendall's tau-b of predicted against "
      "measured order; regret: what the layout predicted fastest costs over the one measured "
      "fastest; best in predicted top 3: how often the one measured fastest is among the three "
      "predicted fastest. Must hold over sources: {} ({}) and {:.0f} % ({}).\n{}",
      measured::kKendallLimit, yes(kendall && *kendall >= measured::kKendallLimit),
      100.0 * measured::kRegretLimit, yes(regret && *regret <= measured::kRegretLimit),
      markdown_block(table));
}

std::string assumed_text(const RunScores& scores) {
  constexpr std::int64_t kFewest = 5;
  Table table{{{"inferred"}, {"rows", true}, {"mean error with", true}, {"without", true}}, {}};
  for (const measured::AssumedScore& one : scores.assumed) {
    if (one.rows >= kFewest) {
      table.rows.push_back(
          {one.fact, with_thousands(one.rows), percent(one.with), percent(one.without)});
    }
  }
  return fmt::format(
      "\n### Inferred facts\n\nWhat rows leave open and a rule fills, where {} scored rows or more "
      "have it; \"without\" is of the other rows of the same sources.\n{}",
      kFewest, markdown_block(table));
}

// Where the sources are that are covered worst stands in the table; what must hold is of their
// mean.
std::string differences_text(const RunChecks& checks) {
  if (checks.differences.empty()) {
    return {};
  }
  Table table{{{"source"},
               {"pairs", true},
               {"with features of its own", true},
               {"inside", true},
               {"inside, left out", true},
               {"median width", true}},
              {}};
  for (const calibrate::DifferenceCoverage& one : checks.differences) {
    table.rows.push_back({one.source, with_thousands(one.pairs), with_thousands(one.outside),
                          percent(one.seen), percent(one.left_out),
                          fmt::format("/ {0:.2f} … × {0:.2f}", one.width)});
  }
  const double covered = calibrate::mean_left_out(checks.differences);
  return fmt::format(
      "\n### Differences\n\nPairs of rows of one source, model, machine, framework and workload: "
      "the measured ratio of their speeds against the predicted one and its interval "
      "(`data/step_difference.toml`), which holds eight of ten. Left out: the interval has not "
      "seen the source. Of sources of {} pairs and more the mean is {:.1f} % (must hold: {:.0f} to "
      "{:.0f} %, {}).\n{}",
      calibrate::kScoredPairs, 100.0 * covered, 100.0 * measured::kCoverageLeast,
      100.0 * measured::kCoverageMost,
      yes(measured::kCoverageLeast <= covered && covered <= measured::kCoverageMost),
      markdown_block(table));
}

}  // namespace

std::string run_section(const RunScores& scores, const RunChecks& checks) {
  if (scores.all.rows == 0) {
    return {};
  }
  const double share = scores.stated == 0 ? 0.0
                                          : static_cast<double>(scores.stated_predicted) /
                                                static_cast<double>(scores.stated);
  std::string text = fmt::format(
      "## Steps of runs\n\nStep times of trust A and B. Of {} rows that state model shape, layout "
      "and batch {} are predicted: {:.1f} % (must hold: {:.0f} %, {}). Where some are refused, "
      "rows are scored ones of all.\n{}",
      with_thousands(scores.stated), with_thousands(scores.stated_predicted), 100.0 * share,
      100.0 * measured::kRunPredictedLimit, yes(share >= measured::kRunPredictedLimit),
      markdown_block(target_table(scores)));
  text += markdown_block(run_score_table("device", scores.devices));
  text += markdown_block(run_score_table("framework", scores.frameworks));
  text += markdown_block(run_score_table("layout", scores.layouts));
  text += fmt::format(
      "\n### Intervals\n\nAn interval holds eight of ten measured steps of its class of job "
      "(`data/step_spread.toml`). Must hold: {:.0f} to {:.0f} % in every source of {} rows and "
      "more. Left out: each third of the configurations by intervals fitted on the other "
      "two.\n{}{}",
      100.0 * measured::kCoverageLeast, 100.0 * measured::kCoverageMost, measured::kCoverageRows,
      markdown_block(coverage_table(scores, checks)),
      markdown_block(run_score_table("class", scores.classes)));
  text += differences_text(checks);
  text += halves_text(checks);
  text += scaling_text(scores);
  text += ranking_text(scores);
  text += assumed_text(scores);
  return text;
}

}  // namespace sextant::explain
