// How many devices: the fewest that fit or are in time, or those that cost least a token.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "search/objective.h"
#include "search/task.h"
#include "step/training_run.h"

namespace sextant::search {

// Parts of a node that divide it, and every number of nodes: beyond kEveryNode nodes every so many
// that there are about that many, and those that divide the cluster's or its powers of two. From
// few to many, the whole cluster last.
inline constexpr std::int64_t kEveryNode = 128;
std::vector<std::int64_t> device_counts(const describe::Cluster& cluster);

// The best layout of one number of devices.
struct PlanCount {
  std::int64_t devices = 0;
  std::optional<PlanRow> row;  // nothing: no layout is legal and fits, or it was not asked
  std::optional<step::TrainingRun> training;
  bool meets = false;  // fits, and in time where there is a deadline
};

struct CountWishes {
  Objective objective = Objective::kDevices;  // or cost
  std::optional<step::TrainingWish> training;
  std::optional<double> days;  // the deadline of that training
};
struct Counted {
  std::vector<PlanCount> counts;  // those asked
  std::optional<Task> chosen;     // nothing where none will do
  bool complete = true;           // false: stopped before the end
};
Result<Counted> count_devices(const Task& task, const CountWishes& wishes, const Effort& effort,
                              const describe::DataStore& data);

}  // namespace sextant::search
