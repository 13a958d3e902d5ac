// Measured runs that differ in layout alone, and what choosing among them by prediction costs.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "measured/origin.h"
#include "measured/table.h"
#include "search/choices.h"
#include "search/recommend.h"
#include "validate/predictor.h"

namespace sextant::tests {

struct MeasuredTable {
  const char* name;
  std::size_t every = 1;  // of its groups: large tables are sampled
};
// Those with groups of so many layouts.
inline constexpr std::size_t kFewestGroupRuns = 4;
inline constexpr std::array<MeasuredTable, 6> kGroupTables{{{"bloom"},
                                                            {"internevo"},
                                                            {"misc"},
                                                            {"vocab_parallel"},
                                                            {"vtrain_multi"},
                                                            {"vtrain_single", 2}}};

struct GroupRun {
  const describe::Job* job = nullptr;
  double measured = 0.0;
  search::Contender contender;  // its predicted step; its points
};

// Rows of one table, whose jobs they keep alive.
struct GroupSource {
  std::vector<measured::Row> rows;
  std::map<std::string, std::vector<GroupRun>> groups;
};

// What the layout predicted fastest and the recommended one cost over the one measured fastest,
// means over groups of at least four runs.
struct GroupRegret {
  std::size_t groups = 0;
  double fastest = 0.0;
  double recommended = 0.0;
};

// What a plan would weigh: every run ran, so none of them is short of memory. The source's own runs
// do not say what was measured.
inline int points_of(const describe::Job& job, const describe::DifferenceSpreads& spreads,
                     std::string_view source) {
  search::Problem problem;
  problem.job = job;
  const search::Simplicity measure(search::choices_of(problem), job, spreads, source);
  return measure.of(job.layout, Bytes()).total();
}

// Every `every`th group of so many runs at least.
inline Result<GroupSource> group_source(const std::filesystem::path& table,
                                        const describe::DataStore& data, std::size_t fewest,
                                        std::size_t every) {
  GroupSource source;
  SEXTANT_TRY(source.rows, measured::read_table(table, data));
  SEXTANT_TRY(const describe::DifferenceSpreads spreads, describe::difference_spreads(data));
  std::map<std::string, std::vector<const measured::Row*>> groups;
  for (const measured::Row& row : source.rows) {
    if (row.quantity == "step_time_s" && row.trust != measured::Trust::kC && !row.refusal &&
        !row.layout_group.empty() && row.measured > 0.0) {
      groups[row.layout_group].push_back(&row);
    }
  }
  const measured::Predictor predictor = validate::predictor(data);
  std::size_t number = 0;
  for (const auto& [name, rows] : groups) {
    if (rows.size() < fewest || number++ % every != 0) {
      continue;
    }
    for (const measured::Row* row : rows) {
      const auto* run = std::get_if<measured::RunSubject>(&row->subject);
      const measured::Answer answer = predictor(*row);
      const auto* prediction = std::get_if<measured::Prediction>(&answer);
      if (run != nullptr && run->job && prediction != nullptr) {
        source.groups[name].push_back(
            {run->job.get(),
             row->measured,
             {prediction->value, points_of(*run->job, spreads, measured::origin_of(row->source))}});
      }
    }
    if (source.groups[name].size() < fewest) {
      source.groups.erase(name);
    }
  }
  return source;
}

// What one of the contenders costs over the one measured fastest: of those that cannot be told from
// it (the same prediction, the same points), the mean.
inline double cost_of(const std::vector<GroupRun>& runs, double given_up) {
  std::vector<search::Contender> contenders;
  for (const GroupRun& run : runs) {
    contenders.push_back(run.contender);
    contenders.back().points = given_up > 0.0 ? run.contender.points : 0;
  }
  const search::Contender& chosen = contenders[search::recommended_of(contenders, given_up)];
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (contenders[i].value == chosen.value && contenders[i].points == chosen.points) {
      sum += runs[i].measured;
      count += 1.0;
    }
  }
  return sum / count / std::ranges::min(runs, {}, &GroupRun::measured).measured - 1.0;
}

inline GroupRegret regret_of(const GroupSource& source, double given_up) {
  GroupRegret regret;
  for (const auto& [name, runs] : source.groups) {
    ++regret.groups;
    regret.fastest += cost_of(runs, 0.0);
    regret.recommended += cost_of(runs, given_up);
  }
  regret.fastest /= static_cast<double>(std::max<std::size_t>(regret.groups, 1));
  regret.recommended /= static_cast<double>(std::max<std::size_t>(regret.groups, 1));
  return regret;
}

}  // namespace sextant::tests
