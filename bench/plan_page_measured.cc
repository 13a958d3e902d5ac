// What the rule's and the search's favourite really took, where both were measured.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.h"
#include "layout_groups.h"
#include "measured/table.h"
#include "plan_page.h"
#include "validate/predictor.h"

namespace sextant::bench {
namespace {

using measured::Row;

struct Run {
  const describe::Job* job = nullptr;
  double measured = 0.0;  // in the table's unit
  double predicted = 0.0;
};

const describe::Job* measured_job(const Row& row) {
  if (const auto* run = std::get_if<measured::RunSubject>(&row.subject)) {
    return run->job.get();
  }
  if (const auto* step = std::get_if<measured::ClusterStepSubject>(&row.subject)) {
    return step->job.get();
  }
  return nullptr;
}

// Smaller is what the rule prefers; see the text of the section. Equal: measured decides.
auto habit(const Run& run) {
  const describe::Layout& at = run.job->layout;
  const std::int64_t node = run.job->cluster.devices_per_node();
  return std::tuple(at.tp > node, at.tp * at.pp * at.cp, at.pp,
                    at.recompute.granularity == describe::Recompute::kFull, -at.ep,
                    at.zero == describe::Zero::kNone, -at.vpp, at.mbs > 4, run.measured);
}

struct Picks {
  Run rule;
  Run plan;  // predicted fastest
  Run best;  // measured fastest
  std::size_t runs = 0;
  [[nodiscard]] double gain() const { return rule.measured / plan.measured; }
  [[nodiscard]] double most() const { return rule.measured / best.measured; }
};

Picks picks_of(const std::vector<Run>& runs) {
  const auto least = [&](const auto& key) {
    return *std::min_element(runs.begin(), runs.end(),
                             [&](const Run& a, const Run& b) { return key(a) < key(b); });
  };
  return {least(habit), least([](const Run& run) { return run.predicted; }),
          least([](const Run& run) { return run.measured; }), runs.size()};
}

// Rows of the groups, whose jobs they keep alive.
struct Source {
  std::string name;
  std::vector<Row> rows;
  std::map<std::string, std::vector<Run>> groups;
};

Source read_source(const std::filesystem::path& path, const app::Context& context,
                   const measured::Predictor& predictor) {
  Source source{path.parent_path().filename() == "runs" ? path.stem().string()
                                                        : path.parent_path().filename().string(),
                {},
                {}};
  auto rows = measured::read_table(path, context.data);
  if (!rows) {
    std::cerr << to_text(rows.error()) << "\n";
    return source;
  }
  source.rows = *std::move(rows);
  for (const Row& row : source.rows) {
    const describe::Job* job = measured_job(row);
    const bool is_time = row.quantity == "step_time_s" || row.quantity == "step_ms";
    if (job == nullptr || !is_time || row.trust == measured::Trust::kC || row.refusal ||
        row.layout_group.empty() || row.measured <= 0.0) {
      continue;
    }
    const measured::Answer answer = predictor(row);
    if (const auto* prediction = std::get_if<measured::Prediction>(&answer)) {
      source.groups[row.layout_group].push_back({job, row.measured, prediction->value});
    }
  }
  return source;
}

std::string group_line(const std::string& source, const Picks& picks, double unit) {
  const describe::Job& job = *picks.rule.job;
  return fmt::format(
      "| {} | {} | {} × {} | {} | {} | {} | {:.3f} | {} | {:.3f} | {:.2f}× | {:.2f}× |\n", source,
      job.model.name, job.cluster.devices, job.cluster.device.id, job.global_batch, picks.runs,
      short_text(picks.rule.job->layout), picks.rule.measured * unit,
      short_text(picks.plan.job->layout), picks.plan.measured * unit, picks.gain(), picks.most());
}

// What the recommended layout costs over the one measured fastest, by how much may be given up for
// a simpler one; the means over groups of four runs and more.
std::string regret_table(const app::Context& context, const std::filesystem::path& truth) {
  constexpr std::array kGivenUp{0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05};
  std::string text =
      "\nWhat a layout costs over the one measured fastest, in the mean over groups of at least "
      "four "
      "runs of one job: the one predicted fastest (0 %), and the simplest of those predicted at "
      "most so much slower. `plan` recommends by 2 %.\n\n| source | groups |";
  for (const double share : kGivenUp) {
    text += fmt::format(" {:.1f} % |", share * 100.0);
  }
  text += "\n|---|---|---|---|---|---|---|---|---|\n";
  std::array<double, kGivenUp.size()> means{};
  double sources = 0.0;
  for (const tests::MeasuredTable& table : tests::kGroupTables) {
    const auto source = tests::group_source(truth / "runs" / (std::string(table.name) + ".csv"),
                                            context.data, tests::kFewestGroupRuns, table.every);
    if (!source) {
      std::cerr << to_text(source.error()) << "\n";
      continue;
    }
    sources += 1.0;
    text += fmt::format("| {} | {} |", table.name, source->groups.size());
    for (std::size_t i = 0; i < kGivenUp.size(); ++i) {
      const double regret = tests::regret_of(*source, kGivenUp[i]).recommended;
      means[i] += regret;
      text += fmt::format(" {:.2f} % |", regret * 100.0);
    }
    text += "\n";
  }
  text += fmt::format("| mean of {} sources | |", sources);
  for (const double sum : means) {
    text += fmt::format(" {:.2f} % |", sum / std::max(sources, 1.0) * 100.0);
  }
  return text + "\n";
}

}  // namespace

std::string measured_section(const app::Context& context, const std::filesystem::path& truth) {
  constexpr std::size_t kMostLines = 16;  // of one source
  const measured::Predictor predictor = validate::predictor(context.data);
  std::string summary =
      "| source | groups | runs | gain: least | median | mean | largest | plan slower | mean of "
      "the "
      "best possible |\n|---|---|---|---|---|---|---|---|---|\n";
  std::string lines =
      "| source | model | devices | batch | runs | rule | s | plan | s | gain | best possible |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const std::string file : {"runs/vtrain_multi.csv", "runs/vtrain_single.csv",
                                 "runs/bloom.csv", "runs/internevo.csv", "cpu_cluster/steps.csv"}) {
    std::cerr << file << "\n";
    const Source source = read_source(truth / file, context, predictor);
    const double unit = source.name == "cpu_cluster" ? 1e-3 : 1.0;
    std::vector<Picks> all;
    for (const auto& [name, runs] : source.groups) {
      if (runs.size() > 1) {
        all.push_back(picks_of(runs));
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Picks& a, const Picks& b) { return a.gain() > b.gain(); });
    std::vector<double> gains;
    std::vector<double> most;
    std::size_t runs = 0;
    for (const Picks& picks : all) {
      gains.push_back(picks.gain());
      most.push_back(picks.most());
      runs += picks.runs;
      if (all.size() <= kMostLines) {
        lines += group_line(source.name, picks, unit);
      }
    }
    if (all.empty()) {
      summary += fmt::format("| {} | 0 | 0 | – | – | – | – | – | – |\n", source.name);
      continue;
    }
    const auto slower = std::count_if(gains.begin(), gains.end(), [](double g) { return g < 1.0; });
    summary += fmt::format(
        "| {} | {} | {} | {:.2f}× | {:.2f}× | {:.2f}× | {:.2f}× | {} | {:.2f}× |\n", source.name,
        all.size(), runs, *std::min_element(gains.begin(), gains.end()),
        median(gains).value_or(0.0), mean(gains).value_or(0.0),
        *std::max_element(gains.begin(), gains.end()), slower, mean(most).value_or(0.0));
  }
  return "## Against the Megatron rule, measured\n\n"
         "Groups of published runs that differ in layout alone. Of each the run that the rule "
         "prefers (tp inside the node, the fewest devices a copy of the model, of those the fewest "
         "stages, no full recomputation, the most chunks; micro-batches up to 4 it may try, so the "
         "fastest measured counts) and the one predicted fastest. Gain: measured time of the "
         "rule's "
         "over that of ours; best possible: over the fastest measured. Every run of a table fits, "
         "so the rule knows what fits without asking.\n\n" +
         summary + "\nSources with few groups, one by one:\n\n" + lines +
         regret_table(context, truth);
}

}  // namespace sextant::bench
