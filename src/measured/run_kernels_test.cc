// Which kernels, launches and overlaps a runs row is taken to have: each rule for what it does not
// state.
#include <algorithm>

#include <gtest/gtest.h>

#include "measured/run_layout.h"

namespace sextant::measured {
namespace {

using describe::Dispatcher;
using describe::Launch;
using describe::Overlap;

describe::Model experts() {
  describe::Model model;
  model.hidden = 1024;
  model.vocab = 32000;
  describe::Block block;
  block.mixer = describe::Attention{.heads = 16, .kv_heads = 16, .head_dim = 64};
  block.ffn = describe::MoeFfn{.experts = 64, .topk = 8, .width = 512};
  model.blocks.push_back(block);
  model.layers.assign(16, 0);
  return model;
}

RunCells bridge_run(std::string_view date, std::string_view device, std::string_view flags) {
  RunCells run;
  run.framework = "Megatron-Bridge (NeMo container)";
  run.date = date;
  run.device = device;
  run.devices = 64;
  run.tp = 2;
  run.pp = 1;
  run.ep = 32;
  run.global_batch = 64;
  run.micro_batch = 1.0;
  run.seq = 4096;
  run.precision_kind = "bf16";
  run.recompute_kind = "none";
  run.flags = flags;
  return run;
}

bool overlaps(const RunLayout& read, Overlap what) {
  return std::ranges::find(read.layout.overlap, what) != read.layout.overlap.end();
}

TEST(RunKernels, ExpertsOverNodesRunTheirLibrarySince2509) {
  EXPECT_EQ(run_layout(bridge_run("NeMo 25.09", "h100-sxm", ""), experts()).layout.dispatcher,
            Dispatcher::kDeepEp);
  EXPECT_EQ(run_layout(bridge_run("NeMo 25.05", "h100-sxm", ""), experts()).layout.dispatcher,
            Dispatcher::kAllToAll);
  EXPECT_EQ(run_layout(bridge_run("NeMo 26.02", "a100-sxm-80g", ""), experts()).layout.dispatcher,
            Dispatcher::kAllToAll);
  RunCells inside = bridge_run("NeMo 26.02", "h100-sxm", "");
  inside.ep = 8;
  EXPECT_EQ(run_layout(inside, experts()).layout.dispatcher, Dispatcher::kAllToAll);
  inside.flags = "moe_flex_dispatcher_backend=hybridep";
  EXPECT_EQ(run_layout(inside, experts()).layout.dispatcher, Dispatcher::kDeepEp);
}

TEST(RunKernels, AnExpertLibraryWithoutItsSizeIsRefused) {
  RunCells run = bridge_run("2026-06", "h100-sxm", "TE + DeepEP");
  run.ep.reset();
  EXPECT_EQ(run_layout(run, experts()).refusal, "layout not stated: ep");
}

TEST(RunKernels, GraphsOfPartsOfAnExpertLayerLeaveItToTheHost) {
  const auto launch = [](std::string_view flags) {
    return run_layout(bridge_run("NeMo 26.04", "gb200", flags), experts()).layout.launch;
  };
  EXPECT_EQ(launch("cuda_graph_impl=full_iteration; cuda_graph_scope=[]"), Launch::kCudaGraph);
  EXPECT_EQ(launch("cuda_graph_impl=transformer_engine; cuda_graph_scope=['attn', 'moe_router']"),
            Launch::kEager);
}

TEST(RunKernels, RacksRunOneGraphSince2606) {
  const RunLayout late = run_layout(bridge_run("NeMo 26.08", "gb300", ""), experts());
  EXPECT_EQ(late.layout.launch, Launch::kCudaGraph);
  EXPECT_TRUE(overlaps(late, Overlap::kExpert));
  const RunLayout early = run_layout(bridge_run("NeMo 26.04", "gb300", ""), experts());
  EXPECT_EQ(early.layout.launch, Launch::kEager);
  EXPECT_FALSE(overlaps(early, Overlap::kExpert));
  const RunLayout stated =
      run_layout(bridge_run("NeMo 26.06", "gb300", "moe_a2a_overlap=False"), experts());
  EXPECT_FALSE(overlaps(stated, Overlap::kExpert));
}

TEST(RunKernels, ExpertTensorParallelismIsMegatronsOwnBefore2504) {
  EXPECT_EQ(run_layout(bridge_run("v24.11.1", "h100-sxm", ""), experts()).layout.etp, 2);
  EXPECT_EQ(run_layout(bridge_run("v25.02", "h100-sxm", ""), experts()).layout.etp, 2);
  EXPECT_EQ(run_layout(bridge_run("v25.05.01", "h100-sxm", ""), experts()).layout.etp, 1);
}

TEST(RunKernels, InternEvoReducesGradientsBehindTheBackward) {
  RunCells run = bridge_run("2023-11", "a100-sxm-80g", "");
  run.framework = "InternEvo (Hybrid ZeRO)";
  run.zero = 1;
  run.ep.reset();
  EXPECT_TRUE(overlaps(run_layout(run, experts()), Overlap::kGradReduce));
}

TEST(RunKernels, RowwiseScalesAreBeyondTheLayout) {
  RunCells run = bridge_run("2025-06", "h100-sxm", "");
  run.precision_text = "float8 rowwise";
  EXPECT_FALSE(run_layout(run, experts()).beyond_layout.empty());
}

TEST(RunKernels, ACapacityOfOnePaddedIsUniformRouting) {
  RunCells run = bridge_run("2026-04", "b200-sxm", "capacity factor 1 padded");
  EXPECT_TRUE(run_layout(run, experts()).beyond_layout.empty());
  run.flags = "capacity factor 1.25";
  EXPECT_FALSE(run_layout(run, experts()).beyond_layout.empty());
}

}  // namespace
}  // namespace sextant::measured
