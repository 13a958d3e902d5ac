#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/job.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"
#include "describe/layout/pipeline_split.h"

namespace sextant::describe {
namespace {

Layout parsed_layout(std::string_view text, Framework framework = Framework::kOther) {
  const auto reading = parse_layout(text, framework);
  EXPECT_TRUE(reading) << (reading ? "" : to_text(reading.error()));
  return reading ? reading->layout : Layout{};
}

TEST(LayoutText, ReadsEveryKindOfValue) {
  const Layout layout = parsed_layout(
      "tp=8, sp=1,cp=2,cp_method=a2a+p2p,pp=4,vpp=5,schedule=interleaved-1f1b,"
      "layers_per_stage=3+4*18+5,zero=3,zero_group=8,recompute=selective:moe_act+layernorm,"
      "precision=mxfp8,optimizer=adam:fp32:bf16:bf16:offload,overlap=tp+grad_reduce,"
      "order=tp-ep-cp-dp-pp,compile=cuda-graph");
  EXPECT_EQ(layout.tp, 8);
  EXPECT_TRUE(layout.sp);
  EXPECT_EQ(layout.cp_method, CpMethod::kAllToAllP2p);
  EXPECT_EQ(layout.split.layers_per_stage.size(), 20U);
  EXPECT_EQ(layout.split.layers_per_stage.back(), 5);
  EXPECT_EQ(layout.zero, Zero::kParameters);
  EXPECT_EQ(layout.recompute.modules,
            (std::vector{RecomputeModule::kLayerNorm, RecomputeModule::kMoeActivation}));
  EXPECT_EQ(layout.optimizer.first_moment, Storage::kBf16);
  EXPECT_TRUE(layout.optimizer.offload);
  EXPECT_TRUE(layout.overlaps(Overlap::kTensorParallel));
  EXPECT_FALSE(layout.overlaps(Overlap::kExpert));
  EXPECT_EQ(layout.order[1], Axis::kEp);
  EXPECT_EQ(layout.launch, Launch::kCudaGraph);
}

TEST(LayoutText, EveryKeyIsDocumentedAndReadsItsOwnPrint) {
  for (const LayoutKey& key : layout_keys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.name;
    EXPECT_FALSE(key.values.empty()) << key.name;
  }
}

TEST(LayoutText, WhatIsPrintedReadsBackToTheSameLayout) {
  EXPECT_TRUE(rc::check([] {
    Layout layout;
    layout.tp = *rc::gen::inRange(1, 64);
    layout.sp = *rc::gen::arbitrary<bool>();
    layout.cp = *rc::gen::inRange(1, 16);
    layout.cp_method = *rc::gen::element(CpMethod::kP2pRing, CpMethod::kAllGather,
                                         CpMethod::kAllToAll, CpMethod::kAllToAllP2p);
    layout.pp = *rc::gen::inRange(1, 16);
    layout.vpp = *rc::gen::inRange(1, 8);
    layout.schedule =
        *rc::gen::element(Schedule::k1f1b, Schedule::kGpipe, Schedule::kZbv, Schedule::kDualPipe);
    layout.ep = *rc::gen::inRange(1, 64);
    layout.dp = *rc::gen::inRange(0, 512);
    layout.zero =
        *rc::gen::element(Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters);
    layout.mbs = *rc::gen::inRange(1, 32);
    layout.recompute.granularity =
        *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
    if (layout.recompute.granularity == Recompute::kSelective) {
      layout.recompute.modules = {RecomputeModule::kCoreAttention, RecomputeModule::kMoe};
    } else if (layout.recompute.granularity == Recompute::kFull) {
      layout.recompute.layers = *rc::gen::inRange(0, 4);
      if (layout.recompute.layers > 0) {
        layout.recompute.method =
            *rc::gen::element(RecomputeMethod::kUniform, RecomputeMethod::kBlock);
      }
    }
    layout.precision = *rc::gen::element(Precision::kBf16, Precision::kFp8, Precision::kNvfp4);
    layout.optimizer.offload = *rc::gen::arbitrary<bool>();
    layout.optimizer.master = *rc::gen::element(Storage::kFp32, Storage::kNone);
    if (*rc::gen::arbitrary<bool>()) {
      layout.overlap = {Overlap::kGradReduce, Overlap::kPipeline};
    }
    layout.split.count_loss = *rc::gen::arbitrary<bool>();
    layout.split.layers_per_stage =
        *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 9));
    layout.order = {Axis::kTp, Axis::kEp, Axis::kCp, Axis::kPp, Axis::kDp};
    const auto back = parse_layout(to_text(layout), Framework::kDeepspeed);
    RC_ASSERT(back.has_value());
    // The only thing kDeepspeed fills in is the schedule of an interleaved pipeline.
    Layout read = back->layout;
    if (layout.schedule == Schedule::k1f1b && layout.vpp > 1) {
      read.schedule = Schedule::k1f1b;
    }
    RC_ASSERT(read == layout);
  }));
}

struct BadLayout {
  const char* text;
  const char* said;
};

TEST(LayoutText, BadValuesSayWhatIsAllowed) {
  for (const BadLayout& c : {BadLayout{"tpp=8", "did you mean"},
                             {"tp", "no value"},
                             {"tp=0", "from 1 to"},
                             {"tp=-1", "from 1 to"},
                             {"tp=8x", "from 1 to"},
                             {"tp=99999999999", "from 1 to"},
                             {"tp=2,tp=4", "given twice"},
                             {"sp=maybe", "0, 1"},
                             {"precision=fp9", "did you mean"},
                             {"recompute=full:uniform", "none, selective"},
                             {"recompute=selective:attn", "core_attn"},
                             {"optimizer=adam:fp32", "KIND or KIND"},
                             {"order=tp-cp-dp-pp", "every axis once"},
                             {"order=tp-tp-ep-dp-pp", "every axis once"},
                             {"layers_per_stage=3*99999999", "from 1 to"},
                             {"schedule=2f2b", "1f1b"}}) {
    const auto reading = parse_layout(c.text, Framework::kMegatronCore);
    ASSERT_FALSE(reading) << c.text;
    EXPECT_NE(to_text(reading.error()).find(c.said), std::string::npos) << to_text(reading.error());
    EXPECT_EQ(reading.error().where, "‹layout›");
  }
}

TEST(LayoutText, UnsetKeysTakeTheFrameworksDefaultsAndSaySo) {
  const auto megatron = parse_layout("tp=8,pp=2,vpp=4", Framework::kMegatronCore);
  ASSERT_TRUE(megatron);
  EXPECT_TRUE(megatron->layout.sp);
  EXPECT_EQ(megatron->layout.zero, Zero::kOptimizer);
  EXPECT_EQ(megatron->layout.schedule, Schedule::kInterleaved1f1b);
  EXPECT_EQ(megatron->layout.loss, LossKernel::kFused);
  EXPECT_EQ(megatron->defaulted.size(), 5U);
  const auto titan = parse_layout("tp=1", Framework::kTorchtitan);
  EXPECT_EQ(titan->layout.zero, Zero::kParameters);
  EXPECT_EQ(titan->layout.parameters, Storage::kFp32);
  const auto said = parse_layout("tp=8,sp=0", Framework::kMegatronCore);
  EXPECT_FALSE(said->layout.sp);  // the user's word stands
}

TEST(PipelineSplit, EvenCountedAndExplicit) {
  Layout layout;
  layout.pp = 4;
  EXPECT_EQ(*layers_of_stages(8, layout), (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_FALSE(layers_of_stages(10, layout));
  layout.split.count_embedding = true;
  layout.split.count_loss = true;
  EXPECT_EQ(*layers_of_stages(10, layout), (std::vector<std::int64_t>{2, 3, 3, 2}));
  layout.split = {};
  layout.split.layers_per_stage = {1, 4, 4, 1};
  EXPECT_EQ(*layers_of_stages(10, layout), (std::vector<std::int64_t>{1, 4, 4, 1}));
  EXPECT_FALSE(layers_of_stages(11, layout));
}

// 126 layers on 16 stages (Llama-3.1-405B): 128 with embedding and loss.
TEST(PipelineSplit, ThePlausibleSplitCountsEmbeddingAndLossFirst) {
  const PipelineSplit llama = plausible_split(126, 16);
  EXPECT_TRUE(llama.count_embedding && llama.count_loss);
  EXPECT_TRUE(plausible_split(95, 8).count_loss);
  EXPECT_EQ(plausible_split(96, 8), PipelineSplit{});
  const PipelineSplit uneven = plausible_split(61, 4);  // 61, 62 and 63 do not divide by 4
  EXPECT_EQ(uneven.layers_per_stage, (std::vector<std::int64_t>{15, 16, 15, 15}));
}

TEST(PipelineSplit, EveryPlausibleSplitHoldsEveryLayer) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t layers = *rc::gen::inRange<std::int64_t>(1, 200);
    const std::int64_t stages = *rc::gen::inRange<std::int64_t>(1, layers + 1);
    Layout layout;
    layout.pp = stages;
    layout.split = plausible_split(layers, stages);
    const auto counts = layers_of_stages(layers, layout);
    RC_ASSERT(counts.has_value());
    std::int64_t sum = 0;
    for (const std::int64_t count : *counts) {
      RC_ASSERT(count >= 0);
      sum += count;
    }
    RC_ASSERT(sum == layers);
  }));
}

TEST(PaddedVocab, FollowsMegatronAndDivides) {
  EXPECT_EQ(padded_vocab(50257, 1, Framework::kMegatronCore), 50304);
  EXPECT_EQ(padded_vocab(50257, 8, Framework::kMegatronCore), 51200);
  EXPECT_EQ(padded_vocab(50257, 8, Framework::kTorchtitan), 50264);
}

TEST(Mesh, IsReadPrintedAndTurnedIntoALayout) {
  const auto mesh = parse_mesh("ici:fsdp=64,tensor=4;dcn:data=2");
  ASSERT_TRUE(mesh);
  EXPECT_EQ(to_text(*mesh), "ici:fsdp=64,tensor=4;dcn:data=2");
  const Layout layout = with_mesh({}, *mesh);
  EXPECT_EQ(layout.tp, 4);
  EXPECT_EQ(layout.dp, 128);
  EXPECT_EQ(layout.zero, Zero::kParameters);
  EXPECT_EQ(layout.zero_group, 64);  // sharded inside the slice, copied across
  EXPECT_FALSE(parse_mesh("ici:fsdp=0"));
  EXPECT_FALSE(parse_mesh("banana=2"));
}

TEST(Mesh, SaysWhoCrossesSlices) {
  const auto order = [](std::string_view text) {
    Layout plain;
    plain.order = with_mesh({}, *parse_mesh(text)).order;
    return to_text(plain);
  };
  EXPECT_EQ(order("ici:fsdp=4,pipeline=2"), "");
  EXPECT_EQ(order("ici:fsdp=4;dcn:pipeline=2"), "");
  EXPECT_EQ(order("ici:fsdp=4,pipeline=2;dcn:pipeline=2"), "");
  // Without a pipeline inside, dp is outermost anyway.
  EXPECT_EQ(order("ici:fsdp=4;dcn:data=2"), "");
  EXPECT_EQ(order("ici:fsdp=4;dcn:pipeline=2,data=2"), "");
  EXPECT_EQ(order("ici:fsdp=4,pipeline=2;dcn:data=2"), "order=tp-cp-ep-pp-dp");
  EXPECT_EQ(order("ici:fsdp=4,pipeline=3;dcn:fsdp=2"), "order=tp-cp-ep-pp-dp");
  EXPECT_EQ(order("ici:fsdp=4;dcn:expert=2"), "order=tp-cp-pp-dp-ep");
  EXPECT_EQ(order("ici:fsdp=4;dcn:sequence=2"), "order=tp-ep-pp-dp-cp");
  EXPECT_EQ(order("ici:fsdp=4;dcn:tensor=2"), "order=cp-ep-pp-dp-tp");
  EXPECT_EQ(order("ici:fsdp=4;dcn:pipeline=2,expert=2"), "order=tp-cp-dp-ep-pp");
  // Both cross whole: whoever talks least is outermost.
  EXPECT_EQ(order("ici:fsdp=4;dcn:sequence=2,expert=2"), "order=tp-pp-dp-cp-ep");
  // dp is cut, so it stands inside the pipeline, which is not.
  EXPECT_EQ(order("ici:tensor=2,fsdp=2;dcn:fsdp=2,sequence=2"), "order=tp-ep-pp-dp-cp");
}

TEST(Mesh, IsSaidByAnOrderOnlyWhereOneAxisIsCut) {
  const auto exact = [](std::string_view text) { return order_of(*parse_mesh(text)).exact; };
  EXPECT_TRUE(exact("ici:fsdp=4,pipeline=2;dcn:data=2"));
  EXPECT_TRUE(exact("ici:fsdp=4,pipeline=2;dcn:data=2,expert=2"));
  EXPECT_FALSE(exact("ici:fsdp=4,pipeline=2;dcn:fsdp=2,pipeline=2"));
  // Copies inside a slice, shards across: a layout's shards are the nearer ranks.
  EXPECT_FALSE(exact("ici:data=2;dcn:fsdp=2"));
}

TEST(Mesh, OfAJobTakesSlicesFromTheOutside) {
  Job job;
  job.cluster = *load_cluster("512xtpu-v6e", DataStore{});
  job.cluster.slices = 2;
  job.framework = Framework::kMaxtext;
  job.layout.tp = 4;
  job.layout.pp = 2;
  job.layout.zero = Zero::kParameters;
  EXPECT_EQ(to_text(mesh_of(job)), "ici:fsdp=64,tensor=4;dcn:pipeline=2");
  job.layout.order = {Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp};
  EXPECT_EQ(to_text(mesh_of(job)), "ici:fsdp=32,tensor=4,pipeline=2;dcn:fsdp=2");
  job.layout.zero_group = 32;
  EXPECT_EQ(to_text(mesh_of(job)), "ici:fsdp=32,tensor=4,pipeline=2;dcn:data=2");
  const Layout read = with_mesh(Layout{}, mesh_of(job));
  EXPECT_EQ(read.order, job.layout.order);
  EXPECT_EQ(read.dp, 64);
  EXPECT_EQ(read.zero_group, 32);
  job.cluster.slices = 1;
  EXPECT_EQ(to_text(mesh_of(job)), "ici:data=2,fsdp=32,tensor=4,pipeline=2");
}

// Every mesh of up to two sizes an axis, both levels: as a job's it is the same again wherever an
// order says it.
TEST(Mesh, IsItsOwnJobsMesh) {
  int said = 0;
  for (int bits = 0; bits < 1 << 10; ++bits) {
    const auto size = [bits](int place) -> std::int64_t {
      return (bits >> place & 1) != 0 ? 2 : 1;
    };
    const Mesh mesh{.ici = {.fsdp = size(0) * 2,
                            .tensor = size(1),
                            .sequence = size(2),
                            .expert = size(3),
                            .pipeline = size(4)},
                    .dcn = {.data = size(5),
                            .tensor = size(6),
                            .sequence = size(7),
                            .expert = size(8),
                            .pipeline = size(9)}};
    Job job;
    job.cluster.system.scale_up = ScaleUp::kIci2d;
    job.cluster.devices = mesh.ici.devices() * mesh.dcn.devices();
    job.cluster.slices = mesh.dcn.devices();
    job.layout = with_mesh({}, mesh);
    if (order_of(mesh).exact) {
      ++said;
      EXPECT_EQ(to_text(mesh_of(job)), to_text(mesh));
    } else {
      EXPECT_NE(to_text(mesh_of(job)), to_text(mesh));
    }
  }
  EXPECT_GT(said, 300);
}

TEST(Sequences, PackedDocumentsCostLessAttention) {
  EXPECT_EQ(parse_sequences("8k")->length, 8192);
  EXPECT_EQ(parse_sequences("128K")->length, 131072);
  for (const char* const wrong : {"k", "8kk", "0k", "8 k", "1000000k"}) {
    EXPECT_FALSE(parse_sequences(wrong)) << wrong;
  }
  const auto fixed = parse_sequences("4096");
  EXPECT_DOUBLE_EQ(fixed->attention_length(), 4096.0);
  const auto packed = parse_sequences("packed:8192:512*0.5,1536*0.5");
  ASSERT_TRUE(packed);
  EXPECT_DOUBLE_EQ(packed->mean_length(), 1024.0);
  // (512^2 + 1536^2) / 2 / 1024 = 1280
  EXPECT_DOUBLE_EQ(packed->attention_length(), 1280.0);
  for (const char* bad : {"", "0", "-1", "packed", "packed:10:20*1", "packed:10:5*0.5",
                          "packed:10:5*nan", "zipped:10", "4096:1", "fixed:10:5*1"}) {
    EXPECT_FALSE(parse_sequences(bad)) << bad;
  }
}

}  // namespace
}  // namespace sextant::describe
