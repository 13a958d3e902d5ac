#include "emit/patch.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/file.h"
#include "base/scratch_folder_testing.h"
#include "emit/patch_diff.h"
#include "emit/shell_job.h"

namespace sextant::emit {
namespace {

Settings wanted(std::vector<Setting> given) {
  Settings settings;
  settings.given = std::move(given);
  return settings;
}

// The script after the patch, and what is left to be done by hand.
struct After {
  std::string text;
  std::vector<std::string> by_hand;
};

After patched(const std::string& script, const Settings& want) {
  const auto patch = patch_script({"t.sh", script, false}, want);
  EXPECT_TRUE(patch) << (patch ? "" : to_text(patch.error()));
  After after;
  if (patch) {
    after.text = applied(script, patch->edits);
    for (const ByHand& one : patch->by_hand) {
      after.by_hand.push_back(one.key);
    }
  }
  return after;
}

using Keys = std::vector<std::string>;

TEST(Patch, NothingWantedChangesNothing) {
  const std::string script = "torchrun pretrain_gpt.py --num-layers 4\n";
  EXPECT_EQ(patched(script, wanted({})).text, script);
  EXPECT_EQ(patched(script, wanted({{"num_layers", {"4"}, {}}})).text, script);
}

TEST(Patch, ChangesTheLiteralWhereverItStands) {
  const After after = patched(
      "TP=8\nP=\"--pipeline-model-parallel-size 4\"\n"
      "torchrun pretrain_gpt.py --tensor-model-parallel-size $TP $P --micro-batch-size=1 \\\n"
      "  --seq-length '4096'\n",
      wanted({{"tensor_model_parallel_size", {"4"}, {}},
              {"pipeline_model_parallel_size", {"16"}, {}},
              {"micro_batch_size", {"2"}, {}},
              {"seq_length", {"8192"}, {}}}));
  EXPECT_EQ(after.text,
            "TP=4\nP=\"--pipeline-model-parallel-size 16\"\n"
            "torchrun pretrain_gpt.py --tensor-model-parallel-size $TP $P --micro-batch-size=2 \\\n"
            "  --seq-length '8192'\n");
  EXPECT_TRUE(after.by_hand.empty());
}

TEST(Patch, AddsFlagsBesideTheParallelOnes) {
  const Settings want = wanted({{"sequence_parallel", {"true"}, {}},
                                {"pipeline_model_parallel_layout", {"Et|(tt|)*3,L"}, {}}});
  const After array = patched(
      "A=(\n  --tensor-model-parallel-size 8 # inside a node\n)\n"
      "torchrun pretrain_gpt.py ${A[@]} --bf16\n",
      want);
  EXPECT_EQ(array.text,
            "A=(\n  --tensor-model-parallel-size 8 # inside a node\n  --sequence-parallel\n"
            "  --pipeline-model-parallel-layout 'Et|(tt|)*3,L'\n)\n"
            "torchrun pretrain_gpt.py ${A[@]} --bf16\n");
  EXPECT_TRUE(array.by_hand.empty());
  const After lines =
      patched("torchrun pretrain_gpt.py \\\n  --tensor-model-parallel-size 8 \\\n  --bf16\n", want);
  EXPECT_EQ(lines.text,
            "torchrun pretrain_gpt.py \\\n  --tensor-model-parallel-size 8 \\\n"
            "  --sequence-parallel \\\n  --pipeline-model-parallel-layout 'Et|(tt|)*3,L' \\\n"
            "  --bf16\n");
  const After last = patched("torchrun pretrain_gpt.py \\\n  --tensor-model-parallel-size 8\n",
                             wanted({{"sequence_parallel", {"true"}, {}}}));
  EXPECT_EQ(last.text,
            "torchrun pretrain_gpt.py \\\n  --tensor-model-parallel-size 8 --sequence-parallel\n");
}

TEST(Patch, TakesSwitchesOut) {
  const After after = patched(
      "A=(\n  --sequence-parallel\n  --tensor-model-parallel-size 1\n)\n"
      "torchrun pretrain_gpt.py ${A[@]} --bf16 --recompute-granularity full \\\n  --fp8-format "
      "hybrid \\\n  --swiglu\necho done\n",
      wanted({{"sequence_parallel", {"false"}, {}},
              {"recompute_granularity", {}, {}},
              {"fp8_format", {}, {}},
              {"swiglu", {"false"}, {}}}));
  EXPECT_EQ(after.text,
            "A=(\n  --tensor-model-parallel-size 1\n)\n"
            "torchrun pretrain_gpt.py ${A[@]} --bf16 \\\n \necho done\n");
  EXPECT_TRUE(after.by_hand.empty());
}

TEST(Patch, WhatHasNoLiteralIsDoneByHand) {
  const After computed =
      patched("GBS=$((8*16))\ntorchrun pretrain_gpt.py --global-batch-size $GBS\n",
              wanted({{"global_batch_size", {"256"}, {}}}));
  EXPECT_EQ(computed.by_hand, (Keys{"global_batch_size"}));
  // dp follows from tp, the batch from dp: the change of tp is made, the batch is pointed at.
  const After follows = patched(
      "TP=8\nGBS=$((64/TP*16))\n"
      "torchrun pretrain_gpt.py --tensor-model-parallel-size $TP --global-batch-size $GBS\n",
      wanted({{"tensor_model_parallel_size", {"4"}, {}}, {"global_batch_size", {"128"}, {}}}));
  EXPECT_EQ(follows.by_hand, (Keys{"global_batch_size"}));
  EXPECT_TRUE(follows.text.starts_with("TP=4\n"));
  const After shared = patched(
      "N=2\ntorchrun pretrain_gpt.py --tensor-model-parallel-size $N "
      "--pipeline-model-parallel-size $N\n",
      wanted({{"tensor_model_parallel_size", {"4"}, {}},
              {"pipeline_model_parallel_size", {"8"}, {}}}));
  EXPECT_EQ(shared.by_hand, (Keys{"tensor_model_parallel_size", "pipeline_model_parallel_size"}));
}

TEST(Patch, OverridesAndLaunchAndEnvironment) {
  Settings want = wanted({{"model.tensor_model_parallel_size", {"8"}, {}},
                          {"model.sequence_parallel", {"true"}, {}},
                          {"model.recompute_modules", {"mlp", "moe"}, {}}});
  want.dialect = Dialect::kBridge;
  want.launch = {{"nodes", {"4"}, {}}, {"devices", {"32"}, {}}};
  want.environment = {{"A", {"2"}, {}}, {"B", {"x y"}, {}}};
  const After after = patched(
      "export A=1\ntorchrun --nnodes=2 --nproc-per-node=8 run_recipe.py --recipe r \\\n"
      "  model.tensor_model_parallel_size=4 \\\n  \"model.recompute_modules=[mlp]\"\n",
      want);
  EXPECT_EQ(after.text,
            "export B='x y'\nexport A=2\n"
            "torchrun --nnodes=4 --nproc-per-node=8 run_recipe.py --recipe r \\\n"
            "  model.tensor_model_parallel_size=8 \\\n  model.sequence_parallel=true \\\n"
            "  \"model.recompute_modules=[mlp,moe]\"\n");
  EXPECT_TRUE(after.by_hand.empty());
}

// A file of another kind: the setting's literal, found by its text.
Setting at(std::string key, std::string value, const File& file) {
  const std::size_t offset = file.text.find(value);
  return {std::move(key), {value}, {file.name, 1, offset, value.size()}};
}

TEST(Patch, FilesGainKeysBesideTheirSiblings) {
  struct Case {
    File file;
    std::string key;
    std::string after;
  };
  const std::vector<Case> cases{
      {{"a.yaml", "parallelism:\n  tp: 8\n  pp: 1\n", false},
       "parallelism",
       "parallelism:\n  dp: 2\n  tp: 4\n  pp: 1\n"},
      {{"a.json", "{\n  \"z\": {\n    \"tp\": 8\n  }\n}\n", false},
       "z",
       "{\n  \"z\": {\n    \"dp\": 2,\n    \"tp\": 4\n  }\n}\n"},
      {{"a.toml", "[z]\ntp = 8\n", false}, "z", "[z]\ndp = 2\ntp = 4\n"},
      {{"a.py", "f(\n    tp=8,\n)\n", false}, "z", "f(\n    dp=2,\n    tp=4,\n)\n"}};
  for (const Case& one : cases) {
    Settings user = wanted({at(one.key + ".tp", "8", one.file)});
    user.dialect = Dialect::kNanotron;
    const Settings want = wanted({{one.key + ".tp", {"4"}, {}}, {one.key + ".dp", {"2"}, {}}});
    const Patch patch = patch_of(user, want, std::span(&one.file, 1));
    EXPECT_EQ(applied(one.file.text, patch.edits), one.after) << one.file.name;
    EXPECT_TRUE(patch.by_hand.empty()) << one.file.name;
  }
}

TEST(UnifiedDiff, EqualTextsHaveNone) {
  EXPECT_EQ(unified_diff("a", "", ""), "");
  EXPECT_EQ(unified_diff("a", "x\ny", "x\ny"), "");
}

TEST(UnifiedDiff, ShowsThreeLinesOfContext) {
  EXPECT_EQ(unified_diff("t.sh", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
            "--- t.sh\n+++ t.sh\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff("t", "a\n", "a\nb"),
            "--- t\n+++ t\n@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff("t", "", "a\n"), "--- t\n+++ t\n@@ -0,0 +1 @@\n+a\n");
}

// Random texts of few different lines; `patch` must turn one into the other.
TEST(UnifiedDiff, PatchAppliesIt) {
  if (std::system("patch --version > /dev/null 2>&1") != 0) {  // NOLINT(concurrency-mt-unsafe)
    GTEST_SKIP() << "there is no `patch` here";
  }
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  std::uint64_t state = 1;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  for (int i = 0; i < 40; ++i) {
    std::string before;
    std::string after;
    for (std::uint64_t line = 0, lines = 1 + next(60); line < lines; ++line) {
      const std::string text = std::string(1, static_cast<char>('a' + next(5))) + "\n";
      before += next(10) == 0 ? "" : text;
      after += next(10) == 0 ? "new\n" : text;
    }
    if (next(4) == 0 && !after.empty()) {
      after.pop_back();
    }
    const std::string diff = unified_diff("f", before, after);
    ASSERT_TRUE(write_file(folder / "f", before));
    ASSERT_TRUE(write_file(folder / "d", diff));
    const std::string command =
        "cd '" + folder.string() + "' && { [ ! -s d ] || patch -s -p0 < d; }";
    ASSERT_EQ(std::system(command.c_str()), 0) << diff;  // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(read_file(folder / "f", 1_MiB).value_or("(none)"), after) << diff;
  }
}

}  // namespace
}  // namespace sextant::emit
