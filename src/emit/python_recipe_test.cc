#include "emit/python_recipe.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/any_job_testing.h"
#include "emit/torchtitan.h"

namespace sextant::emit {
namespace {

Settings read_recipe(std::string_view text) {
  const auto settings = parse_python_recipe(text, "recipe.py");
  EXPECT_TRUE(settings) << to_text(settings.error());
  return settings.value_or(Settings{});
}

std::string value(const Settings& settings, std::string_view key) {
  const Setting* setting = find(settings.given, key);
  return setting == nullptr ? "(absent)" : join(setting->values, "|");
}

// In the style of torchtitan's own config_registry.py.
constexpr std::string_view kRecipe = R"(# A recipe.
from typing import cast

from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.models.llama3 import model_registry

SEQUENCE = 8 * 1024
_STAGES = [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]


def big(seq_len: int | None = None) -> Trainer.Config:
    """Docs with "quotes" and def inside."""

    def process_sample(sample):
        x.training.steps = 7
        return [{"role": "user"}]

    compile_config = CompileConfig(enable=True, components=["model"])
    model_spec = model_registry(
        "405B",
        converters=[
            Float8LinearConverter.Config(
                filter_fqns=["lm_head"],
                model_compile_enabled=(
                    compile_config.enable and "model" in compile_config.components
                ),
            ),
        ],
    )
    return Trainer.Config(
        loss=ChunkedLossWrapper.Config(
            loss_fn=CrossEntropyLoss.Config(global_vocab_size=vocab(model_spec)),
        ),
        hf_assets_path="./assets",
        model_spec=model_spec,
        optimizer=default_adamw(lr=8e-5),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * SEQUENCE,
            max_context_length=SEQUENCE,
            steps=3_000,
        ),
        parallelism=ParallelismConfig(
            tensor_parallel_degree=8,
            data_parallel_shard_degree=-1,
            module_fqns_per_model_part=_STAGES,
        ),
        activation_checkpoint=FullAC.Config(),
        compile=compile_config,
        dataloader=Loader.Config(filters=(lambda sample: sample is not None,), d={"a": 1}),
    )


def tuned() -> Trainer.Config:
    config = big()
    config.parallelism.tensor_parallel_degree = 4
    config.activation_checkpoint = None
    config.compile = CompileConfig(enable=False)
    return config
)";

TEST(PythonRecipe, CallsConstantsAndArithmeticAreRead) {
  const Settings settings = read_recipe(kRecipe);
  EXPECT_EQ(value(settings, "recipe"), "tuned");
  EXPECT_EQ(value(settings, "model.name"), "llama3");
  EXPECT_EQ(value(settings, "model.flavor"), "405B");
  EXPECT_EQ(value(settings, "model.converters"), "Float8LinearConverter");
  EXPECT_EQ(value(settings, "loss"), "ChunkedLossWrapper");
  EXPECT_EQ(value(settings, "training.num_tokens_per_microbatch_per_dp_rank"), "16384");
  EXPECT_EQ(value(settings, "training.steps"), "3000");
  EXPECT_EQ(value(settings, "parallelism.data_parallel_shard_degree"), "-1");
  EXPECT_EQ(value(settings, "parallelism.module_fqns_per_model_part"),
            "tok_embeddings,layers.0|layers.1,norm,output");
}

TEST(PythonRecipe, AssignmentsReplaceWhatAnotherFunctionSet) {
  const Settings settings = read_recipe(kRecipe);
  EXPECT_EQ(value(settings, "parallelism.tensor_parallel_degree"), "4");
  EXPECT_EQ(value(settings, "activation_checkpoint"), "None");
  EXPECT_EQ(value(settings, "compile.enable"), "false");
  EXPECT_EQ(value(settings, "compile.components"), "(absent)");
  // Two recipes: which one was read is said, and nothing else is open.
  ASSERT_EQ(settings.unresolved.size(), 1U);
  EXPECT_NE(settings.unresolved[0].why.find("tuned"), std::string::npos);
}

TEST(PythonRecipe, ARecipeOfAnotherFileIsNamed) {
  const Settings settings = read_recipe(
      "def mine():\n    config = llama3_8b()\n    config.training.max_context_length = 4096\n"
      "    return config\n");
  EXPECT_EQ(value(settings, "config"), "llama3_8b");
  EXPECT_EQ(value(settings, "training.max_context_length"), "4096");
  EXPECT_TRUE(settings.unresolved.empty());
}

TEST(PythonRecipe, WhatIsNotFollowedIsSaidWithItsLine) {
  const Settings settings = read_recipe(
      "def mine():\n"
      "    config = llama3_8b()\n"
      "    config.parallelism.tensor_parallel_degree = world() // 8\n"
      "    if big:\n"
      "        config.training.steps = 3\n"
      "    config.training.max_context_length *= 2\n"
      "    tune(config)\n"
      "    return config\n");
  ASSERT_EQ(settings.unresolved.size(), 4U);
  std::vector<std::int64_t> lines;
  for (const Unresolved& one : settings.unresolved) {
    lines.push_back(one.place.line);
    EXPECT_FALSE(one.what.empty());
    EXPECT_FALSE(one.why.empty());
  }
  EXPECT_EQ(lines, (std::vector<std::int64_t>{3, 5, 6, 7}));
  EXPECT_EQ(value(settings, "parallelism.tensor_parallel_degree"), "(absent)");
}

TEST(PythonRecipe, AValuesPlaceSpansItsLiteral) {
  const std::string text =
      "def mine():\n    return Trainer.Config(\n"
      "        parallelism=ParallelismConfig(\n"
      "            tensor_parallel_degree=8, data_parallel_shard_degree=-1,\n"
      "            pipeline_parallel_schedule='1F1B', context_parallel_degree=2 * 2))\n";
  const Settings settings = read_recipe(text);
  const auto literal = [&](std::string_view key) {
    const Place& place = find(settings.given, key)->place;
    return text.substr(place.offset, place.length);
  };
  EXPECT_EQ(literal("parallelism.tensor_parallel_degree"), "8");
  EXPECT_EQ(literal("parallelism.data_parallel_shard_degree"), "-1");
  EXPECT_EQ(literal("parallelism.pipeline_parallel_schedule"), "'1F1B'");
  EXPECT_EQ(literal("parallelism.context_parallel_degree"), "");
  EXPECT_EQ(find(settings.given, "parallelism.tensor_parallel_degree")->place.line, 4);
}

TEST(PythonRecipe, ArithmeticNeverOverflowsOrRounds) {
  const Settings settings = read_recipe(
      "def mine():\n    return Trainer.Config(training=TrainingConfig(\n"
      "        a=2 ** 10 - 24, b=7 // 2, c=-7 % 3, d=9223372036854775807 + 1, e=1 // 0,\n"
      "        f=2 ** 1000, g=-9223372036854775807 - 1, h=(1 + 2) * 3, i=0x10, j=1e3 * 2))\n");
  EXPECT_EQ(value(settings, "training.a"), "1000");
  EXPECT_EQ(value(settings, "training.b"), "3");
  EXPECT_EQ(value(settings, "training.c"), "2");
  EXPECT_EQ(value(settings, "training.d"), "(absent)");
  EXPECT_EQ(value(settings, "training.e"), "(absent)");
  EXPECT_EQ(value(settings, "training.f"), "(absent)");
  EXPECT_EQ(value(settings, "training.h"), "9");
  EXPECT_EQ(value(settings, "training.i"), "16");
  EXPECT_EQ(value(settings, "training.j"), "2000");
  EXPECT_EQ(settings.unresolved.size(), 3U);
}

TEST(PythonRecipe, HostileFilesEndInSettingsOrAnError) {
  const std::string deep(100'000, '(');
  EXPECT_FALSE(parse_python_recipe("x = " + deep, "x.py"));
  std::string doubling = "a0 = [1, 1]\n";
  for (int i = 1; i < 64; ++i) {
    doubling += "a" + std::to_string(i) + " = [a" + std::to_string(i - 1) + ", a" +
                std::to_string(i - 1) + "]\n";
  }
  doubling += "def f():\n    return Trainer.Config(training=TrainingConfig(a=a63))\n";
  EXPECT_TRUE(parse_python_recipe(doubling, "x.py"));
  std::string calls;
  for (int i = 0; i < 2000; ++i) {
    calls += "def f" + std::to_string(i) + "():\n    return f" + std::to_string(i + 1) + "()\n";
  }
  EXPECT_TRUE(parse_python_recipe(calls, "x.py"));
  for (const std::string text : {"def",
                                 "def f(",
                                 "def f():\n return",
                                 "def f():\n return f()",
                                 "'",
                                 "\"\"\"",
                                 "x = [",
                                 "from",
                                 "def f():\n  a.b = 1\n  return a",
                                 "x = 1 **",
                                 "x = -",
                                 "def f():\n return -",
                                 "\\",
                                 "x = f(**",
                                 "return",
                                 "def f(): return 1",
                                 "=",
                                 "a = = 1",
                                 "))))",
                                 "x = lambda: (",
                                 "def f():\n c = r()\n c. = 1\n c.a. = 2\n return c",
                                 "if",
                                 "if x:",
                                 "def f():\n if x:"}) {
    EXPECT_TRUE(parse_python_recipe(text, "x.py")) << text;
  }
  EXPECT_TRUE(parse_python_recipe("x = " + std::string(100'000, '-') + "1", "x.py"));
  std::string powers = "x = 1";
  for (int i = 0; i < 50'000; ++i) {
    powers += "**1";
  }
  EXPECT_TRUE(parse_python_recipe(powers, "x.py"));
}

bool same(const std::vector<Setting>& a, const std::vector<Setting>& b) {
  for (const Setting& setting : a) {
    const Setting* other = find(b, setting.key);
    if (other == nullptr || other->values != setting.values) {
      return false;
    }
  }
  return true;
}

RC_GTEST_PROP(PythonRecipe, RenderedSettingsReadBack, ()) {
  const Writing writing = write_torchtitan(any_job(describe::Framework::kTorchtitan));
  const auto again = parse_python_recipe(render_python_recipe(writing.settings, {"made"}), "r.py");
  RC_ASSERT(again.has_value());
  RC_ASSERT(same(writing.settings.given, again->given));
  RC_ASSERT(again->unresolved.empty());
}

RC_GTEST_PROP(PythonRecipe, ChangesOfAnotherRecipeReadBack, ()) {
  Writing writing = write_torchtitan(any_job(describe::Framework::kTorchtitan));
  writing.settings.given.push_back({"config", {"llama3_8b"}, {}});
  const auto again = parse_python_recipe(render_python_recipe(writing.settings, {}), "r.py");
  RC_ASSERT(again.has_value());
  RC_ASSERT(same(writing.settings.given, again->given));
}

RC_GTEST_PROP(PythonRecipe, AnyTextValueReadsBack, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  RC_PRE(text != "None" && text != "true" && text != "false");
  Settings settings;
  settings.given = {{"training.dtype", {text}, {}}, {"model.flavor", {text}, {}}};
  const auto again = parse_python_recipe(render_python_recipe(settings, {text}), "r.py");
  RC_ASSERT(again.has_value());
  const Setting* found = find(again->given, "training.dtype");
  RC_ASSERT(found != nullptr);
  // Numbers may be spelled another way.
  RC_ASSERT(to_double(text).has_value() || found->values[0] == text);
}

RC_GTEST_PROP(PythonRecipe, AnyBytesEndInSettingsOrAnError, ()) {
  const std::vector<std::string> pieces{"def f():\n",
                                        "    return ",
                                        "Trainer.Config(",
                                        ")",
                                        "(",
                                        "[",
                                        "]",
                                        "x",
                                        " = ",
                                        "1",
                                        "**",
                                        "-",
                                        ",",
                                        "'a'",
                                        "\n",
                                        "    ",
                                        "config",
                                        ".a",
                                        "f()",
                                        "\"\"\"",
                                        "\\",
                                        ":",
                                        "lambda",
                                        "{",
                                        "}",
                                        "training=",
                                        "if x:",
                                        "#",
                                        ";",
                                        "0x",
                                        "1e9",
                                        "*"};
  std::string text;
  for (const std::size_t i : *rc::gen::container<std::vector<std::size_t>>(
           rc::gen::inRange<std::size_t>(0, pieces.size()))) {
    text += pieces[i];
  }
  (void)parse_python_recipe(text, "r.py");
}

}  // namespace
}  // namespace sextant::emit
