#include "explain/parameter_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sextant::explain {
namespace {

using nlohmann::json;

const std::vector<Parameter>& some_parameters() {
  static const std::vector<Parameter> kParameters{
      {.name = "model",
       .kind = ParameterKind::kModel,
       .value = "MODEL",
       .help = "a name",
       .example = "llama-3.1-8b",
       .required = true},
      {.name = "top",
       .kind = ParameterKind::kCount,
       .value = "COUNT",
       .help = "shown",
       .fallback = "5"},
      {.name = "by",
       .kind = ParameterKind::kWord,
       .value = "KIND",
       .help = "a|b",
       .fallback = "rank",
       .words = {"rank", "node"}},
      {.name = "from",
       .kind = ParameterKind::kFileToRead,
       .value = "FILE",
       .help = "files",
       .example = "train.sh",
       .many = true},
      {.name = "days",
       .kind = ParameterKind::kNumber,
       .value = "NUMBER",
       .help = "a deadline",
       .otherwise = "none",
       .example = "30"},
      {.name = "list", .kind = ParameterKind::kFlag, .help = "all"}};
  return kParameters;
}

TEST(ParametersSchema, TypesDefaultsAndExamplesAreThoseOfTheKinds) {
  const json schema = json::parse(parameters_schema(some_parameters()));
  const json& properties = schema.at("properties");
  EXPECT_EQ(schema.at("type"), "object");
  EXPECT_EQ(schema.at("required"), json::array({"model"}));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(properties.size(), some_parameters().size());
  EXPECT_EQ(properties.at("model").at("type"), "string");
  EXPECT_EQ(properties.at("model").at("examples"), json::array({"llama-3.1-8b"}));
  EXPECT_EQ(properties.at("top").at("type"), "integer");
  EXPECT_EQ(properties.at("top").at("default"), 5);
  EXPECT_EQ(properties.at("by").at("enum"), json::array({"rank", "node"}));
  EXPECT_EQ(properties.at("from").at("type"), "array");
  EXPECT_EQ(properties.at("from").at("items").at("type"), "string");
  EXPECT_EQ(properties.at("from").at("examples"), json::parse(R"([["train.sh"]])"));
  EXPECT_EQ(properties.at("days").at("type"), "number");
  EXPECT_EQ(properties.at("days").at("description"), "a deadline (default: none)");
  EXPECT_EQ(properties.at("list").at("type"), "boolean");
}

TEST(ParametersSchema, OfNothingIsAnEmptyObject) {
  const json schema = json::parse(parameters_schema({}));
  EXPECT_TRUE(schema.at("properties").empty());
  EXPECT_TRUE(schema.at("properties").is_object());
  EXPECT_TRUE(schema.at("required").empty());
}

TEST(ParametersPage, HasARowAParameterAndKeepsItsColumns) {
  const std::string page =
      parameters_page(std::vector<ParameterTable>{{"plan", "The best", some_parameters()}});
  EXPECT_NE(page.find("## plan\n\nThe best.\n"), std::string::npos);
  EXPECT_NE(page.find("| `model` | a model | required | a name | `llama-3.1-8b` |\n"),
            std::string::npos);
  EXPECT_NE(page.find("| `by` | one of: `rank`, `node` | `rank` | a\\|b |  |\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::explain
