// PyTorch's own pipeline schedules: the same order action for action, and the same makespan.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/places_testing.h"
#include "measured/table.h"
#include "schedule/generate.h"
#include "schedule/simulate.h"
#include "workload/stages.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using measured::PipelineAction;
using measured::PipelineScheduleSubject;
using measured::PipelineSlot;
using measured::PipelineWork;
using schedule::ActionKind;
using schedule::ActionTable;

fs::path truth() {
  return shared_folder() / "truth" / "pytorch_pipeline_schedules.json";
}

struct TruthTable {
  std::string id;
  double unit_makespan = 0.0;
  PipelineScheduleSubject subject;
  schedule::ScheduleShape shape;
};

std::vector<TruthTable> truth_tables() {
  std::vector<TruthTable> tables;
  const auto rows = measured::read_table(truth(), describe::DataStore());
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
  for (const measured::Row& row : rows ? *rows : std::vector<measured::Row>()) {
    const auto& subject = std::get<PipelineScheduleSubject>(row.subject);
    EXPECT_TRUE(subject.schedule) << row.id;
    const schedule::ScheduleShape shape{
        .schedule = subject.schedule.value_or(describe::Schedule::kGpipe),
        .pp = subject.pp,
        .vpp = subject.vpp,
        .microbatches = subject.microbatches};
    tables.push_back({row.id, row.measured, subject, shape});
  }
  return tables;
}

ActionKind kind_of(PipelineWork work) {
  switch (work) {
    case PipelineWork::kForward:
      return ActionKind::kForward;
    case PipelineWork::kBackward:
      return ActionKind::kBackward;
    case PipelineWork::kInputGradient:
      return ActionKind::kInputGradient;
    case PipelineWork::kWeightGradient:
      return ActionKind::kWeightGradient;
    case PipelineWork::kReduceGradient:
      return ActionKind::kReduceGradient;
  }
  return ActionKind::kForward;
}

void append(const PipelineSlot& slot, std::vector<schedule::Action>& list) {
  for (const PipelineAction& each : slot) {
    if (each.work != PipelineWork::kReduceGradient) {
      list.push_back({kind_of(each.work), &each != &slot.back(),
                      static_cast<std::int32_t>(each.stage),
                      static_cast<std::int32_t>(each.microbatch)});
    }
  }
}

// The table as ours would be: idle slots follow from the waits, reductions are not ours to order.
ActionTable table_of(const PipelineScheduleSubject& subject) {
  ActionTable table{subject.pp * subject.vpp, subject.microbatches, {}};
  for (const std::vector<PipelineSlot>& slots : subject.ranks) {
    std::vector<schedule::Action>& list = table.ranks.emplace_back();
    for (const PipelineSlot& slot : slots) {
      append(slot, list);
    }
  }
  return table;
}

using Costs = std::vector<schedule::StageCosts>;

// PyTorch's table by plain recursion over its own slots: none of schedule's code.
class Evaluation {
 public:
  Evaluation(const PipelineScheduleSubject& subject, const Costs& costs)
      : subject_(subject), costs_(costs) {
    for (std::size_t rank = 0; rank < subject.ranks.size(); ++rank) {
      ends_.emplace_back(subject.ranks[rank].size(), -1.0);
      for (std::size_t slot = 0; slot < subject.ranks[rank].size(); ++slot) {
        for (const PipelineAction& action : subject.ranks[rank][slot]) {
          where_[{group(action.work), action.stage, action.microbatch}] = {rank, slot};
        }
      }
    }
  }

  double makespan() {
    double last = 0.0;
    for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
      last = std::max(last, end({rank, ends_[rank].size() - 1}));
    }
    return last;
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;

  static int group(PipelineWork work) {
    return work == PipelineWork::kForward                                            ? 0
           : work == PipelineWork::kBackward || work == PipelineWork::kInputGradient ? 1
                                                                                     : 2;
  }
  [[nodiscard]] double cost(const PipelineAction& action) const {
    const schedule::StageCosts& stage = costs_[static_cast<std::size_t>(action.stage)];
    switch (action.work) {
      case PipelineWork::kForward:
        return stage.forward.base();
      case PipelineWork::kBackward:
        return stage.backward.base();
      case PipelineWork::kInputGradient:
        return stage.input_gradient.base();
      case PipelineWork::kWeightGradient:
        return stage.weight_gradient.base();
      case PipelineWork::kReduceGradient:
        return 0.0;
    }
    return 0.0;
  }
  double arrival(const PipelineAction& action) {
    if (group(action.work) == 2) {
      return 0.0;
    }
    const std::int64_t from = action.stage + (group(action.work) == 0 ? -1 : 1);
    const auto found = where_.find({group(action.work), from, action.microbatch});
    return found == where_.end() ? 0.0 : end(found->second);
  }
  double end(Place place) {
    double& known = ends_[place.first][place.second];
    if (known >= 0.0) {
      return known;
    }
    double start = place.second == 0 ? 0.0 : end({place.first, place.second - 1});
    double longer = 0.0;
    for (const PipelineAction& action : subject_.ranks[place.first][place.second]) {
      start = std::max(start, arrival(action));
      longer = std::max(longer, cost(action));
    }
    known = start + longer;  // an overlapped pair takes the longer
    return known;
  }

  const PipelineScheduleSubject& subject_;
  const Costs& costs_;
  std::map<std::tuple<int, std::int64_t, std::int64_t>, Place> where_;
  std::vector<std::vector<double>> ends_;
};

// Positive, unequal, up to 4 s.
Seconds random_time() {
  return Seconds(*rc::gen::inRange(1, 4001) / 1000.0);
}

Costs random_costs(std::int64_t stages) {
  Costs costs;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    costs.push_back(schedule::split_costs(random_time(), random_time(), random_time()));
  }
  return costs;
}

double simulated(const ActionTable& table, const Costs& costs) {
  schedule::PipelineCosts view;
  view.stages = costs;
  view.overlap = 0.0;  // an overlapped pair takes the longer
  const auto ready = schedule::compiled(table);
  EXPECT_TRUE(ready) << (ready ? "" : to_text(ready.error()));
  return ready ? schedule::makespan(*ready, view).base() : -1.0;
}

class ScheduleTruth : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_regular_file(truth())) {
      GTEST_SKIP() << "no measured tables beside the sources: nothing read";
    }
    ASSERT_GE(tables().size(), 40U);
  }
  // Read once for all tests.
  static const std::vector<TruthTable>& tables() {
    static const std::vector<TruthTable> kRead = truth_tables();
    return kRead;
  }
};

TEST_F(ScheduleTruth, OurOrderIsPyTorchsActionForAction) {
  for (const TruthTable& at : tables()) {
    const auto ours = schedule::action_table(at.shape);
    ASSERT_TRUE(ours) << at.id << ": " << to_text(ours.error());
    EXPECT_EQ(ours->ranks, table_of(at.subject).ranks) << at.id;
  }
}

TEST_F(ScheduleTruth, UnitCostsGiveTheMeasuredMakespan) {
  for (const TruthTable& at : tables()) {
    const Costs costs(static_cast<std::size_t>(at.shape.pp * at.shape.vpp),
                      schedule::split_costs(1_s, 1_s, 1_s));
    EXPECT_DOUBLE_EQ(simulated(*schedule::action_table(at.shape), costs), at.unit_makespan)
        << at.id;
  }
}

TEST_F(ScheduleTruth, AnyCostsGiveTheMakespanOfPyTorchsTable) {
  for (const TruthTable& at : tables()) {
    const ActionTable table = *schedule::action_table(at.shape);
    EXPECT_TRUE(rc::check(at.id, [&] {
      const Costs costs = random_costs(table.stages);
      const double expected = Evaluation(at.subject, costs).makespan();
      const double ours = simulated(table, costs);
      RC_ASSERT(std::abs(ours - expected) <= 1e-9 * expected);
    }));
  }
}

TEST(ScheduleRanks, RunTheStagesThatWorkloadGivesThem) {
  using describe::Schedule;
  for (const Schedule each : {Schedule::k1f1b, Schedule::kInterleaved1f1b, Schedule::kLoopedBfs,
                              Schedule::kInterleavedZeroBubble, Schedule::kZbv, Schedule::kDualPipe,
                              Schedule::kDualPipeV}) {
    describe::Layout layout;
    layout.schedule = each;
    layout.pp = 4;
    layout.vpp = each == Schedule::k1f1b || each == Schedule::kDualPipe ? 1 : 2;
    const auto table = schedule::action_table(schedule::shape_of(layout, 16));
    ASSERT_TRUE(table) << to_text(table.error());
    for (std::size_t rank = 0; rank < table->ranks.size(); ++rank) {
      for (const schedule::Action& action : table->ranks[rank]) {
        const std::int64_t first = workload::pipeline_rank_of(action.stage, layout);
        // Under DualPipe the second half of the microbatches meets the other copy.
        const bool other = each == Schedule::kDualPipe && action.microbatch >= 8;
        EXPECT_EQ(static_cast<std::int64_t>(rank), other ? layout.pp - 1 - first : first);
      }
    }
  }
}

}  // namespace
}  // namespace sextant
