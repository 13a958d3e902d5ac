// XLA's profiles whose numbers are known.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "profile/read.h"

namespace sextant {
namespace {

using timeline::Label;
using timeline::Place;
using timeline::Span;
using timeline::SpanKind;

timeline::Recording read_xla(const std::string& file) {
  auto text = read_file(source_folder() / "data/profile/names.csv", 1_MiB);
  EXPECT_TRUE(text);
  auto names = profile::RecognitionTable::parse(*std::move(text), "names.csv");
  EXPECT_TRUE(names);
  auto recording = profile::read_profile(shared_folder() / "traces" / file, {.names = *names});
  EXPECT_TRUE(recording) << (recording ? "" : to_text(recording.error()));
  return recording ? std::move(*recording) : timeline::Recording();
}

class XplaneTruth : public testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(shared_folder() / "traces/xplane")) {
      GTEST_SKIP() << "no profiles in " << shared_folder() / "traces/xplane";
    }
  }
};

struct DeviceSums {
  std::int64_t kernels = 0;  // that are no copies
  std::int64_t without_operator = 0;
  Flops flops;
};

DeviceSums device_sums(const timeline::Recording& recording) {
  DeviceSums sums;
  for (const Span& span : recording.timeline.spans()) {
    const Label& label = recording.timeline.label_of(span);
    if (recording.timeline.lane_of(span).place == Place::kDevice &&
        label.kind == SpanKind::kCompute) {
      sums.kernels += 1;
      sums.without_operator += label.operation ? 0 : 1;
      sums.flops += label.flops.value_or(Flops(0.0));
    }
  }
  return sums;
}

// The shape, as the parameters of its module have it: p['emb'] is [32000, 2048], t is [4, 2048]; of
// each of 8 layers q, k, v and o are [2048, 16·128], g and u [2048, 5504], w [5504, 2048]. The
// embedding is also the last product. Forward is 2 FLOPs for each weight and token and
// 2 · 2 · b · s² · 2048 for the two products of attention, unmasked; backward twice that.
TEST_F(XplaneTruth, OperatorsOfTheH200RunCountWhatTheModelDoes) {
  const timeline::Recording run = read_xla("xplane/jax_h200_llama_8layer.xplane.pb");
  ASSERT_EQ(run.steps.size(), 3U);
  constexpr double kHidden = 2048.0;
  constexpr double kTokens = 4.0 * 2048.0;
  constexpr double kLayer = 4.0 * kHidden * kHidden + 3.0 * kHidden * 5504.0;
  constexpr double kWeights = 8.0 * kLayer + 32000.0 * kHidden;
  constexpr double kAttention = 8.0 * 2.0 * 2.0 * 4.0 * 2048.0 * 2048.0 * kHidden;
  constexpr double kModel = 3.0 * (2.0 * kWeights * kTokens + kAttention);
  const DeviceSums sums = device_sums(run);
  EXPECT_NEAR(sums.flops.base() / 3.0 / kModel, 1.0, 0.02);
  // 494 instructions a step, of which each is a kernel; all of them in a command buffer that does
  // not say which.
  EXPECT_EQ(sums.kernels, 3 * 494);
  EXPECT_EQ(sums.without_operator, 0);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front().what;
  EXPECT_EQ(run.ranks[0].device->name, "NVIDIA H200");
  const auto loss = std::find_if(run.programs.begin(), run.programs.end(),
                                 [](const auto& program) { return program.name == "jit_loss"; });
  ASSERT_NE(loss, run.programs.end());
  EXPECT_EQ(loss->mesh, "data=1,fsdp=1,tensor=1");
  EXPECT_EQ(loss->shardings.front().of, "p['emb']");
  EXPECT_EQ(loss->shardings.front().sharding, "[{tensor}, {fsdp}]");
}

// The host's marks "train" with step_num 0, 1, 2 hold a run of the module each. By the file's own
// clock they take 65.732, 63.656 and 64.223 ms, and the runs begin 62.685 and 63.760 ms apart. (The
// traces' README says 67.0 ms a step: no interval of the file between steps is that long.)
TEST_F(XplaneTruth, StepsOfTheH200RunAreTheHostsMarks) {
  const timeline::Recording run = read_xla("xplane/jax_h200_llama_8layer.xplane.pb");
  ASSERT_EQ(run.steps.size(), 3U);
  EXPECT_EQ(run.steps[0].end_ns - run.steps[0].start_ns, 65'731'596);
  EXPECT_EQ(run.steps[1].end_ns - run.steps[1].start_ns, 63'656'464);
  EXPECT_EQ(run.steps[2].end_ns - run.steps[2].start_ns, 64'223'155);
  EXPECT_TRUE(run.has_memory);
  EXPECT_TRUE(run.has_stacks);
}

// Rows of AMD's planes: 87 + 18 kernels, of which the 18 of the second stream copy. A product of
// bf16 at 900 TFLOP/s of the device's 1307 is the largest of its file.
TEST_F(XplaneTruth, AnMi300sOperatorsAreTold) {
  const timeline::Recording gemm = read_xla("tracelens/jax08_gemm.tw003.xplane.pb");
  ASSERT_EQ(gemm.ranks.size(), 1U);
  EXPECT_EQ(gemm.ranks[0].device->multiprocessors, 304);
  EXPECT_EQ(device_sums(gemm).without_operator, 0);
  double best = 0.0;
  for (const Span& span : gemm.timeline.spans()) {
    const Label& label = gemm.timeline.label_of(span);
    if (label.flops && gemm.timeline.lane_of(span).place == Place::kDevice) {
      best = std::max(best, label.flops->base() / static_cast<double>(span.duration_ns) / 1e3);
    }
  }
  EXPECT_GT(best, 800.0);
  // Source: AMD Instinct MI300X datasheet: 1307.4 TFLOP/s of bf16, dense.
  EXPECT_LT(best, 1307.4);
  const timeline::Recording attention = read_xla("tracelens/jax08_attention.tw003.xplane.pb");
  EXPECT_EQ(device_sums(attention).kernels, 87);
  EXPECT_EQ(device_sums(attention).without_operator, 0);
  EXPECT_EQ(device_sums(read_xla("tracelens/jax08_elementwise.tw003.xplane.pb")).without_operator,
            0);
}

// Eight GPUs, of which three ran something and two have steps; TensorFlow says its operators.
TEST_F(XplaneTruth, AWorkerOfTensorFlowHasItsRanksAndOperators) {
  const timeline::Recording worker =
      read_xla("xplane/GPU-multi-worker.34.83.195.179_6003.xplane.pb");
  ASSERT_EQ(worker.ranks.size(), 3U);
  EXPECT_EQ(worker.ranks[1].rank, RankId{4});
  ASSERT_EQ(worker.steps.size(), 2U);
  EXPECT_EQ(worker.steps[0].end_ns - worker.steps[0].start_ns, 19'865'491);
  EXPECT_EQ(worker.steps[1].end_ns - worker.steps[1].start_ns, 21'310'352);
  EXPECT_EQ(device_sums(worker).kernels, 2 * 665);
  EXPECT_EQ(device_sums(worker).without_operator, 0);
}

// Its bytes above 127 were made U+FFFD: every length is lost, and with it the whole.
TEST_F(XplaneTruth, ADamagedOneSaysWhatIsLost) {
  const timeline::Recording corrupt = read_xla("xplane/corrupt_tpu_inference_2.xplane.pb");
  EXPECT_TRUE(corrupt.timeline.spans().empty());
  std::int64_t lost = 0;
  for (const timeline::Unread& entry : corrupt.unread) {
    lost += entry.what == "bytes after that place" ? entry.count : 0;
  }
  EXPECT_GT(lost, 1'365'000);
}

}  // namespace
}  // namespace sextant
