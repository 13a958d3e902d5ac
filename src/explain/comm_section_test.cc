#include "explain/comm_section.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "explain/validation_view.h"

namespace sextant::explain {
namespace {

using measured::Row;

Row collective(const std::string& hardware, Bytes bytes) {
  Row row;
  row.id = "a#1";
  row.source = "collectives";
  row.table = measured::TableKind::kCollectives;
  row.quantity = "time_us";
  row.measured = 10.0;
  measured::CollectiveSubject subject;
  subject.hardware = hardware;
  subject.bytes = bytes;
  subject.links.scale_up = describe::ScaleUp::kNvSwitch;
  subject.nodes = 1;
  subject.ranks = 8;
  row.subject = subject;
  return row;
}

Row expert() {
  Row row;
  row.table = measured::TableKind::kEpAllToAll;
  row.quantity = "time_us";
  row.measured = 10.0;
  measured::EpAllToAllSubject subject;
  subject.library = "DeepEP";
  subject.mode = "normal";
  subject.nodes = 2;
  subject.hardware = "H800";
  row.subject = subject;
  return row;
}

// Everything is predicted as 11, but what is refused.
ValidationAnswer answer_of(const std::vector<Row>& rows) {
  ValidationAnswer answer;
  answer.report = measured::validate(rows, [](const Row&) -> measured::Answer {
    return measured::Prediction{11.0, std::nullopt, {}};
  });
  answer.comm = measured::comm_scores(rows, answer.report);
  return answer;
}

std::vector<Row> some_rows() {
  std::vector<Row> rows{collective("x", 1_MiB), collective("y", 1_GiB), collective("z", 1_B),
                        expert()};
  rows[2].refusal = "no link";
  return rows;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CommSection, NothingOfOtherTables) {
  EXPECT_EQ(comm_section({}), "");
  EXPECT_EQ(comm_tables({}, Style{}), "");
}

TEST(CommSection, ScoresStandBesideWhatMustHold) {
  const std::string text = comm_section(answer_of(some_rows()).comm);
  EXPECT_TRUE(holds(text, "## Collectives\n\n3 rows: 2 scored, 1 refused, 0 of unhealthy"));
  EXPECT_TRUE(holds(text, "| below 32 KB | 0 of 1 | 0 of 1 | - | - | - | - |\n")) << text;
  EXPECT_TRUE(holds(text, "| 1 to 16 MB | 1 | 1 | 10.0 % | 10.0 % | +10.0 % | 20 % |\n")) << text;
  EXPECT_TRUE(holds(text, "| 256 MB and more | 1 | 1 | 10.0 % | 10.0 % | +10.0 % | 6 % |\n"));
  EXPECT_TRUE(holds(text, "| all sizes | 2 of 3 | 2 of 3 | 10.0 % | 10.0 % | +10.0 % | 18 % |\n"));
  EXPECT_TRUE(holds(text, "| one NVLink domain | 2 of 3 | 2 of 3 | - | - | 10.0 % | - | 10.0 % |"));
  EXPECT_TRUE(holds(text, "| all_reduce | 2 of 3 | 2 of 3 |"));
  EXPECT_TRUE(holds(text, "| no link | 1 |\n"));
  EXPECT_TRUE(holds(text, "## Expert all-to-all\n\n1 rows: 1 scored"));
  EXPECT_TRUE(holds(text, "Must hold by system: 20 %."));
  EXPECT_TRUE(holds(text, "| mode normal | 1 |"));
  EXPECT_TRUE(holds(text, "| 2 nodes | 1 | 1 | 10.0 % | 10.0 % | +10.0 % |\n"));
  EXPECT_FALSE(holds(text, "left out"));
}

TEST(CommSection, WhereNothingIsPredictedThereAreOnlyReasons) {
  std::vector<Row> rows = some_rows();
  rows.erase(rows.begin(), rows.begin() + 2);
  rows.pop_back();
  const ValidationAnswer answer = answer_of(rows);
  const std::string text = comm_section(answer.comm);
  EXPECT_TRUE(holds(text, "1 rows: 0 scored, 1 refused"));
  EXPECT_FALSE(holds(text, "by system |")) << text;
  EXPECT_FALSE(holds(text, "## Expert"));
  EXPECT_EQ(comm_tables(answer.comm, Style{}), "");
}

TEST(CommSection, SystemsLeftOutHaveATableOfTheirOwn) {
  const std::vector<calibrate::LeaveOneOut> left_out{{"1 to 16 MB", 0.10, 0.125},
                                                     {"all sizes", 0.0, 0.1}};
  const std::string text = comm_section(answer_of(some_rows()).comm, left_out);
  EXPECT_TRUE(holds(text, "1.3 times what must hold above"));
  EXPECT_TRUE(holds(text, "| 1 to 16 MB | 10.0 % | 12.5 % | 1.25 | 26.0 % |\n")) << text;
  EXPECT_TRUE(holds(text, "| all sizes | 0.0 % | 10.0 % | - | 23.4 % |\n"));
}

TEST(CommSection, JsonHasTheSameFigures) {
  const ValidationAnswer answer = answer_of(some_rows());
  const auto json = nlohmann::json::parse(to_text(answer, Style{Format::kJson, false}));
  const auto& collectives = json.at("comm").at("collectives");
  EXPECT_EQ(collectives.at("scored"), 2);
  EXPECT_EQ(collectives.at("refusals").at(0).at("reason"), "no link");
  ASSERT_EQ(collectives.at("sizes").size(), 6U);
  EXPECT_EQ(collectives.at("sizes").at(0).at("macro_mape"), nullptr);
  EXPECT_EQ(collectives.at("sizes").at(0).at("refused"), 1);
  EXPECT_EQ(collectives.at("sizes").at(0).at("systems_refused"), 1);
  EXPECT_EQ(collectives.at("sizes").at(0).at("macro_limit"), nullptr);
  EXPECT_NEAR(collectives.at("sizes").at(5).at("macro_mape").get<double>(), 0.1, 1e-12);
  EXPECT_EQ(collectives.at("sizes").at(5).at("macro_limit"), 0.18);
  EXPECT_EQ(collectives.at("classes").at(0).at("sizes").size(), 5U);
  EXPECT_EQ(collectives.at("systems").at(1).at("name"), "y");
  EXPECT_EQ(json.at("comm").at("expert_all_to_all").at("all").at("macro_limit"), 0.2);
  EXPECT_FALSE(
      nlohmann::json::parse(to_text(answer_of({}), Style{Format::kJson, false})).contains("comm"));
}

TEST(CommSection, ATerminalShowsTheMainTablesAndCsvDoesNot) {
  const ValidationAnswer answer = answer_of(some_rows());
  EXPECT_TRUE(holds(to_text(answer, Style{Format::kTable, false}), "256 MB and more"));
  EXPECT_FALSE(holds(to_text(answer, Style{Format::kCsv, false}), "256 MB and more"));
}

}  // namespace
}  // namespace sextant::explain
