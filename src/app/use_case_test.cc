// Every use case as generic callers see it: through use_cases(), with names and words.
#include "app/use_case.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "app/settings.h"
#include "app/testing.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/scratch_folder_testing.h"
#include "base/text.h"
#include "explain/style.h"

namespace sextant::app {
namespace {

constexpr explain::Style kJson{explain::Format::kJson, false};

std::vector<explain::ParameterTable> parameter_tables() {
  std::vector<explain::ParameterTable> tables;
  for (const UseCase& use_case : use_cases()) {
    tables.push_back({use_case.name, use_case.summary, use_case.parameters});
  }
  return tables;
}

const Parameter* parameter_of(const UseCase& use_case, std::string_view name) {
  const auto found = std::ranges::find(use_case.parameters, name, &Parameter::name);
  return found == use_case.parameters.end() ? nullptr : &*found;
}

Values values_of(const Example& example) {
  Values values;
  for (const auto& [name, value] : example.given) {
    if (!is_setting(name)) {
      values.add(name, std::string(value));
    }
  }
  return values;
}

// Calls back with every parameter of every use case.
template <typename Check>
void for_each_parameter(const Check& check) {
  for (const UseCase& use_case : use_cases()) {
    for (const Parameter& parameter : use_case.parameters) {
      SCOPED_TRACE(std::string(use_case.name) + " " + std::string(parameter.name));
      check(use_case, parameter);
    }
  }
}

TEST(UseCases, NamesAreBareAndOfOneMeaning) {
  std::set<std::string_view> use_case_names;
  for (const UseCase& use_case : use_cases()) {
    EXPECT_TRUE(use_case_names.insert(use_case.name).second) << use_case.name;
    std::set<std::string_view> names;
    for (const Parameter& parameter : use_case.parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << use_case.name << " " << parameter.name;
      EXPECT_FALSE(is_setting(parameter.name) && !is_one_of(parameter.name, {"framework", "kb"}))
          << use_case.name << " " << parameter.name << " would hide a setting";
      EXPECT_EQ(parameter.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos)
          << parameter.name;
      EXPECT_FALSE(parameter.name.starts_with('-')) << parameter.name;
    }
  }
}

TEST(UseCases, RowsOfTheTablesAreWhole) {
  for_each_parameter([](const UseCase& /*use_case*/, const Parameter& parameter) {
    EXPECT_FALSE(parameter.help.empty());
    EXPECT_EQ(parameter.help.find("--"), std::string::npos);
    const bool flag = parameter.kind == ParameterKind::kFlag;
    EXPECT_EQ(parameter.value.empty(), flag);
    EXPECT_EQ(parameter.example.empty(), flag);
    EXPECT_TRUE(parameter.fallback.empty() || parameter.otherwise.empty());
    EXPECT_FALSE(parameter.required && !parameter.fallback.empty());
    const bool worded = parameter.kind == ParameterKind::kWord ||
                        parameter.kind == ParameterKind::kWords ||
                        parameter.kind == ParameterKind::kPrefix;
    EXPECT_TRUE(!worded || !parameter.words.empty());
    const auto known = [&](std::string_view word) {
      return word.empty() || std::ranges::find(parameter.words, word) != parameter.words.end();
    };
    if (parameter.kind == ParameterKind::kWord) {
      EXPECT_TRUE(known(parameter.fallback));
      EXPECT_TRUE(known(parameter.example));
    }
  });
}

TEST(UseCases, ExamplesAreOfTheirTables) {
  for (const UseCase& use_case : use_cases()) {
    EXPECT_FALSE(use_case.examples.empty()) << use_case.name;
    for (const Example& example : use_case.examples) {
      const UseCase& of = example.use_case.empty() ? use_case : *find_use_case(example.use_case);
      for (const auto& [name, value] : example.given) {
        const Parameter* parameter = parameter_of(of, name);
        EXPECT_TRUE(parameter != nullptr || is_setting(name)) << use_case.name << " " << name;
        EXPECT_EQ(value.empty(), parameter != nullptr && parameter->kind == ParameterKind::kFlag)
            << use_case.name << " " << name;
      }
    }
  }
}

// Examples that ask for no search, no table and no file of the user's.
bool answers_at_once(const UseCase& use_case, const Example& example) {
  const Values values = values_of(example);
  return is_one_of(use_case.name, {"model", "cluster", "memory", "traffic", "explain"}) &&
         example.use_case.empty() && values.one("model").find("config.json") == std::string::npos &&
         values.one("cluster").find(".toml") == std::string::npos;
}

TEST(UseCases, ExamplesAreAnswered) {
  const Context context = megatron_context();
  for (const UseCase& use_case : use_cases()) {
    for (const Example& example : use_case.examples) {
      if (!answers_at_once(use_case, example)) {
        continue;
      }
      const auto reply = ask(use_case, values_of(example), context);
      ASSERT_TRUE(reply) << use_case.name << ": " << to_text(reply.error());
      EXPECT_FALSE(reply->text(kJson).empty());
      EXPECT_FALSE(reply->text({}).empty());
    }
  }
}

std::string megatron_script(const ScratchFolder& folder) {
  return folder.write("train.sh",
                      "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --bf16 "
                      "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 "
                      "--num-attention-heads 32 --swiglu --vocab-size 32000 "
                      "--seq-length 4096 --micro-batch-size 1 --global-batch-size 64\n");
}

std::string one_kernel(const ScratchFolder& folder) {
  return folder.write("trace.json", R"json({"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
 "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 90,
 "args": {"device": 0, "stream": 7, "correlation": 1}}]})json");
}

// A request so small that every parameter of its use case can be tried on it.
struct SmallRequest {
  std::string_view use_case;
  Values values;
};

// Every parameter that has a default or words says something in one of them. Files that they read
// lie in `folder`.
std::vector<SmallRequest> small_requests(const ScratchFolder& folder) {
  const std::string script = megatron_script(folder);
  const std::string trace = one_kernel(folder);
  const std::string kb = (folder.path() / "kb.sqlite").string();
  const Values job{{"model", "llama-3.1-8b"}, {"on", "8xh100-sxm"}, {"layout", "tp=2"}};
  const Values all_reduce{{"collective", "all_reduce"}, {"on", "2xdgx-h100"}};
  return {
      {"memory", job},
      {"traffic", job},
      {"estimate", job},
      {"estimate", all_reduce},
      {"estimate", {{"on", "2xdgx-h100"}}},
      {"compare",
       {{"model", "llama-3.1-8b"}, {"on", "8xh100-sxm"}, {"layout", "tp=2"}, {"layout", "tp=4"}}},
      {"check", {{"file", script}}},
      {"emit", job},
      {"plan",
       {{"model", "llama-3.2-1b"},
        {"on", "1xh100-sxm"},
        {"gbs", "4"},
        {"fix", "recompute=none,mbs=1"}}},
      {"plan",
       {{"model", "llama-3.2-1b"},
        {"on", "1xh100-sxm"},
        {"gbs", "4"},
        {"fix", "recompute=none,mbs=1"},
        {"emit", "megatron"}}},
      {"explain",
       {{"topic", "memory"}, {"model", "llama-3.1-8b"}, {"on", "8xh100-sxm"}, {"layout", "tp=2"}}},
      {"diagnose", {{"trace", trace}}},
      {"diff", {{"a", trace}, {"b", trace}}},
      {"kb", {{"kb", kb}}},
      {"kb", {{"kb", kb}, {"action", "search"}, {"what", "bubble"}}},
      {"kb", {{"kb", kb}, {"what", "interleave-stages"}}},
      {"kb",
       {{"kb", kb},
        {"title", "Ours"},
        {"advice", "Do it."},
        {"source", "us"},
        {"at", "2026-01-02T03:04:05Z"}}},
      {"kb",
       {{"kb", kb},
        {"action", "add"},
        {"title", "Ours"},
        {"advice", "Do it."},
        {"source", "us"},
        {"at", "2026-01-02T03:04:05Z"},
        {"replace", ""}}},
      {"kb",
       {{"kb", kb},
        {"action", "add"},
        {"title", "Ours"},
        {"kind", "win"},
        {"source", "us"},
        {"metric", "mem_gib"},
        {"before", "tp=8"},
        {"after", "tp=4"},
        {"at", "2026-01-02T03:04:05Z"},
        {"replace", ""}}},
      {"verify",
       {{"model", "llama-3.2-1b"},
        {"on", "1xh100-sxm"},
        {"gbs", "4"},
        {"layout", "mbs=1,recompute=full"},
        {"change", "recompute=none"}}},
      {"tune",
       {{"model", "llama-3.2-1b"},
        {"on", "1xh100-sxm"},
        {"gbs", "4"},
        {"layout", "mbs=1,recompute=full"},
        {"pin", "mbs=1"},
        {"no-planner", ""},
        {"no-kb", ""},
        {"no-log", ""}}},
      {"tune",
       {{"model", "llama-3.2-1b"},
        {"on", "1xh100-sxm"},
        {"gbs", "4"},
        {"layout", "mbs=1,recompute=full"},
        {"no-planner", ""},
        {"no-kb", ""},
        {"llm", "http://127.0.0.1:9"},
        {"llm-model", "m"},
        {"dry-run-llm", ""}}}};
}

using TriedParameter = std::pair<std::string_view, std::string_view>;  // use case, its parameter

// What the table says counts where nothing is given is what does: said aloud it changes no number.
TEST(UseCases, TheDefaultSaidAloudIsTheAnswerWithoutIt) {
  const Context context = megatron_context();
  const ScratchFolder folder;
  constexpr explain::Style kCsv{explain::Format::kCsv, false};
  std::set<TriedParameter> tried;
  for (const auto& [name, values] : small_requests(folder)) {
    const UseCase& use_case = *find_use_case(name);
    const auto plain = ask(use_case, values, context);
    for (const Parameter& parameter : use_case.parameters) {
      if (!plain || parameter.fallback.empty()) {
        continue;
      }
      Values aloud = values;
      aloud.add(parameter.name, std::string(parameter.fallback));
      if (const auto said = ask(use_case, aloud, context)) {
        EXPECT_EQ(said->text(kCsv), plain->text(kCsv)) << name << " " << parameter.name;
        tried.insert({name, parameter.name});
      }
    }
  }
  for_each_parameter([&tried](const UseCase& use_case, const Parameter& parameter) {
    EXPECT_TRUE(parameter.fallback.empty() || tried.contains({use_case.name, parameter.name}));
  });
}

TEST(UseCases, WordsOfTheTablesAreAccepted) {
  const Context context = megatron_context();
  const ScratchFolder folder;
  std::set<std::pair<TriedParameter, std::string_view>> accepted;
  for (const auto& [name, values] : small_requests(folder)) {
    const UseCase& use_case = *find_use_case(name);
    for (const Parameter& parameter : use_case.parameters) {
      for (const std::string_view word : parameter.words) {
        Values more = values;
        more.add(parameter.name, std::string(word));
        const std::pair one{TriedParameter{name, parameter.name}, word};
        if (!accepted.contains(one) && ask(use_case, more, context)) {
          accepted.insert(one);
        }
      }
    }
  }
  for_each_parameter([&accepted](const UseCase& use_case, const Parameter& parameter) {
    for (const std::string_view word : parameter.words) {
      EXPECT_TRUE(accepted.contains({{use_case.name, parameter.name}, word})) << word;
    }
  });
}

// A word that no table has is no use case's.
TEST(UseCases, OtherWordsAreErrors) {
  const Context context = megatron_context();
  const ScratchFolder folder;
  for (const auto& [name, values] : small_requests(folder)) {
    const UseCase& use_case = *find_use_case(name);
    for (const Parameter& parameter : use_case.parameters) {
      if (!parameter.words.empty()) {
        Values wrong = values;
        wrong.add(parameter.name, "nonsense");
        EXPECT_FALSE(ask(use_case, wrong, context)) << name << " " << parameter.name;
      }
    }
  }
}

TEST(UseCases, WhatIsNotOfTheTableIsAnError) {
  const Context context = megatron_context();
  const UseCase& memory = *find_use_case("memory");
  const auto unknown = ask(memory, {{"model", "llama-3.1-8b"}, {"gsb", "4"}}, context);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().what, "'gsb' is not a parameter; did you mean gbs?");
  const auto twice = ask(memory, {{"model", "llama-3.1-8b"}, {"model", "llama-3.1-70b"}}, context);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().what, "‹model› is given 2 times");
  const auto missing = ask(memory, {{"on", "8xh100-sxm"}}, context);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what, "‹model› is missing");
  EXPECT_EQ(missing.error().where, "«memory»");
}

TEST(UseCases, FilesComeBackAndAreNotWritten) {
  const auto reply = ask(*find_use_case("traffic"),
                         {{"model", "llama-3.1-8b"},
                          {"on", "8xh100-sxm"},
                          {"layout", "tp=2"},
                          {"matrix", "no/such/folder/matrix.csv"},
                          {"heat-map", "no/such/folder/map.svg"}},
                         megatron_context());
  ASSERT_TRUE(reply) << to_text(reply.error());
  ASSERT_EQ(reply->artifacts.size(), 2U);
  std::string matrix;
  reply->artifacts[0].pour([&matrix](std::string_view piece) { matrix += piece; });
  EXPECT_EQ(reply->artifacts[0].path, "no/such/folder/matrix.csv");
  EXPECT_TRUE(matrix.starts_with("from,to"));
  EXPECT_TRUE(reply->artifacts[1].bytes.starts_with("<svg") ||
              reply->artifacts[1].bytes.starts_with("<?xml"));
}

TEST(UseCases, AJobThatIsNotLegalIsAnAnswerThatSaysNo) {
  const auto reply = ask(*find_use_case("memory"),
                         {{"model", "llama-3.1-8b"}, {"on", "8xh100-sxm"}, {"layout", "tp=3"}},
                         megatron_context());
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->outcome, Outcome::kNo);
  EXPECT_NE(reply->text(kJson).find("\"legal\": false"), std::string::npos);
}

// With SEXTANT_UPDATE_PAGES set in the environment the page is written instead.
TEST(UseCases, ThePageIsTheTables) {
  const std::filesystem::path page = source_folder() / "docs" / "parameters.md";
  const std::string wanted = explain::parameters_page(parameter_tables());
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(page) << wanted;
  }
  const auto text = read_text(page, 1_MiB);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, wanted);
}

}  // namespace
}  // namespace sextant::app
