// One job has one step time, whichever road it came by: a row of a table (`validate`), words on a
// command line (`estimate`), the framework's own files (`check`), a log beside the row
// (`compare`). A row that cannot go along a road is counted under the fact the road has no words
// for.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/check_command.h"
#include "app/compare_runs.h"
#include "app/estimate_command.h"
#include "describe/layout/legality.h"
#include "road_words.h"
#include "truth_errors.h"
#include "validate/predict_runs.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

struct Lost {
  std::string fact;  // "attention", "breaks MEGATRON-TP-OVERLAP-SP"
};
// Step times that a road gives (compare: that of the files and that of the row), or why not.
using Arrival = std::variant<std::vector<double>, Lost>;

const app::Context& auto_context() {
  static const app::Context kContext = [] {
    app::Context made;
    made.settings["framework"] = {"auto", "default"};
    return made;
  }();
  return kContext;
}

template <typename Answer>
Result<std::string> json_text(Result<app::Answered<Answer>> answered) {
  SEXTANT_TRY(const app::Reply reply, app::reply_of(std::move(answered)));
  return reply.text({explain::Format::kJson, false});
}

// A row on its way, with the files that say what it ran.
struct Traveller {
  const measured::Row& row;
  const describe::Job& job;
  std::string table;
  const ScratchFolder& folder;
};

Lost lost_by_rule(const json& answer) {
  for (const json& violation : answer["violations"]) {
    if (!violation.contains("severity") || violation["severity"] == "illegal") {
      return {"breaks " + violation["rule"].get<std::string>()};
    }
  }
  return {"no prediction"};
}

Arrival by_words(const Traveller& at) {
  const auto model = model_word(at.job.model, at.folder, auto_context().data);
  if (!model) {
    return Lost{"model: no family of Hugging Face's is built like it"};
  }
  const auto output = json_text(
      app::estimate({.job = {.model = *model,
                             .cluster = cluster_word(at.job.cluster, at.folder),
                             .layout = layout_word(at.job),
                             .framework = std::string(describe::word_of<describe::Framework>(
                                 describe::kFrameworkWords, at.job.framework)),
                             .sequences = std::to_string(at.job.sequences.length),
                             .global_batch = std::to_string(at.job.global_batch),
                             .workload = workload_word(at.job)},
                     .sweep = {},
                     .plot_file = {},
                     .timeline_file = {},
                     .training = {}},
                    auto_context()));
  if (!output) {
    return Lost{to_text(output.error())};
  }
  const json answer = json::parse(*output);
  if (!answer.contains("step_time_s")) {
    return lost_by_rule(answer);
  }
  return std::vector{answer["step_time_s"].get<double>()};
}

// The framework's files, their cluster, and what no dialect has words for; or a value of the layout
// that this one has none for.
std::variant<app::FileRequest, Lost> files_of(const Traveller& at) {
  if (const auto broken = describe::refusals(at.job); !broken.empty()) {
    return Lost{fmt::format("breaks {}", broken.front().rule)};  // emit refuses it
  }
  const auto writing = own_writing(at.job);
  if (!writing) {
    return Lost{"no files are written for the framework"};
  }
  app::FileRequest request;
  for (const emit::Inexpressible& one : writing->left_out) {
    if (one.field == "model") {
      request.model = model_word(at.job.model, at.folder, auto_context().data).value_or("");
    } else if (one.field == "seq") {
      request.sequences = std::to_string(at.job.sequences.length);
    } else if (one.field == "gbs") {
      request.global_batch = std::to_string(at.job.global_batch);
    } else if (one.field != "workload") {
      return Lost{fmt::format("{}={}: {}", one.field, one.value, one.why)};
    }
  }
  request.files = own_files(*writing, at.job, at.folder);
  request.cluster = cluster_word(at.job.cluster, at.folder);
  request.workload = workload_word(at.job);
  return request;
}

// Says what `check` found not stated; whether it was any of this.
bool state(const json& not_stated, const Traveller& at, app::FileRequest& request) {
  bool said = false;
  for (const json& open : not_stated) {
    const auto asks = [text = open.get<std::string>(), &said](std::string_view option) {
      said = said || text.find(option) != std::string::npos;
      return text.find(option) != std::string::npos;
    };
    if (asks("‹model")) {
      request.model = model_word(at.job.model, at.folder, auto_context().data).value_or("");
    } else if (asks("‹seq›")) {
      request.sequences = std::to_string(at.job.sequences.length);
    } else if (asks("‹gbs›")) {
      request.global_batch = std::to_string(at.job.global_batch);
    }
  }
  return said;
}

Arrival by_files(app::FileRequest& request, const Traveller& at) {
  json answer;
  bool again = true;
  for (int asked = 0; again && asked < 2; ++asked) {  // the first answer says what to state
    const auto output = json_text(app::check({.files = request}, auto_context()));
    if (!output) {
      return Lost{to_text(output.error())};
    }
    answer = json::parse(*output);
    again = state(answer["not_stated"], at, request);
  }
  if (answer["predicted"].is_null()) {
    return answer["not_stated"].empty()
               ? lost_by_rule(answer)
               : Lost{"not stated: " + answer["not_stated"][0].get<std::string>()};
  }
  return std::vector{answer["predicted"]["step_time_s"].get<double>()};
}

// The table's header and that row: reading whole tables for each row takes minutes.
std::string table_of_row(const Traveller& at) {
  std::ifstream table(at.table);
  std::string header;
  std::getline(table, header);
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with(at.row.id + ",")) {
      return at.folder.write("row.csv", fmt::format("{}\n{}\n", header, line));
    }
  }
  ADD_FAILURE() << at.row.id << " begins no line of " << at.table;
  return {};
}

Arrival by_log(app::FileRequest request, const Traveller& at) {
  request.files.insert(request.files.begin(), own_log(at.job, at.row.measured, at.folder));
  const auto output = json_text(app::compare_runs(
      {.run = std::move(request), .row = at.row.id, .tables = {table_of_row(at)}}, auto_context()));
  if (!output) {
    return Lost{to_text(output.error())};
  }
  const json answer = json::parse(*output);
  return std::vector{answer["ours"]["predicted_s"].get<double>(),
                     answer["theirs"]["predicted_s"].get<double>()};
}

// What the roads lost, by fact.
struct Journey {
  std::size_t rows = 0;
  std::size_t along_all = 0;
  std::set<std::string> sources;                // of the rows
  std::set<std::string> whole_sources;          // of those that went along all roads
  std::map<std::string, std::size_t> no_files;  // rows of frameworks that no files are written for
  std::map<std::string, std::map<std::string, std::size_t>> lost;  // road → fact → rows

  std::size_t lost_on(const std::string& road) const {
    const auto found = lost.find(road);
    std::size_t sum = 0;
    for (const auto& [fact, rows_lost] :
         found == lost.end() ? std::map<std::string, std::size_t>() : found->second) {
      sum += rows_lost;
    }
    return sum;
  }
};

bool arrives(const std::string& road, const Arrival& arrival, double wanted, const Traveller& at,
             Journey& journey) {
  if (const auto* lost = std::get_if<Lost>(&arrival)) {
    journey.lost[road][lost->fact] += 1;
    return false;
  }
  for (const double step : std::get<std::vector<double>>(arrival)) {
    EXPECT_EQ(step, wanted) << at.row.id << " by " << road << ": " << layout_word(at.job);
  }
  return true;
}

void travel(const measured::Row& row, const std::filesystem::path& table, double step,
            Journey& journey) {
  const ScratchFolder folder;
  const Traveller at{row, *std::get<measured::RunSubject>(row.subject).job, table.string(), folder};
  journey.rows += 1;
  journey.sources.insert(row.source);
  bool all = arrives("estimate", by_words(at), step, at, journey);
  auto files = files_of(at);
  if (const auto* lost = std::get_if<Lost>(&files)) {
    journey.lost["check"][lost->fact] += 1;
    journey.lost["compare"][lost->fact] += 1;
    return;
  }
  auto& request = std::get<app::FileRequest>(files);
  all = arrives("check", by_files(request, at), step, at, journey) && all;
  all = arrives("compare", by_log(request, at), step, at, journey) && all;
  if (all) {
    journey.along_all += 1;
    journey.whole_sources.insert(row.source);
  }
}

// A row that `validate` predicts.
struct Predicted {
  const measured::Row* row;
  double step;
};

// Evenly from the whole table, at most so many.
std::vector<Predicted> chosen(const std::vector<Predicted>& rows) {
  constexpr std::size_t kASource = 20;
  const std::size_t count = std::min(rows.size(), kASource);
  std::vector<Predicted> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(rows[i * rows.size() / count]);
  }
  return list;
}

// Rows of frameworks that have files at all: Megatron-DeepSpeed, PyTorch's first FSDP and trainers
// without a name have none, so that two of the four roads are not there for them.
std::vector<Predicted> with_files(const std::vector<measured::Row>& rows,
                                  validate::RunPredictor& predictor, Journey& journey) {
  std::vector<Predicted> list;
  for (const measured::Row& row : rows) {
    const auto* run = std::get_if<measured::RunSubject>(&row.subject);
    if (run == nullptr || run->job == nullptr || row.refusal || row.quantity != "step_time_s") {
      continue;
    }
    const measured::Answer answer = predictor(row);
    const auto* prediction = std::get_if<measured::Prediction>(&answer);
    if (prediction == nullptr) {
      continue;
    }
    if (own_writing(*run->job)) {
      list.push_back({&row, prediction->value});
    } else {
      journey.no_files[std::string(describe::word_of<describe::Framework>(
          describe::kFrameworkWords, run->job->framework))] += 1;
    }
  }
  return list;
}

void print(const Journey& journey) {
  std::cout << fmt::format("{} rows of {} sources, {} of {} sources along all four roads\n",
                           journey.rows, journey.sources.size(), journey.along_all,
                           journey.whole_sources.size());
  for (const auto& [road, facts] : journey.lost) {
    std::cout << fmt::format("{} lost {} rows\n", road, journey.lost_on(road));
    for (const auto& [fact, rows] : facts) {
      std::cout << fmt::format("  {:3}  {}\n", rows, fact);
    }
  }
  for (const auto& [framework, rows] : journey.no_files) {
    std::cout << fmt::format("not taken: {} rows of {}, which no files are written for\n", rows,
                             framework);
  }
}

TEST(RoadsTruth, EveryRoadFromARowEndsAtOneStepTime) {
  if (!std::filesystem::is_directory(truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const std::vector<std::filesystem::path> folder{truth_dir() / "runs"};
  const auto tables = measured::expand_tables(folder);
  ASSERT_TRUE(tables);
  validate::RunPredictor predictor(auto_context().data);
  Journey journey;
  for (const std::filesystem::path& table : *tables) {
    const auto rows = measured::read_table(table, auto_context().data);
    ASSERT_TRUE(rows) << table;
    for (const auto& [row, step] : chosen(with_files(*rows, predictor, journey))) {
      travel(*row, table, step, journey);
    }
  }
  print(journey);
  EXPECT_GE(journey.rows, 200U);
  EXPECT_GE(journey.whole_sources.size(), 10U);
  EXPECT_GE(journey.along_all, 150U);
  for (const auto& [road, facts] : journey.lost) {
    EXPECT_LE(100 * journey.lost_on(road), 15 * journey.rows) << road;
  }
}

}  // namespace
}  // namespace sextant::tests
