#include "published_recipes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "measured/table.h"
#include "validate/predict_runs.h"

namespace sextant::bench {
namespace {

using describe::Job;
using measured::Row;
using measured::RunSubject;

// Letters and digits, lower case: "Llama 3.1-405B" is "llama31405b".
std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

bool is_wanted(const Row& row, const Job& job) {
  const std::string name = bare(job.model.name);
  const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  const bool named = (says("llama3") && says("405b")) || says("deepseekv3") || says("nemotron");
  return (named || row.source == "megatron_bridge") &&
         job.model.name.find(" cut ") == std::string::npos;
}

const Job* run_job(const Row& row) {
  const auto* run = std::get_if<RunSubject>(&row.subject);
  return run == nullptr ? nullptr : run->job.get();
}

// Runs of one key are one job.
auto group_of(const Job& job) {
  return std::tuple(job.model.name, job.cluster.device.id, job.layout.precision, job.workload,
                    job.sequences.length, job.cluster.devices, job.global_batch);
}
// Groups of one key differ in scale.
auto series_of(const Recipe& recipe) {
  const Job& job = *recipe.job;
  return std::tuple(job.model.name, job.cluster.device.id, job.layout.precision, job.workload,
                    job.sequences.length, recipe.source);
}

// Tokens a second and device; where there is no time, the more devices the better.
std::pair<double, std::int64_t> rate_of(const Recipe& recipe) {
  const Job& job = *recipe.job;
  if (!recipe.measured) {
    return {0.0, job.cluster.devices};
  }
  const double tokens =
      static_cast<double>(job.global_batch) * static_cast<double>(job.sequences.length);
  return {tokens / static_cast<double>(job.cluster.devices) / (*recipe.measured / 1_s),
          job.cluster.devices};
}

bool is_faster(const Recipe& a, const Recipe& b) {
  return rate_of(a) > rate_of(b);
}

// A time, or a rate under a convention that no time follows from.
std::optional<Seconds> time_of(const Row& row) {
  const bool timed = row.quantity == "step_time_s" && row.measured > 0.0;
  return timed ? std::optional<Seconds>(row.measured * 1_s) : std::nullopt;
}

bool says_speed(const Row& row) {
  return time_of(row) || row.quantity == "tflops_per_device";
}

// What the map holds under the key is the faster of it and this.
template <class Map>
void keep_faster(Map& map, const typename Map::key_type& key, const Recipe& recipe) {
  const auto [place, added] = map.try_emplace(key, recipe);
  if (!added && is_faster(recipe, place->second)) {
    place->second = recipe;
  }
}

Result<std::vector<Row>> wanted_rows(const std::filesystem::path& truth,
                                     const describe::DataStore& data) {
  const std::array<std::filesystem::path, 1> folder{truth / "runs"};
  SEXTANT_TRY(const auto files, measured::expand_tables(folder));
  std::vector<Row> wanted;
  std::map<std::string, std::int64_t> depth;  // by model
  for (const std::filesystem::path& file : files) {
    SEXTANT_TRY(const std::vector<Row> rows, measured::read_table(file, data));
    for (const Row& row : rows) {
      const Job* job = run_job(row);
      if (job != nullptr && says_speed(row) && row.trust != measured::Trust::kC &&
          is_wanted(row, *job)) {
        wanted.push_back(row);
        std::int64_t& layers = depth[job->model.name];
        layers = std::max(layers, job->model.layer_count());
      }
    }
  }
  std::erase_if(wanted, [&](const Row& row) {
    return run_job(row)->model.layer_count() < depth[run_job(row)->model.name];
  });
  return wanted;
}

}  // namespace

Result<Recipes> published_recipes(const std::filesystem::path& truth,
                                  const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<Row> rows, wanted_rows(truth, data));
  validate::RunPredictor predictor(data);
  Recipes recipes;
  std::map<decltype(group_of(std::declval<Job>())), Recipe> groups;
  for (const Row& row : rows) {
    ++recipes.runs;
    if (row.refusal && time_of(row)) {
      ++recipes.refused[*row.refusal];
      continue;
    }
    const auto asked = predictor.question(row);
    if (const auto* refusal = std::get_if<measured::Refusal>(&asked)) {
      ++recipes.refused[refusal->reason];
      continue;
    }
    const auto& question = std::get<validate::RunQuestion>(asked);
    const Recipe recipe{row.id, row.source, question.job, question.machine.model, time_of(row)};
    keep_faster(groups, group_of(*recipe.job), recipe);
  }
  recipes.groups = static_cast<std::int64_t>(groups.size());
  std::map<decltype(series_of(std::declval<Recipe>())), Recipe> series;
  for (const auto& [key, recipe] : groups) {
    keep_faster(series, series_of(recipe), recipe);
  }
  for (auto& [key, recipe] : series) {
    recipes.chosen.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace sextant::bench
