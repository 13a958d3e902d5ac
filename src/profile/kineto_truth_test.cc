// Every PyTorch profile of ../shared/traces: all of it is read. What there is to be found was
// counted by a script of its own with Python's json module: spans of the host and of devices by
// category, waits (cuda_sync), allocations of a device with the allocator's totals, steps by name,
// and spans of communication by name (nccl…Kernel on a device, gloo: on the host).
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::Place;
using timeline::SpanKind;

struct Counted {
  const char* file;
  std::optional<std::int64_t> rank;  // in distributedInfo
  std::int64_t host, device, waits, memory, steps, communication;
};

const std::vector<Counted> kCounted{
    {"gloo_ranks/late_data/rank0.json.gz", 0, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank1.json.gz", 1, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank2.json.gz", 2, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank3.json.gz", 3, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank4.json.gz", 4, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank5.json.gz", 5, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank6.json.gz", 6, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/late_data/rank7.json.gz", 7, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank0.json.gz", 0, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank1.json.gz", 1, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank2.json.gz", 2, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank3.json.gz", 3, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank4.json.gz", 4, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank5.json.gz", 5, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank6.json.gz", 6, 16092, 0, 0, 0, 4, 24},
    {"gloo_ranks/plain/rank7.json.gz", 7, 16092, 0, 0, 0, 4, 24},
    {"h200/gpt2-1.5b_s1024_b4_bf16_none_sdpa.json.gz", {}, 35779, 6352, 0, 0, 2, 0},
    {"h200/llama-1.3b_s2048_b4_bf16_full_sdpa.json.gz", {}, 49537, 8918, 0, 0, 2, 0},
    {"h200/llama-1.3b_s2048_b4_bf16_none_sdpa.json.gz", {}, 37009, 6854, 0, 0, 2, 0},
    {"h200/llama-350m_s2048_b4_bf16_none_eager.json.gz", {}, 42817, 6970, 0, 0, 2, 0},
    {"h200/llama-350m_s2048_b4_bf16_none_sdpa.json.gz", {}, 36241, 6086, 0, 0, 2, 0},
    {"h200/llama-350m_s2048_b4_bf16_none_sdpa_dataloader.json.gz", {}, 36241, 6086, 0, 0, 2, 0},
    {"h200/llama-350m_s2048_b4_fp32_none_sdpa.json.gz", {}, 36844, 5876, 0, 0, 2, 0},
    {"h200/llama2-7b_s2048_b1_bf16_none_sdpa.json.gz", {}, 48963, 9038, 0, 0, 2, 0},
    {"h200/llama3.2-1b_s8192_b2_bf16_none_sdpa.json.gz", {}, 25457, 4774, 0, 0, 2, 0},
    {"hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz", {}, 94, 18, 0, 0, 2, 0},
    {"hta/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34, 15, 0, 0, 0, 1, 10},
    {"hta/cpu_only/rank-34.full.pt.trace.json.gz", 34, 7479, 0, 0, 0, 5, 10},
    {"hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz", 0, 728, 98, 41,
     0, 0, 0},
    {"hta/critical_path/cuda_event_sync/event_sync_trace.json.gz", 0, 23, 5, 4, 0, 1, 0},
    {"hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz", 0, 45, 6, 5, 0, 0,
     0},
    {"hta/critical_path/end_to_end/simple_add/input/trace.json.gz", 0, 698, 98, 41, 0, 0, 0},
    {"hta/critical_path/end_to_end/simple_add/output/overlaid_critical_path_trace.json.gz", 0, 698,
     98, 41, 0, 0, 0},
    {"hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz", 0, 698, 98,
     41, 0, 0, 0},
    {"hta/df_index_resolver/df_index_resolver.json.gz", 1, 101088, 22290, 0, 26770, 5, 2020},
    {"hta/nccl_parser_config/nccl_data.json.gz", 0, 23128, 3804, 0, 0, 3, 21},
    {"hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 0, 39309, 6110, 0, 0,
     5, 0},
    {"hta/trace_compare/base/base.json.gz", 1, 15, 18, 0, 0, 2, 0},
    {"hta/trace_compare/test/test.json.gz", 1, 17, 17, 0, 0, 2, 0},
    {"hta/trace_diff/control/control.json.gz", 3, 65486, 9450, 0, 0, 6, 60},
    {"hta/trace_diff/test/test.json.gz", 1, 52691, 15632, 0, 0, 6, 64},
    {"hta/trace_filter/sampled_rank-0.json.gz", 0, 3606, 1204, 0, 0, 2, 10},
    {"hta/trace_filter/sampled_rank-1.json.gz", 1, 3521, 1154, 0, 0, 2, 10},
    {"hta/triton_example/triton_example.json.gz", {}, 6, 1, 0, 0, 1, 0},
    {"kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz",
     {},
     35569,
     9096,
     0,
     0,
     6,
     0},
    {"kineto/resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz",
     {},
     32647,
     9258,
     0,
     0,
     6,
     0},
    {"megatron-tp8/megatron_kineto_0.json.gz", 0, 9038, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_1.json.gz", 1, 9644, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_2.json.gz", 2, 9552, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_3.json.gz", 3, 9679, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_4.json.gz", 4, 9709, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_5.json.gz", 5, 9449, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_6.json.gz", 6, 9410, 777, 0, 0, 1, 84},
    {"megatron-tp8/megatron_kineto_7.json.gz", 7, 9721, 777, 0, 0, 1, 84},
    {"tracelens/b200_eager_rank0of8.json.gz", 0, 21423, 932, 0, 0, 0, 1},
    {"tracelens/ddp_resnet18_no_pool.train_resnet18.json.gz", {}, 18421, 2380, 0, 0, 0, 0},
    {"tracelens/h100_qwen1.5-0.5b.json.gz", {}, 10371, 1708, 0, 2250, 1, 0},
    {"tracelens/mi300_qwen1.5-0.5b.json.gz", {}, 10593, 1518, 0, 2588, 1, 0},
    {"tracelens/vllm_cuda_graph.json.gz", 0, 1105, 434, 0, 0, 0, 0}};

std::filesystem::path traces() {
  return shared_folder() / "traces";
}

std::int64_t communications(const timeline::Timeline& timeline, std::string_view word) {
  std::int64_t count = 0;
  for (const timeline::Span& span : timeline.spans()) {
    const timeline::Label& label = timeline.label_of(span);
    count += label.kind == SpanKind::kCommunication && label.name.find(word) != std::string::npos;
  }
  return count;
}

TEST(KinetoTruth, EveryProfileIsReadWhole) {
  if (!std::filesystem::exists(traces())) {
    GTEST_SKIP() << "no profiles beside the checkout: " << traces();
  }
  std::size_t read = 0;
  for (const Counted& counted : kCounted) {
    const std::filesystem::path file = traces() / counted.file;
    if (!std::filesystem::exists(file)) {
      continue;
    }
    SCOPED_TRACE(counted.file);
    const auto recording = read_profile(file, options_of_tests());
    ASSERT_TRUE(recording) << to_text(recording.error());
    read += 1;
    std::int64_t host = 0;
    std::int64_t device = 0;
    for (const timeline::Span& span : recording->timeline.spans()) {
      (recording->timeline.lane_of(span).place == Place::kHost ? host : device) += 1;
    }
    EXPECT_EQ(host, counted.host);
    EXPECT_EQ(device, counted.device);
    EXPECT_EQ(std::ssize(recording->waits), counted.waits);
    EXPECT_EQ(std::ssize(recording->memory), counted.memory);
    EXPECT_EQ(std::ssize(recording->steps), counted.steps);
    EXPECT_EQ(
        communications(recording->timeline, "nccl") + communications(recording->timeline, "gloo:"),
        counted.communication);
    ASSERT_EQ(recording->ranks.size(), 1U);
    if (counted.rank) {
      EXPECT_EQ(recording->ranks[0].rank, RankId{*counted.rank});
      EXPECT_TRUE(recording->ranks[0].is_stated);
    }
    // Only the profiles of 2021 hold something unread: allocations as they were written then.
    EXPECT_EQ(recording->unread.size(), std::string(counted.file).starts_with("kineto/") ? 1U : 0U);
  }
  EXPECT_GT(read, 0U);
}

TEST(KinetoTruth, MegatronsAllReducesHaveTheirBytesAndType) {
  const auto file = traces() / "megatron-tp8/megatron_kineto_0.json.gz";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no " << file;
  }
  const auto recording = read_profile(file, options_of_tests());
  ASSERT_TRUE(recording);
  std::int64_t halves = 0;
  std::int64_t with_bytes = 0;
  for (const timeline::Span& span : recording->timeline.spans()) {
    const timeline::Label& label = recording->timeline.label_of(span);
    if (label.kind == SpanKind::kCommunication) {
      EXPECT_EQ(label.collective->op, CollectiveOp::kAllReduce);
      halves += label.collective->element == timeline::ElementType::kFloat16;
      with_bytes += label.bytes.has_value();
      // The hidden states of a microbatch: sequence 2048, 4 samples, width 4096, fp16.
      EXPECT_TRUE(label.collective->element != timeline::ElementType::kFloat16 || !label.bytes ||
                  *label.bytes == 2048.0 * 4.0 * 4096.0 * 2_B);
    }
  }
  EXPECT_EQ(halves, 81);
  EXPECT_EQ(with_bytes, 84);
}

struct Trained {
  const char* file;
  double layers, hidden, ffn, vocabulary, tokens, length;
  double weights_of_layer;  // products' weights, in units of hidden^2, without the ffn
  double matrices_of_ffn;   // of hidden x ffn
  double products, causal;  // of attention: forward and backward; share of the mask
};

// Of a step: 6 FLOPs for each weight of a product and token, and attention's products of
// 2 · tokens · length · hidden in each layer. Flash attention computes the scores again backward.
TEST(KinetoTruth, ShapesCountWhatTheModelDoes) {
  for (const Trained& run : {Trained{"llama-350m_s2048_b4_bf16_none_sdpa", 24, 1024, 2816, 32000,
                                     8192, 2048, 4, 3, 7, 0.5},
                             Trained{"llama-350m_s2048_b4_bf16_none_eager", 24, 1024, 2816, 32000,
                                     8192, 2048, 4, 3, 6, 1.0},
                             Trained{"gpt2-1.5b_s1024_b4_bf16_none_sdpa", 48, 1600, 6400, 50304,
                                     4096, 1024, 4, 2, 7, 0.5}}) {
    const auto file = traces() / "h200" / (std::string(run.file) + ".json.gz");
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no " << file;
    }
    SCOPED_TRACE(run.file);
    const auto recording = read_profile(file, options_of_tests());
    ASSERT_TRUE(recording);
    Flops counted;
    for (const timeline::Span& span : recording->timeline.spans()) {
      const timeline::Label& label = recording->timeline.label_of(span);
      const bool multiplies = label.call && (label.call->use == timeline::OperatorUse::kProduct ||
                                             label.call->use == timeline::OperatorUse::kAttention);
      counted += multiplies ? label.flops.value_or(Flops()) : Flops();
    }
    const double layer =
        run.weights_of_layer * run.hidden * run.hidden + run.matrices_of_ffn * run.hidden * run.ffn;
    const double weights = run.layers * layer + run.vocabulary * run.hidden;
    const double attention =
        run.layers * run.products * run.causal * 2.0 * run.tokens * run.length * run.hidden;
    const double steps = 2.0;
    EXPECT_NEAR(counted.base() / steps / (6.0 * weights * run.tokens + attention), 1.0, 0.001);
  }
}

// Chakra's traces of the host lie beside the profiles and are none.
TEST(KinetoTruth, WhatIsNoProfileIsRefused) {
  for (const char* name :
       {"megatron-tp8/megatron_et_0.json.gz", "hta/memory_analysis/memory_timeline.raw.gz"}) {
    const auto file = traces() / name;
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no " << file;
    }
    const auto recording = read_profile(file, options_of_tests());
    ASSERT_FALSE(recording);
    EXPECT_NE(recording.error().allowed.find("export_chrome_trace"), std::string::npos);
  }
}

struct Job {
  const char* file;
  std::size_t spans, ranks, steps;
};

// Counted alike: events of phase X; workers by process and "PP rank, TP rank"; steps of a worker.
TEST(ChromeTruth, WholeJobsAreRead) {
  for (const Job& job : {Job{"bytedance-straggler/timeline-ST.json.gz", 6784, 8, 32},
                         Job{"bytedance-straggler/ideal-timeline-ST.json.gz", 6784, 8, 32},
                         Job{"bytedance-straggler/timeline-AR.json.gz", 117'216, 16, 44}}) {
    const auto file = traces() / job.file;
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no " << file;
    }
    SCOPED_TRACE(job.file);
    const auto recording = read_profile(file, options_of_tests());
    ASSERT_TRUE(recording) << to_text(recording.error());
    EXPECT_EQ(recording->recorder, timeline::Recorder::kChrome);
    EXPECT_EQ(recording->timeline.spans().size(), job.spans);
    EXPECT_EQ(recording->ranks.size(), job.ranks);
    EXPECT_EQ(recording->steps.size(), job.ranks * job.steps);
    EXPECT_TRUE(recording->unread.empty());
    for (const timeline::Span& span : recording->timeline.spans()) {
      EXPECT_NE(recording->timeline.label_of(span).kind, SpanKind::kMark);
    }
  }
}

}  // namespace
}  // namespace sextant::profile
