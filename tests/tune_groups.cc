#include "tune_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "agents/confidence.h"
#include "agents/testing.h"
#include "describe/layout/layout_words.h"
#include "search/baselines/baselines.h"
#include "truth_errors.h"
#include "validate/predict_runs.h"

namespace sextant::tests {
namespace {

// Logarithms of the steps of one layout.
struct LayoutSteps {
  describe::Layout layout;
  std::vector<double> logarithms;
};

struct GroupRows {
  std::string source;
  search::Task task;
  std::map<std::string, LayoutSteps> layouts;  // by words
};

bool is_told(const measured::Row& row) {
  const auto* run = std::get_if<measured::RunSubject>(&row.subject);
  return run != nullptr && row.quantity == "step_time_s" && row.trust != measured::Trust::kC &&
         !row.refusal && row.measured > 0.0 && run->beyond_layout.empty();
}

// Everything but the layout, and the release of the software.
std::string name_of_group(const measured::RunSubject& run, const describe::Job& job) {
  return fmt::format(
      "{}: {} {}x{}x{}, {} x {} {}, {} sequences of {}, {} {} {}", run.origin, job.model.name,
      job.model.layer_count(), job.model.hidden, job.model.vocab, job.cluster.devices,
      job.cluster.device.id, job.cluster.fabric.id, job.global_batch, job.sequences.length,
      describe::word_of<describe::Framework>(describe::kFrameworkWords, job.framework), run.date,
      describe::word_of<describe::Workload>(describe::kWorkloadWords, job.workload));
}

void add_row(const measured::Row& row, validate::RunPredictor& predictor,
             std::map<std::string, GroupRows>& groups) {
  auto asked = predictor.question(row);
  auto* question = std::get_if<validate::RunQuestion>(&asked);
  if (question == nullptr) {
    return;
  }
  const describe::Job& job = *question->job;
  const auto& run = std::get<measured::RunSubject>(row.subject);
  const auto [found, is_new] = groups.try_emplace(name_of_group(run, job));
  GroupRows& group = found->second;
  if (is_new) {
    group.source = run.origin;
    group.task.problem.job = job;
    group.task.machine = std::move(question->machine);
    group.task.problem.machine = group.task.machine.model;
    group.task.problem.memory = group.task.machine.memory;
  }
  describe::Layout layout = job.layout;
  layout.dp = 0;
  LayoutSteps& steps =
      group.layouts[describe::layout_words(layout, job.framework, job.cluster.device)];
  steps.layout = layout;
  steps.logarithms.push_back(std::log(row.measured));
}

TuneGroup group_of(const std::string& name, GroupRows rows) {
  TuneGroup group;
  group.source = std::move(rows.source);
  group.name = name;
  group.task = std::move(rows.task);
  for (const auto& [words, steps] : rows.layouts) {
    double sum = 0.0;
    for (const double logarithm : steps.logarithms) {
      sum += logarithm;
    }
    const double mean = sum / static_cast<double>(steps.logarithms.size());
    group.layouts.push_back({steps.layout, words, std::exp(mean) * 1_s});
  }
  std::ranges::stable_sort(group.layouts, {}, &MeasuredLayout::step);
  return group;
}

// How far two layouts' sizes are apart, in powers of two.
double distance(const describe::Layout& one, const describe::Layout& other) {
  const auto apart = [](std::int64_t a, std::int64_t b) {
    return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
  };
  const double recompute = one.recompute.granularity == other.recompute.granularity ? 0.0 : 1.0;
  return apart(one.tp, other.tp) + apart(one.cp, other.cp) + apart(one.pp, other.pp) +
         apart(one.ep, other.ep) + apart(one.mbs, other.mbs) + recompute;
}

}  // namespace

Result<std::vector<TuneGroup>> tune_groups(const std::vector<std::string>& tables,
                                           std::size_t fewest) {
  const describe::DataStore data;
  validate::RunPredictor predictor(data);
  std::map<std::string, GroupRows> groups;
  for (const std::string& table : tables) {
    SEXTANT_TRY(const std::vector<measured::Row> rows,
                measured::read_table(truth_dir() / "runs" / (table + ".csv"), data));
    for (const measured::Row& row : rows) {
      if (is_told(row)) {
        add_row(row, predictor, groups);
      }
    }
  }
  std::vector<TuneGroup> found;
  for (auto& [name, rows] : groups) {
    if (rows.layouts.size() >= fewest) {
      found.push_back(group_of(name, std::move(rows)));
    }
  }
  return found;
}

std::vector<TuneStart> tune_starts(const std::vector<TuneGroup>& groups, bool with_fastest,
                                   std::size_t most) {
  std::map<std::string, std::vector<TuneStart>> by_source;
  for (const TuneGroup& group : groups) {
    for (std::size_t start = with_fastest ? 0 : 1; start < group.layouts.size(); ++start) {
      by_source[group.source].push_back({&group, start});
    }
  }
  std::vector<TuneStart> kept;
  for (const auto& [source, own] : by_source) {
    const std::size_t count = std::min(own.size(), most);
    for (std::size_t i = 0; i < count; ++i) {
      kept.push_back(own[i * own.size() / count]);
    }
  }
  return kept;
}

bool TuneOutcome::has_fastest() const {
  return std::ranges::find(proposed, std::size_t{0}) != proposed.end();
}

TuneOutcome tune_outcome(const TuneStart& from) {
  const std::vector<MeasuredLayout>& layouts = from.group->layouts;
  agents::ToolBench bench{.task = from.group->task};
  bench.left_out = from.group->source;
  bench.task.problem.job.layout = layouts[from.start].layout;
  agents::JobCase asked = bench.asked();
  for (const MeasuredLayout& one : layouts) {
    asked.among.push_back(one.words);
  }
  TuneOutcome outcome{.from = from, .proposed = {}, .kind = {}};
  const agents::Report report = agents::tuned(asked, bench.judging());
  for (const agents::Judged& one : report.proposals) {
    const auto place = std::ranges::find(layouts, one.layout, &MeasuredLayout::words);
    EXPECT_NE(place, layouts.end()) << one.layout << " was not given";
    outcome.proposed.push_back(static_cast<std::size_t>(place - layouts.begin()));
  }
  if (!report.proposals.empty()) {
    outcome.kind = agents::confidence_kind(report.proposals.front().verdict);
    outcome.stands = report.proposals.front().verdict.stands();
  }
  return outcome;
}

OtherChoices other_choices(const TuneStart& from) {
  const auto others = static_cast<double>(from.group->layouts.size() - 1);
  constexpr double kThree = 3.0;
  return {.random_faster = static_cast<double>(from.start) / others,
          .random_fastest = std::min(1.0, kThree / others)};
}

std::optional<std::size_t> rules_choice(const TuneGroup& group) {
  const search::BaselineResult rule = search::megatron_rule(group.task.problem);
  if (!rule.plan) {
    return std::nullopt;
  }
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < group.layouts.size(); ++i) {
    if (distance(group.layouts[i].layout, rule.plan->layout) <
        distance(group.layouts[nearest].layout, rule.plan->layout)) {
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace sextant::tests
