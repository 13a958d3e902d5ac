#include "emit/tree_file.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

using Values = std::vector<std::string>;

Settings yaml(std::string_view text) {
  auto settings = parse_yaml(text, "job.yaml", Dialect::kMaxtext);
  EXPECT_TRUE(settings) << to_text(settings.error());
  return settings ? *settings : Settings{};
}

Settings json(std::string_view text) {
  auto settings = parse_json(text, "ds.json", Dialect::kDeepspeed);
  EXPECT_TRUE(settings) << to_text(settings.error());
  return settings ? *settings : Settings{};
}

Values values(const Settings& settings, std::string_view key) {
  const Setting* found = find(settings.given, key);
  return found == nullptr ? Values{"(absent)"} : found->values;
}

std::string yaml_error(std::string_view text) {
  const auto settings = parse_yaml(text, "job.yaml", Dialect::kMaxtext);
  return settings ? "no error" : to_text(settings.error());
}

std::string json_error(std::string_view text) {
  const auto settings = parse_json(text, "ds.json", Dialect::kDeepspeed);
  return settings ? "no error" : to_text(settings.error());
}

TEST(TreeFile, NestsKeysByDots) {
  const Settings settings = yaml(
      "# a comment\n"
      "general:\n"
      "  steps: 10_000  # with underscores\n"
      "axes: ['data', \"fsdp\", tensor]\n"
      "empty: []\n"
      "nothing:\n"
      "stages:\n"
      "  - name: first\n"
      "    share: 0.5\n"
      "  - name: second\n");
  EXPECT_EQ(values(settings, "general.steps"), Values{"10_000"});
  EXPECT_EQ(values(settings, "axes"), (Values{"data", "fsdp", "tensor"}));
  EXPECT_EQ(values(settings, "empty"), Values{});
  EXPECT_EQ(values(settings, "nothing"), Values{"null"});
  EXPECT_EQ(values(settings, "stages.0.share"), Values{"0.5"});
  EXPECT_EQ(values(settings, "stages.1.name"), Values{"second"});
  EXPECT_EQ(settings.given.size(), 7U);
}

TEST(TreeFile, PlacesSpanTheLiteral) {
  const std::string text =
      "\xEF\xBB\xBF"
      "a: 1\n"
      "größe: 'it''s'\r\n"
      "b:\n"
      "    c: \"x\\\"y\"  # why\n"
      "    d: plain words here # why\n"
      "    e: [1, 2]\n";
  const Settings settings = yaml(text);
  const auto literal = [&](std::string_view key) {
    const Place& place = find(settings.given, key)->place;
    return text.substr(place.offset, place.length);
  };
  EXPECT_EQ(literal("a"), "1");
  EXPECT_EQ(literal("größe"), "'it''s'");
  EXPECT_EQ(literal("b.c"), "\"x\\\"y\"");
  EXPECT_EQ(literal("b.d"), "plain words here");
  EXPECT_EQ(literal("b.e"), "");
  EXPECT_EQ(find(settings.given, "b.d")->place.line, 5);
  EXPECT_EQ(values(settings, "b.c"), Values{"x\"y"});
}

TEST(TreeFile, ExpandsAliasesAndMergeKeys) {
  const Settings settings = yaml(
      "base: &base {lr: 0.1, steps: 5}\n"
      "run:\n"
      "  <<: *base\n"
      "  steps: 7\n"
      "copy: *base\n");
  EXPECT_EQ(values(settings, "run.lr"), Values{"0.1"});
  EXPECT_EQ(values(settings, "run.steps"), Values{"7"});
  EXPECT_EQ(values(settings, "copy.steps"), Values{"5"});
  EXPECT_EQ(find(settings.given, "copy.steps")->place.length, 0U);
  EXPECT_GT(find(settings.given, "base.steps")->place.length, 0U);
}

TEST(TreeFile, JsonMayHaveCommentsAndTrailingCommas) {
  const std::string text =
      "{\n"
      "  // line\n"
      "\t\"zero_optimization\": { \"stage\": 3, /* block\n over lines */ \"overlap_comm\": true, "
      "},\n"
      "  # hash\n"
      "  \"url\": \"http://x/*y*/#z\",\n"
      "  \"auto\" : \"auto\", \"list\":[1e5, -2.5, null,],\n"
      "}\n";
  const Settings settings = json(text);
  EXPECT_EQ(values(settings, "zero_optimization.stage"), Values{"3"});
  EXPECT_EQ(values(settings, "zero_optimization.overlap_comm"), Values{"true"});
  EXPECT_EQ(values(settings, "url"), Values{"http://x/*y*/#z"});
  EXPECT_EQ(values(settings, "list"), (Values{"1e5", "-2.5", "null"}));
  const Place& place = find(settings.given, "auto")->place;
  EXPECT_EQ(text.substr(place.offset, place.length), "\"auto\"");
}

TEST(TreeFile, OtherHjsonIsAClearError) {
  EXPECT_EQ(json_error("{\n stage: 3\n}"),
            "ds.json:2: 'stage' stands without quotes: this form of hjson is not read (allowed: "
            "JSON with comments: keys and words in double quotes, values separated by commas)");
  EXPECT_NE(json_error("{\"a\": 'x'}").find("single quotes"), std::string::npos);
  EXPECT_NE(json_error("{\"a\": 1 /* open").find("not closed"), std::string::npos);
  EXPECT_NE(json_error("{\"a\": 1\n \"b\": 2}"), "no error");
  EXPECT_NE(json_error("[1, 2]"), "no error");
  EXPECT_NE(json_error(""), "no error");
}

// As PyYAML takes them: frameworks that read the file never saw the first.
TEST(TreeFile, OfAKeyGivenTwiceInYamlTheLastStands) {
  const auto twice =
      parse_yaml("a: 1\nm: null\na: 3\nm:\n  x: 8\n", "job.yaml", Dialect::kNanotron);
  ASSERT_TRUE(twice);
  ASSERT_EQ(twice->given.size(), 2U);
  EXPECT_EQ(find(twice->given, "a")->values, std::vector<std::string>{"3"});
  EXPECT_EQ(find(twice->given, "m.x")->values, std::vector<std::string>{"8"});
  const auto tables = parse_yaml("a: {x: 1}\na: {y: 2}\n", "job.yaml", Dialect::kNanotron);
  ASSERT_TRUE(tables);
  EXPECT_EQ(find(tables->given, "a.x"), nullptr);
}

TEST(TreeFile, KeysGivenTwiceAnotherWayAreAnError) {
  EXPECT_NE(yaml_error("a.b: 1\na: {b: 2}\n"), "no error");
  EXPECT_NE(json_error("{\"a\": 1, \"a\": 1}").find("given twice"), std::string::npos);
}

TEST(TreeFile, HostileTextEndsInAnErrorWithAPlace) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const char before = static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) {
      bomb += std::string(i == 0 ? "*" : ", *") + before;
    }
    bomb += "]\n";
  }
  std::string merge_bomb = "a: &a {x: 1}\n";
  for (char c = 'b'; c < 'z'; ++c) {
    const char before = static_cast<char>(c - 1);
    merge_bomb += fmt::format("{0}: &{0} {{<<: [*{1}, *{1}, *{1}, *{1}]}}\n", c, before);
  }
  std::string many;
  for (int i = 0; i < 100'002; ++i) {
    many += "k" + std::to_string(i) + ": 1\n";
  }
  const std::vector<std::string> texts{
      std::string(100, '[') + std::string(100, ']'),
      "a: " + std::string(70, '[') + std::string(70, ']'),
      std::string(100'000, '['),
      std::string(100'000, '{'),
      std::string(3'000'000, '-'),
      bomb,
      merge_bomb,
      "a: &a [*a, *a]\n",
      "a: &a {b: *a}\n",
      "<<: &a {<<: *a}\n",
      "a: *nowhere\n",
      many,
      std::string(5'000'000, 'a'),
      "a: \xff\xfe\n",
      std::string("a: 1\0b: 2", 9),
      "a: \x04 b\n",
      "a: 1\n---\nb: 2\n",
      "just words\n",
      "- a\n- b\n",
      "{a: b}: c\n",
      "a: b: c\n",
      "%YAML 9.9\n---\na: 1\n",
      "a: !!binary [}\n",
  };
  for (const std::string& text : texts) {
    const auto settings = parse_yaml(text, "job.yaml", Dialect::kMaxtext);
    ASSERT_FALSE(settings) << printable(text);
    EXPECT_TRUE(settings.error().where.starts_with("job.yaml")) << printable(text);
    (void)parse_json(text, "ds.json", Dialect::kDeepspeed);
  }
  EXPECT_TRUE(yaml("").given.empty());
  EXPECT_TRUE(yaml("# nothing\n").given.empty());
}

// Keys and values of every kind of spelling.
rc::Gen<std::string> any_value() {
  return rc::gen::oneOf(
      rc::gen::element<std::string>(
          "1", "-1", "0.25", "1e-5", "10_000", "+1", ".5", "1.", "true", "True", "null", "Null",
          "~", "no", "yes", "", " ", "- a", "a: b", "a #b", "#a", "'a'", "\"a\"", "a\\b", "a\nb",
          "a\tb", "[a", "{a}", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a", "a,b", "0x10", "01",
          "1_", "1e999", "--x", "größe", "\x01", "---", "...", "<<"),
      rc::gen::container<std::string>(rc::gen::inRange<char>(' ', 127)));
}

rc::Gen<std::string> any_key() {
  return rc::gen::map(
      rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
                             rc::gen::element<std::string>("a", "b", "0", "1", "2"), any_value()))),
      [](const std::vector<std::string>& parts) { return join(parts, "."); });
}

TEST(TreeFile, WhatIsWrittenReadsBack) {
  EXPECT_TRUE(rc::check("YAML and JSON", [] {
    std::map<std::string, Values> wanted;
    Settings settings;
    const auto count = *rc::gen::inRange(0, 8);
    for (int i = 0; i < count; ++i) {
      const std::string key = *any_key();
      Values chosen = *rc::gen::resize(3, rc::gen::container<Values>(any_value()));
      if (wanted.emplace(key, chosen).second) {
        settings.given.push_back({key, chosen, {}});
      }
    }
    const auto read = [&](const Result<Settings>& again) {
      if (!again) {
        RC_FAIL(to_text(again.error()));
      }
      std::map<std::string, Values> found;
      for (const Setting& setting : again->given) {
        found.emplace(setting.key, setting.values);
      }
      RC_ASSERT(found == wanted);
    };
    const std::vector<std::string> comments{"two\nlines", "tp=8"};
    const std::string text = render_yaml(settings, comments);
    RC_LOG(text);
    read(parse_yaml(text, "again.yaml", Dialect::kMaxtext));
    const std::string as_json = render_json(settings);
    RC_LOG(as_json);
    read(parse_json(as_json, "again.json", Dialect::kMaxtext));
  }));
}

TEST(TreeFile, ManyKeysAreQuickToWrite) {
  Settings settings;
  for (int i = 0; i < 3000; ++i) {
    settings.given.push_back({"table.k" + std::to_string(i), {"1"}, {}});
  }
  EXPECT_EQ(yaml(render_yaml(settings)).given.size(), 3000U);
}

TEST(TreeFile, KnowsWhoseFileItIs) {
  const auto dialect = [](std::string_view text) { return dialect_of_tree(yaml(text)); };
  EXPECT_EQ(dialect("ici_fsdp_parallelism: 4\n"), Dialect::kMaxtext);
  EXPECT_EQ(dialect("base_config: base.yml\nremat_policy: full\n"), Dialect::kMaxtext);
  EXPECT_EQ(dialect("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n"),
            Dialect::kAccelerate);
  EXPECT_EQ(dialect("parallelism: {dp: 2, tp: 4, pp: 1}\ntokens: {sequence_length: 2048}\n"),
            Dialect::kNanotron);
  EXPECT_EQ(dialect("{\"zero_optimization\": {\"stage\": 2}}"), Dialect::kDeepspeed);
  EXPECT_EQ(dialect("model: {_target_: a.b, num_layers: 4}\ntrain: {micro_batch_size: 1}\n"),
            Dialect::kBridge);
  EXPECT_EQ(dialect("MODEL_ARGS:\n  --num-layers: 12\n"), Dialect::kMegatron);
  EXPECT_EQ(dialect("parallelism: {tensor_parallel_degree: 2}\n"), Dialect::kTorchtitan);
  EXPECT_EQ(dialect("base_model: x\nmicro_batch_size: 1\nfsdp_config: {fsdp_version: 2}\n"),
            std::nullopt);
  EXPECT_EQ(dialect("a: 1\n"), std::nullopt);
}

TEST(TreeFile, MegatronTestsAreCommandLines) {
  const Settings settings = yaml(
      "ENV_VARS:\n"
      "  CUDA_DEVICE_MAX_CONNECTIONS: 1\n"
      "MODEL_ARGS:\n"
      "  --num-layers: 12\n"
      "  --bf16: true\n"
      "  --untie: false\n"
      "  --data-path: a b\n");
  std::vector<std::string> words;
  for (const WordAt& word : megatron_test_words(settings)) {
    words.push_back(word.text);
  }
  EXPECT_EQ(words,
            (std::vector<std::string>{"--num-layers", "12", "--bf16", "--data-path", "a", "b"}));
  ASSERT_EQ(megatron_test_environment(settings).size(), 1U);
  EXPECT_EQ(megatron_test_environment(settings)[0].key, "CUDA_DEVICE_MAX_CONNECTIONS");
}

}  // namespace
}  // namespace sextant::emit
