#include "emit/log_reading.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "emit/log_steps.h"

namespace sextant::emit {
namespace {

std::string log_text(std::string_view name) {
  const std::filesystem::path path = source_folder() / "tests/data/logs" / name;
  Result<std::string> text = read_file(path, 1_MiB);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

LogReading read_log(std::string_view name) {
  Result<LogReading> reading = parse_log(log_text(name), name);
  EXPECT_TRUE(reading) << name;
  return reading.value_or(LogReading{});
}

std::string logged_value(const std::vector<Setting>& settings, std::string_view key) {
  const Setting* const setting = find(settings, key);
  if (setting == nullptr) {
    return "(not given)";
  }
  return fmt::format("{}", fmt::join(setting->values, " "));
}

// --- whole logs

TEST(MegatronLog, GivesTheArgumentsTheWorldAndTheStep) {
  const LogReading log = read_log("megatron.log");
  const auto given = [&](std::string_view key) { return logged_value(log.settings.given, key); };
  EXPECT_EQ(log.settings.dialect, Dialect::kMegatron);
  EXPECT_EQ(given("tensor_model_parallel_size"), "2");
  EXPECT_EQ(given("sequence_parallel"), "true");
  EXPECT_EQ(given("account_for_loss_in_pipeline_split"), "false");
  EXPECT_EQ(given("recompute_modules"), "core_attn layernorm");
  EXPECT_EQ(given("fp8"), "(not given)");
  EXPECT_EQ(given("tensorboard_dir"), "(not given)");
  EXPECT_EQ(given("a_name_that_is_longer_than_forty_eight_characters_in_all"), "7");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "16");
  EXPECT_EQ(find(log.settings.given, "bf16")->place.line, 7);
  EXPECT_TRUE(log.settings.unresolved.empty());
  ASSERT_TRUE(log.measured);
  // 13 lines, 3 left out; the median of the ten others lies between 3405.5 and 3406.3 ms.
  EXPECT_DOUBLE_EQ(log.measured->step->base(), 3.4059);
  EXPECT_EQ(log.measured->counted, 10);
  EXPECT_EQ(log.measured->left_out, 3);
  EXPECT_EQ(log.measured->global_batch, 64);
  EXPECT_EQ(log.measured->world, 16);
  EXPECT_EQ(log.measured->data_parallel, 4);
  EXPECT_DOUBLE_EQ(*log.measured->loss, 9.8);  // the last one is NaN
  // The largest over the ranks, two of which share a line; Megatron's MB are MiB.
  EXPECT_EQ(log.measured->max_allocated, 41_GiB);
  EXPECT_EQ(log.measured->max_reserved, 46_GiB);
  EXPECT_NEAR(*log.measured->tokens_per_second_per_device, 64 * 8192 / 3.4059 / 16, 1e-6);
}

TEST(BridgeLog, GivesTheYamlAndJoinsTheTwoLinesOfAStep) {
  const LogReading log = read_log("bridge.log");
  EXPECT_EQ(log.settings.dialect, Dialect::kBridge);
  EXPECT_EQ(logged_value(log.settings.given, "model.tensor_model_parallel_size"), "4");
  EXPECT_EQ(logged_value(log.settings.given, "model.recompute_modules"), "core_attn mlp");
  EXPECT_EQ(logged_value(log.settings.given, "train.global_batch_size"), "128");
  EXPECT_EQ(logged_value(log.settings.given, "mixed_precision"), "bf16_mixed");
  EXPECT_EQ(logged_value(log.settings.given, "model._target_"), "(not given)");
  ASSERT_TRUE(log.measured);
  EXPECT_DOUBLE_EQ(log.measured->step->base(), 9.089);  // of the last five of eight
  EXPECT_EQ(log.measured->counted, 5);
  EXPECT_NEAR(*log.measured->tflops_per_device, 663.4, 0.1);
}

TEST(TorchtitanLog, TakesTheStepFromTokensASecond) {
  const LogReading log = read_log("torchtitan.log");
  EXPECT_EQ(log.settings.dialect, Dialect::kTorchtitanToml);
  EXPECT_EQ(logged_value(log.settings.given, "parallelism.tensor_parallel_degree"), "2");
  EXPECT_EQ(logged_value(log.settings.given, "parallelism.data_parallel_shard_degree"), "4");
  EXPECT_EQ(logged_value(log.settings.given, "activation_checkpoint.mode"), "selective");
  EXPECT_EQ(logged_value(log.settings.given, "model.flavor"), "8B");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "8");
  EXPECT_EQ(logged_value(log.settings.launch, "device"), "NVIDIA H100 80GB HBM3");
  ASSERT_TRUE(log.measured);
  // 8 sequences of 8192 over 8 devices, at 7130.5 tokens a second and device.
  EXPECT_NEAR(log.measured->step->base(), 8192 / 7130.5, 1e-4);
  EXPECT_EQ(log.measured->max_reserved, 51.2_GiB);
  EXPECT_EQ(log.measured->left_out, 3);
  EXPECT_TRUE(log.unresolved.empty());
}

TEST(TorchtitanLog, LeavesTheStepOpenWithoutItsTokens) {
  std::string text;
  for (int step = 1; step < 9; ++step) {
    text += fmt::format("step: {}  loss: 3.1  memory: 1.00GiB(2%)  tps: 5,000  tflops: 3\n", step);
  }
  const auto log = parse_log(text, "a.log");
  ASSERT_TRUE(log && log->measured);
  EXPECT_FALSE(log->measured->step);
  EXPECT_EQ(log->measured->tokens_per_second_per_device, 5000.0);
  ASSERT_EQ(log->unresolved.size(), 1U);
  EXPECT_EQ(log->unresolved.front().what, "step time");
}

TEST(TorchtitanLog, KnowsTheTokensOfLaterVersions) {
  std::string text =
      "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=64, cp=1, tp=1, "
      "ep=64\n"
      "Trainer is initialized with 4096 tokens per DP rank, 262144 tokens per train step, gradient "
      "accumulation steps 1, maximum context length 4096, total steps 10 (warmup 2)\n";
  for (int step = 1; step < 9; ++step) {
    text += fmt::format("step: {}  loss: 3.1  memory: 1.00GiB(2%)  tps: 2,048  tflops: 3\n", step);
  }
  const auto log = parse_log(text, "a.log");
  ASSERT_TRUE(log && log->measured && log->measured->step);
  EXPECT_EQ(log->settings.dialect, Dialect::kTorchtitan);
  EXPECT_DOUBLE_EQ(log->measured->step->base(), 2.0);  // 262144 / 64 / 2048
  EXPECT_EQ(log->measured->global_batch, 64);
}

TEST(TorchtitanLog, KnowsTheMeshOfEarlierVersions) {
  const auto log = parse_log("Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\n", "a.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(logged_value(log->settings.given, "parallelism.tensor_parallel_degree"), "2");
  EXPECT_EQ(logged_value(log->settings.given, "parallelism.pipeline_parallel_degree"), "1");
  EXPECT_EQ(logged_value(log->settings.launch, "devices"), "8");
}

TEST(MaxtextLog, GivesTheParametersAndTheStep) {
  const LogReading log = read_log("maxtext.log");
  EXPECT_EQ(log.settings.dialect, Dialect::kMaxtext);
  EXPECT_EQ(logged_value(log.settings.given, "ici_fsdp_parallelism"), "-1");
  EXPECT_EQ(logged_value(log.settings.given, "per_device_batch_size"), "3.0");
  EXPECT_EQ(logged_value(log.settings.given, "load_parameters_path"), "(not given)");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "256");
  EXPECT_NEAR(log.measured->step->base(), 17.1825, 1e-9);
  EXPECT_NEAR(*log.measured->tflops_per_device, 384.88, 0.01);
}

TEST(MaxtextLog, CountsDevicesByTheirTokens) {
  std::string text = log_text("maxtext.log");
  text.replace(text.find("Num_devices"), 3, "xxx");
  const auto log = parse_log(text, "a.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(logged_value(log->settings.launch, "devices"), "256");
}

TEST(DeepspeedLog, GivesTheConfigurationAndTheStep) {
  const LogReading log = read_log("deepspeed.log");
  EXPECT_EQ(log.settings.dialect, Dialect::kDeepspeed);
  EXPECT_EQ(logged_value(log.settings.given, "zero_optimization.stage"), "3");
  EXPECT_EQ(logged_value(log.settings.given, "zero_optimization.overlap_comm"), "true");
  EXPECT_EQ(logged_value(log.settings.given, "train_batch_size"), "128");  // the JSON says "auto"
  EXPECT_EQ(logged_value(log.settings.given, "train_micro_batch_size_per_gpu"), "4");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "16");
  EXPECT_DOUBLE_EQ(log.measured->step->base(), 128 / 102.4);
  EXPECT_EQ(log.measured->max_allocated, 64.5_GiB);
}

TEST(DeepspeedLog, DoesNotTakeThePipelinesWorldForTheDevices) {
  const LogReading log = read_log("deepspeed_pipeline.log");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "(not given)");
  EXPECT_DOUBLE_EQ(log.measured->step->base(), 1.234);
  EXPECT_EQ(log.measured->global_batch, 128);  // samples a second times seconds
}

TEST(NanotronLog, GivesTheConfigurationAndTheStep) {
  const LogReading log = read_log("nanotron.log");
  EXPECT_EQ(log.settings.dialect, Dialect::kNanotron);
  EXPECT_EQ(logged_value(log.settings.given, "parallelism.pp_engine"), "1f1b");
  EXPECT_EQ(logged_value(log.settings.given, "parallelism.tp_mode"), "REDUCE_SCATTER");
  EXPECT_EQ(logged_value(log.settings.given, "model.model_config.hidden_size"), "4096");
  EXPECT_EQ(logged_value(log.settings.given, "model.dtype"), "bfloat16");
  EXPECT_EQ(logged_value(log.settings.launch, "devices"), "16");
  EXPECT_EQ(log.measured->global_batch, 1024);  // printed as 1.02K
  EXPECT_NEAR(log.measured->step->base(), 8.815, 1e-9);
  EXPECT_EQ(log.measured->max_allocated, 30_GiB);
  EXPECT_EQ(log.measured->max_reserved, 32_GiB);
}

// --- what happens to logs

std::string iterations(int first, int last, double milliseconds) {
  std::string text;
  for (int step = first; step <= last; ++step) {
    text += fmt::format(" iteration {:8d}/ 100 | elapsed time per iteration (ms): {:.1f} |\n", step,
                        milliseconds);
  }
  return text;
}
std::string arguments(int tp) {
  return fmt::format(
      "--------- arguments ---------\n  tensor_model_parallel_size .... {}\n{}"
      "-------- end of arguments --------\n",
      tp, tp == 2 ? "  sequence_parallel ..... True\n" : "");
}

TEST(ParseLog, CountsTheLastRunOfSeveral) {
  const std::string memory = "[Rank 0] memory (MB) | max allocated: 9999.0 | max reserved: 1.0\n";
  const auto log = parse_log(
      arguments(2) + memory + iterations(1, 9, 500) + arguments(4) + iterations(5, 12, 900), "a");
  ASSERT_TRUE(log && log->measured);
  EXPECT_DOUBLE_EQ(log->measured->step->base(), 0.9);
  EXPECT_EQ(logged_value(log->settings.given, "tensor_model_parallel_size"), "4");
  EXPECT_EQ(logged_value(log->settings.given, "sequence_parallel"), "(not given)");
  EXPECT_FALSE(log->measured->max_allocated);
  EXPECT_EQ(log->measured->notes.back(), "the log holds 2 runs; the last one counts");
}

TEST(ParseLog, NoticesARestartByItsStepNumbers) {
  const auto log = parse_log(arguments(2) + iterations(1, 9, 500) + iterations(1, 8, 900), "a");
  ASSERT_TRUE(log && log->measured);
  EXPECT_DOUBLE_EQ(log->measured->step->base(), 0.9);
  EXPECT_EQ(logged_value(log->settings.given, "tensor_model_parallel_size"), "2");
}

TEST(ParseLog, CountsAStepOfSeveralRanksOnce) {
  std::string text;
  for (int step = 1; step < 9; ++step) {
    text += fmt::format("[rank0]: step: {0}  tps: 5,000\n[rank1]: step: {0}  tps: 4,000\n", step);
  }
  const auto log = parse_log(text, "a");
  EXPECT_EQ(log->measured->counted + log->measured->left_out, 8);
  EXPECT_EQ(log->measured->tokens_per_second_per_device, 5000.0);
}

TEST(ParseLog, DoesNotCountALineThatIsCutOff) {
  const auto log = parse_log(
      iterations(1, 8, 500) + " iteration 9/ 100 | elapsed time per iteration (ms): 5", "a");
  EXPECT_EQ(log->measured->counted, 5);
  EXPECT_EQ(log->measured->notes.back(), "the last line is cut off and does not count");
  // A closing bar shows that it is whole.
  std::string whole = iterations(1, 9, 500);
  whole.pop_back();
  EXPECT_EQ(parse_log(whole, "a")->measured->counted, 6);
}

TEST(ParseLog, LeavesTimesOutThatAreNone) {
  std::string text = iterations(1, 8, 500);
  for (const std::string_view time : {"nan", "inf", "-3.0", "0.0", "-inf", ""}) {
    text += fmt::format(" iteration {}/ 100 | elapsed time per iteration (ms): {} |\n",
                        10 + text.size(), time);
  }
  const auto log = parse_log(text, "a");
  ASSERT_TRUE(log && log->measured);
  EXPECT_DOUBLE_EQ(log->measured->step->base(), 0.5);
  EXPECT_EQ(log->measured->counted, 5);
  EXPECT_EQ(log->measured->left_out, 9);
}

TEST(ParseLog, ReadsTheSameWithOtherLineEnds) {
  std::string text = log_text("megatron.log");
  std::string windows;
  for (const char c : text) {
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  }
  const auto a = parse_log(text, "a");
  const auto b = parse_log(windows, "a");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->measured->step, b->measured->step);
  EXPECT_EQ(a->settings.given.size(), b->settings.given.size());
  EXPECT_EQ(a->settings.given.back().place.line, b->settings.given.back().place.line);
}

TEST(ParseLog, ReadsALineBehindAProgressBar) {
  const std::string line = iterations(4, 4, 500);
  EXPECT_EQ(parse_log("10%|#   |\r20%|##  |\r" + line, "a")->measured->counted, 1);
}

TEST(ParseLog, SaysWhichConfigurationBreaksOff) {
  const auto log =
      parse_log("Running with args: {\n  \"training\": {\n    \"seq_len\": 8192,\n", "a.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(logged_value(log->settings.given, "training.seq_len"), "8192");
  ASSERT_EQ(log->settings.unresolved.size(), 1U);
  EXPECT_EQ(to_text(log->settings.unresolved.front().place), "a.log:1");
}

TEST(ParseLog, ReadsAConfigurationThatTwoRanksPrintAtOnce) {
  std::string text;
  for (const std::string_view line : {"Running with args: {", "  \"training\": {",
                                      "    \"seq_len\": 8192", "  },", "  \"compile\": {}", "}"}) {
    text += fmt::format("[rank0]:{0}\n[rank1]:{0}\n", line);
  }
  const auto log = parse_log(text, "a");
  ASSERT_TRUE(log);
  EXPECT_EQ(logged_value(log->settings.given, "training.seq_len"), "8192");
}

TEST(ParseLog, TakesAcceleratorsByTheirNames) {
  const auto device = [](std::string_view line) {
    const auto log = parse_log(iterations(1, 4, 500) + std::string(line) + "\n", "a");
    return logged_value(log->settings.launch, "device");
  };
  EXPECT_EQ(device("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1234)"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device("0: GPU: AMD Instinct MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(device("XPU capacity: Intel(R) Data Center GPU Max 1550 with 64.00GiB memory"),
            "Intel(R) Data Center GPU Max 1550");
  EXPECT_EQ(device("GPU: 3 of them"), "(not given)");
  EXPECT_EQ(device("GPU memory: 80 GB"), "(not given)");
}

TEST(ParseLog, PrefersMegatronsWordsInMegatronDeepspeed) {
  std::string text = arguments(2);
  for (int step = 1; step < 9; ++step) {
    text += fmt::format(
        "0/{}, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=9, MemAllocated=1GB, "
        "MaxMemAllocated=2.0GB\n",
        step * 2);
    text += fmt::format("0/{}, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=9\n", step * 2 + 1);
    text += iterations(step * 2, step * 2, 750);
  }
  const auto log = parse_log(text, "a");
  EXPECT_EQ(log->settings.dialect, Dialect::kMegatron);
  EXPECT_DOUBLE_EQ(log->measured->step->base(), 0.75);
  EXPECT_EQ(log->measured->max_allocated, 2_GiB);
}

TEST(ParseLog, IsAnErrorForOtherText) {
  for (const std::string_view text :
       {"", "hello\nworld\n", "step: 3 of the recipe\n", "{}", "\r\r"}) {
    const auto log = parse_log(text, "a.txt");
    ASSERT_FALSE(log) << text;
    EXPECT_EQ(log.error().where, "a.txt");
  }
}

TEST(ParseLog, KeepsAMillionStepsAndNoMore) {
  std::string text;
  for (int step = 0; step < 1'000'010; ++step) {
    text += "step: ";
    text += std::to_string(step);
    text += " tps: 10\n";
  }
  const auto log = parse_log(text, "a");
  EXPECT_EQ(log->measured->counted + log->measured->left_out, 1'000'000);
  EXPECT_EQ(log->measured->notes.back(), "steps after the first 1,000,000 are not kept");
}

TEST(ParseLog, TakesLinesOfAnyLength) {
  std::string text = iterations(1, 8, 500);
  text += std::string(3'000'000, 'x') + "iteration ";
  text += std::string(3'000'000, ' ') + "\n{\"a\": " + std::string(3'000'000, '[');
  EXPECT_EQ(parse_log(text, "a")->measured->counted, 5);
}

// Any cut of any of the logs ends in a value or an Error, never in a time that is not one.
RC_GTEST_PROP(ParseLog, EndsWhereverALogIsCut, ()) {
  static const std::vector<std::string> kLogs = {
      log_text("megatron.log"), log_text("bridge.log"),    log_text("torchtitan.log"),
      log_text("maxtext.log"),  log_text("deepspeed.log"), log_text("deepspeed_pipeline.log"),
      log_text("nanotron.log")};
  const std::string& whole = *rc::gen::elementOf(kLogs);
  const auto start = *rc::gen::inRange<std::size_t>(0, whole.size());
  const auto length = *rc::gen::inRange<std::size_t>(0, whole.size());
  const auto log = parse_log(std::string_view(whole).substr(start, length), "a");
  if (log && log->measured && log->measured->step) {
    RC_ASSERT(log->measured->step->base() > 0.0);
    RC_ASSERT(log->measured->step->base() < 1e5);
  }
}

TEST(LooksLikeLog, KnowsEveryKindAndNoSource) {
  for (const std::string_view name : {"megatron.log", "torchtitan.log", "maxtext.log", "bridge.log",
                                      "deepspeed.log", "deepspeed_pipeline.log", "nanotron.log"}) {
    EXPECT_TRUE(looks_like_log(log_text(name))) << name;
  }
  for (const std::string_view text :
       {"", "#!/bin/bash\nGPUS_PER_NODE=8\ntorchrun pretrain_gpt.py --seq-length 4096\n",
        "grep 'elapsed time per iteration (ms):' log | tail\n", "{\"train_batch_size\": 8}\n",
        "print('--------- arguments ---------')\nprint(f'  {name} {dots} {value}')\n",
        "print(f'Config param {key}: {value}')\n", "parallelism:\n  dp: 2\n",
        "[training]\nseq_len = 8192\n"}) {
    EXPECT_FALSE(looks_like_log(text)) << text;
  }
}

}  // namespace
}  // namespace sextant::emit
