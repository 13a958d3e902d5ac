// Tools over a real job, as a reasoner is given them. Only tests include this.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agents/tune_job.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"
#include "search/find.h"
#include "search/space.h"
#include "verify/testing.h"

namespace sextant::agents {

// What a session wrote into the Sharding Memory.
using Notes = std::vector<std::pair<kb::EventKind, std::string>>;

// Everything an agent may ask about one task; a part is left out by emptying its tool.
struct ToolBench {
  search::Task task;
  diagnose::Diagnosis diagnosis = {};
  bool has_run = false;
  std::string left_out = {};  // a source whose rows must not count
  Notes notes = {};

  [[nodiscard]] verify::Bench bench_at(const search::Task& at) const {
    verify::Bench bench = verify::bench_of(at, has_run ? &diagnosis : nullptr);
    bench.left_out = left_out;
    return bench;
  }

  std::vector<search::PlanRow> planned(std::size_t most) const {
    const search::Space space(task.problem);
    search::FindOptions options;
    options.top = most;
    options.threads = 1;
    std::vector<search::PlanRow> rows;
    for (const search::Plan& plan : search::find_plans(space, options).plans) {
      rows.push_back(search::plan_row(task, plan.layout));
    }
    return rows;
  }

  // The judge alone.
  Tools judging() {
    Tools tools;
    tools.judge = [this](const verify::Proposal& one) {
      return verify::judge(one, bench_at(task));
    };
    tools.judge_at = [this](const verify::Proposal& one, const describe::Layout& at) {
      search::Task moved = task;
      moved.problem.job.layout = at;
      return verify::judge(one, bench_at(moved));
    };
    tools.note = [this](kb::EventKind kind, std::string text) {
      notes.emplace_back(kind, std::move(text));
    };
    return tools;
  }
  void add_planner(Tools& tools) const {
    tools.plan = [this](std::size_t most) {
      return Result<std::vector<search::PlanRow>>(planned(most));
    };
    tools.path = [this](const describe::Layout& to) {
      return Result<search::PlanPath>(search::plan_path(task, {task.problem.job.layout, {}}, to));
    };
  }
  static void add_knowledge(Tools& tools) {
    tools.search = [](const kb::Question& question) -> Result<std::vector<kb::Entry>> {
      static kb::Index index = kb::Index::of(verify::known().entries).value();
      SEXTANT_TRY(const std::vector<kb::Ranked> ranked, index.search(question));
      std::vector<kb::Entry> entries;
      for (const kb::Ranked& one : ranked) {
        entries.push_back(index.entries()[one.entry]);
      }
      return entries;
    };
  }
  Tools all() {
    Tools tools = judging();
    add_planner(tools);
    add_knowledge(tools);
    return tools;
  }

  // The job as it stands in the task.
  [[nodiscard]] JobCase asked() const {
    JobCase job;
    job.task = &task;
    job.users = task.problem.job.layout;
    return job;
  }
};

inline Report tuned(const JobCase& job, const Tools& tools) {
  auto report = tune_job(job, tools);
  EXPECT_TRUE(report) << (report ? "" : to_text(report.error()));
  return report ? *std::move(report) : Report();
}

}  // namespace sextant::agents
