// A captured job reads like the script that would start the same commands; a hostile record ends in
// an Error.
#include "emit/capture_file.h"

#include <string>

#include <gtest/gtest.h>

namespace sextant::emit {
namespace {

std::string record_with(const std::string& calls, const std::string& more = {}) {
  return R"({"schema": "sextant.job/1", "command": ["bash", "t.sh"], "folder": "/j", )" + more +
         R"("calls": [)" + calls + "]}";
}

std::string value_of(const std::vector<Setting>& settings, std::string_view key) {
  const Setting* found = find(settings, key);
  return found == nullptr ? "(none)" : found->values.front();
}

constexpr const char* kMegatronCall =
    R"({"words": ["torchrun", "--nnodes", "4", "--nproc_per_node", "8", "pretrain_gpt.py",
        "--tensor-model-parallel-size", "2", "--num-layers", "32", "--bf16"], "folder": "/j",
        "environment": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}})";

TEST(CaptureFile, ACommandIsReadAsAScriptWouldBe) {
  const auto reading = parse_capture(record_with(kMegatronCall), "job.capture.json");
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_EQ(reading->settings.dialect, Dialect::kMegatron);
  EXPECT_EQ(value_of(reading->settings.given, "tensor_model_parallel_size"), "2");
  EXPECT_EQ(value_of(reading->settings.launch, "devices"), "32");
  EXPECT_EQ(value_of(reading->settings.environment, "CUDA_DEVICE_MAX_CONNECTIONS"), "1");
  EXPECT_TRUE(reading->settings.unresolved.empty());
}

TEST(CaptureFile, WhatDependsOnAnAnswerThatNobodyGaveIsNotKnown) {
  const auto reading =
      parse_capture(record_with(R"({"words": ["torchrun", "pretrain_gpt.py", "--num-layers", "32",
                      "--train-iters", "5", "--tensor-model-parallel-size", "8"], "open": [7]})"),
                    "job.capture.json");
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_EQ(find(reading->settings.given, "tensor_model_parallel_size"), nullptr);
  ASSERT_FALSE(reading->settings.unresolved.empty());
  EXPECT_EQ(reading->settings.unresolved.front().key, "tensor_model_parallel_size");
}

TEST(CaptureFile, TheOptionsOfTheLauncherAroundItCount) {
  const auto reading = parse_capture(
      record_with(R"({"words": ["srun", "-N", "4", "--ntasks-per-node", "8"], "launches": true},
                     {"words": ["python", "pretrain_gpt.py", "--num-layers", "32"], "outer": 0})"),
      "job.capture.json");
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_EQ(value_of(reading->settings.launch, "nodes"), "4");
  EXPECT_EQ(value_of(reading->settings.launch, "devices"), "32");
}

TEST(CaptureFile, FilesAreFoundAsTheCommandNamesThem) {
  const auto reading = parse_capture(
      record_with(kMegatronCall, R"("files": [{"path": "/j/conf/ds.json", "text": "{}"}], )"),
      "job.capture.json");
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_NE(captured_file(reading->files, "conf/ds.json"), nullptr);
  EXPECT_NE(captured_file(reading->files, "./conf/ds.json"), nullptr);
  EXPECT_NE(captured_file(reading->files, "/j/conf/ds.json"), nullptr);
  EXPECT_NE(captured_file(reading->files, "../conf/ds.json"), nullptr);
  EXPECT_EQ(captured_file(reading->files, "s.json"), nullptr);
}

TEST(CaptureFile, TheKindIsToldFromItsBytes) {
  EXPECT_EQ(kind_of(record_with(kMegatronCall), "x.json"), FileKind::kCapture);
  EXPECT_EQ(kind_of("{}", "job.capture.json"), FileKind::kCapture);
  EXPECT_EQ(kind_of("{\"train_batch_size\": 1}", "ds.json"), FileKind::kJson);
}

TEST(CaptureFile, AHostileRecordEndsInAnError) {
  const std::string one = R"({"words": ["python", "t.py"]})";
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"schema": "sextant.job/2"})"), record_with(R"({"words": []})"),
        record_with(R"({"words": [3]})"), record_with(R"({"words": ["a"], "open": [1]})"),
        record_with(R"({"words": ["a"], "open": [-1]})"),
        record_with(R"({"words": ["a"], "outer": 0})"),
        record_with(one + R"(, {"words": ["a"], "outer": 1})"),
        record_with(R"({"words": "torchrun"})"), record_with("7")}) {
    EXPECT_FALSE(parse_capture(text, "job.capture.json")) << text;
  }
}

TEST(CaptureFile, ACaptureThatStartedNoTrainingSaysSo) {
  const auto reading = parse_capture(record_with(R"({"words": ["ray", "start"]})"), "c.json");
  ASSERT_FALSE(reading);
  EXPECT_NE(reading.error().what.find("no command"), std::string::npos);
}

}  // namespace
}  // namespace sextant::emit
