// Published training runs that a planner is held against, out of the tables of measured runs.
//
// Wanted: models named Llama 3 or 3.1 405B, DeepSeek-V3 or Nemotron in any table, and every model
// of Megatron-Bridge's; of full depth (some tables cut layers off), trust A or B, with a layout
// that can be predicted. Runs of one job (model, device and their number, precision, workload,
// sequence and batch) are one group, whose fastest counts. Of the groups of one table that differ
// in scale alone (devices and batch), the one that trains the most tokens a second and device is
// taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "measured/row.h"
#include "step/step_model.h"

namespace sextant::bench {

struct Recipe {
  std::string id;      // of the row
  std::string source;  // its table
  measured::JobPointer job;
  step::StepModel machine;
  std::optional<Seconds> measured;  // nothing: a rate that cannot be brought to a time
};

struct Recipes {
  std::vector<Recipe> chosen;  // by model, device, precision, sequence
  std::int64_t runs = 0;       // of the models wanted
  std::int64_t groups = 0;
  std::map<std::string, std::int64_t> refused;  // of the runs, by why there is no prediction
};

Result<Recipes> published_recipes(const std::filesystem::path& truth,
                                  const describe::DataStore& data);

}  // namespace sextant::bench
