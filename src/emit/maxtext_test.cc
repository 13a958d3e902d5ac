#include "emit/maxtext.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"
#include "emit/setting_values.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

Reading through_maxtext_file(const Writing& writing) {
  const auto settings = through_yaml(writing, "job.yml");
  return settings ? read_maxtext(*settings, describe::DataStore{}) : Reading{};
}

Reading read_maxtext_text(std::string_view text, std::int64_t devices = 0) {
  auto settings = parse_yaml(text, "job.yml", Dialect::kMaxtext);
  EXPECT_TRUE(settings) << to_text(settings.error());
  if (devices > 0) {
    settings->launch.push_back({"devices", {std::to_string(devices)}, {}});
  }
  return read_maxtext(*settings, describe::DataStore{});
}

TEST(Maxtext, WhatIsLeftOutIsExactlyWhatDiffers) {
  EXPECT_TRUE(rc::check("round trip", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_job(describe::Framework::kMaxtext);
      const Writing writing = write_maxtext(job);
      const Reading reading = through_maxtext_file(writing);
      RC_ASSERT(layout_fields(writing.left_out) == differing_keys(job.layout, reading.layout));
      RC_ASSERT(reading.sequence == job.sequences.length);
      RC_ASSERT(reading.global_batch == job.global_batch);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(reading.unresolved.empty());
      RC_ASSERT(reading.unknown.empty());
    }
  }));
}

// Sharding as MaxText does it: over fsdp, context and expert together, copies on the data axis.
void choose_sharding(Layout& at) {
  at.dp = any::one_of<std::int64_t>({1, 2, 4, 8, 16}) * at.ep;
  const std::int64_t shard = at.dp * at.cp;
  at.zero = shard > 1 ? Zero::kParameters : Zero::kNone;
  at.zero_group = 0;
  const std::int64_t copies = any::one_of<std::int64_t>({1, 2});
  if (copies == 2 && at.dp / at.ep % 2 == 0) {
    at.zero_group = shard / 2 > 1 ? shard / 2 : 0;
    at.zero = shard / 2 > 1 ? Zero::kParameters : Zero::kOptimizer;
  }
}

// The order that lets some mesh's axes cross slices: what a file can say.
void choose_crossing(Job& job) {
  Layout& at = job.layout;
  job.cluster.devices = at.tp * at.cp * at.pp * at.dp;
  at.order =
      any::one_of<std::array<Axis, 5>>({{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp},
                                        {Axis::kTp, Axis::kCp, Axis::kPp, Axis::kDp, Axis::kEp},
                                        {Axis::kTp, Axis::kEp, Axis::kPp, Axis::kDp, Axis::kCp},
                                        {Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp, Axis::kTp},
                                        {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kEp, Axis::kPp}});
  const describe::MeshOrder read = describe::order_of(describe::mesh_of(job));
  RC_ASSERT(read.exact);
  at.order = read.order;
}

Job any_maxtext_job() {
  Job job = any_job(describe::Framework::kMaxtext);
  Layout& at = job.layout;
  const Layout plain;
  const bool experts = describe::has_experts(job.model);
  at.cp_inner = at.cp_method == CpMethod::kAllToAllP2p ? 2 : 0;
  at.pp = any::one_of<std::int64_t>({1, 2, 4});
  at.vpp = at.pp > 1 ? any::one_of<std::int64_t>({1, 2, 5}) : 1;
  at.schedule =
      at.pp == 1 ? plain.schedule : (at.vpp > 1 ? Schedule::kLoopedBfs : Schedule::kGpipe);
  at.split = {};
  at.ep = experts ? any::one_of<std::int64_t>({1, 2, 4}) : 1;
  at.etp = experts ? at.tp : 1;
  choose_sharding(at);
  at.reshard_after_forward = at.zero != Zero::kParameters || at.pp == 1 || any::once_in(2);
  using Module = RecomputeModule;
  at.recompute = any::one_of<RecomputePolicy>(
      {{.granularity = Recompute::kFull, .modules = {}},
       {.granularity = Recompute::kSelective,
        .modules = {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp}},
       {.granularity = Recompute::kSelective,
        .modules = {Module::kCoreAttention, Module::kLayerNorm, Module::kActivation}}});
  at.activation_offload = any::once_in(2);
  at.precision =
      any::one_of<Precision>({Precision::kBf16, Precision::kFp32, Precision::kFp16, Precision::kFp8,
                              Precision::kMxfp8, Precision::kNvfp4, Precision::kInt8});
  at.parameters = any::one_of<Storage>({Storage::kFp32, Storage::kBf16});
  at.gradients = at.parameters == Storage::kFp32
                     ? any::one_of<Storage>({Storage::kFp32, Storage::kBf16})
                     : at.parameters;
  at.optimizer = {.master = Storage::kNone,
                  .first_moment = any::one_of<Storage>({Storage::kFp32, Storage::kBf16}),
                  .second_moment = at.parameters,
                  .offload = any::once_in(2)};
  at.attention = any::one_of<AttentionKernel>(
      {AttentionKernel::kFlash, AttentionKernel::kCudnn, AttentionKernel::kEager});
  at.loss = describe::LossKernel::kInPlace;
  at.launch = describe::Launch::kCompiled;
  at.dispatcher = experts && any::once_in(2) ? describe::Dispatcher::kAllGather
                                             : describe::Dispatcher::kAllToAll;
  at.overlap.clear();
  if (at.dp * at.cp > 1) {
    at.overlap = {Overlap::kGradReduce};
    if (at.zero != Zero::kNone) {
      at.overlap.push_back(Overlap::kParamGather);
    }
  }
  at.order = plain.order;
  if (any::once_in(2)) {
    choose_crossing(job);
  }
  job.model.blocks = {job.model.blocks.back()};
  job.model.blocks[0].mixer = Attention{.heads = 16, .kv_heads = 4, .head_dim = 64};
  job.model.mtp_layers = 0;
  job.model.layers.assign(static_cast<std::size_t>(at.stages() * 3), 0);
  if (experts) {
    job.model.blocks[0].ffn = MoeFfn{.experts = 16, .topk = 2, .width = 512};
  } else {
    job.model.blocks[0].ffn = DenseFfn{.width = 2048};
  }
  job.cluster.devices = at.tp * at.cp * at.pp * at.dp;
  // Any number of steps, so that a device's share has endless decimals too.
  job.global_batch = at.dp * at.mbs * at.pp * any::one_of<std::int64_t>({1, 2, 3, 7, 11});
  return job;
}

TEST(Maxtext, ItsOwnJobsReadBackWhole) {
  EXPECT_TRUE(rc::check("nothing is left out", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_maxtext_job();
      const Writing writing = write_maxtext(job);
      for (const Inexpressible& each : writing.left_out) {
        RC_FAIL(each.field + "=" + each.value + ": " + each.why + "\n" +
                render_yaml(writing.settings));
      }
      const Reading reading = through_maxtext_file(writing);
      RC_ASSERT(reading.layout == job.layout);
      Layout by_mesh = describe::with_mesh(job.layout, describe::mesh_of(job));
      by_mesh.zero = by_mesh.zero == Zero::kNone ? job.layout.zero : by_mesh.zero;
      RC_ASSERT(by_mesh == job.layout);
      RC_ASSERT(reading.global_batch == job.global_batch);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(reading.model.has_value());
      RC_ASSERT(describe::model_parameters(*reading.model).total() ==
                describe::model_parameters(job.model).total());
    }
  }));
}

TEST(Maxtext, SharesOfADeviceGiveBackWholeSequences) {
  // 1/3 of a sequence a device, 49 devices and other numbers that no double holds.
  for (const std::int64_t devices : {3, 7, 48, 49, 96, 1000, 6144, 99'991}) {
    for (const std::int64_t micro : {1, 2, 5, 64, 333}) {
      Job job;
      job.cluster = *describe::load_cluster("8xb200-sxm", describe::DataStore{});
      job.cluster.devices = devices;
      job.layout.tp = devices;
      job.layout.dp = 1;
      job.layout.mbs = micro;
      job.global_batch = micro;
      job.sequences.length = 128;
      const Reading reading = through_maxtext_file(write_maxtext(job));
      EXPECT_EQ(reading.layout.mbs, micro) << devices;
      EXPECT_EQ(reading.global_batch, micro) << devices;
    }
  }
}

TEST(Maxtext, AnAxisOfMinusOneTakesWhatIsLeft) {
  const std::string_view text =
      "model_name: llama3.1-405b\n"
      "ici_fsdp_parallelism: -1\n"
      "ici_tensor_parallelism: 4\n"
      "dcn_data_parallelism: 2\n"
      "per_device_batch_size: 0.5\n"
      "max_target_length: 8_192\n"
      "quantization: ''\n";
  const Reading reading = read_maxtext_text(text, 512);
  EXPECT_EQ(describe::to_text(reading.layout),
            "tp=4,dp=128,zero=3,zero_group=64,mbs=2,recompute=full,parameters=fp32,"
            "optimizer=adam:none:fp32:fp32,loss=in-place,compile=compile,overlap=grad_reduce+param_"
            "gather");
  EXPECT_EQ(reading.global_batch, 256);
  EXPECT_EQ(reading.sequence, 8192);
  EXPECT_EQ(reading.model->layer_count(), 126);
  EXPECT_TRUE(reading.unresolved.empty());
  // The same without the devices: dp is open, a replica's batch is not.
  const Reading open = read_maxtext_text(text);
  EXPECT_EQ(open.layout.dp, 0);
  EXPECT_EQ(open.layout.tp, 4);
  EXPECT_EQ(open.layout.mbs, 2);
  EXPECT_FALSE(open.devices);
  EXPECT_FALSE(open.global_batch);
}

TEST(Maxtext, SilenceIsBaseYml) {
  const Reading reading = read_maxtext_text("run_name: x\n", 256);
  EXPECT_EQ(reading.layout.dp, 256);
  EXPECT_EQ(reading.layout.zero, Zero::kParameters);
  EXPECT_EQ(reading.layout.mbs, 12);
  EXPECT_EQ(reading.sequence, 2048);
  EXPECT_FALSE(reading.model);
}

TEST(Maxtext, ReadsAPublicRecipeWithOverrides) {
  // In the style of a multislice recipe: a file for the model, the rest on the command line.
  std::vector<WordAt> words;
  std::size_t offset = 0;
  const std::string line =
      "python3 -m MaxText.train MaxText/configs/base.yml model_name=gemma3-12b run_name=a=b "
      "per_device_batch_size=1 ici_fsdp_parallelism=1 ici_fsdp_transpose_parallelism=-1 "
      "remat_policy=custom decoder_layer_input=offload max_target_length=32768 "
      "dcn_data_parallelism=2 --flag=1";
  for (const std::string_view word : split(line, ' ')) {
    words.push_back({std::string(word), {"run.sh", 3, offset, word.size()}});
    offset += word.size() + 1;
  }
  Settings settings;
  settings.dialect = Dialect::kMaxtext;
  settings.given = maxtext_overrides(words);
  settings.launch.push_back({"devices", {"512"}, {}});
  ASSERT_EQ(settings.given.size(), 9U);
  EXPECT_EQ(find(settings.given, "run_name")->values[0], "a=b");
  const Place& place = find(settings.given, "max_target_length")->place;
  EXPECT_EQ(line.substr(place.offset, place.length), "32768");
  const Reading reading = read_maxtext(settings, describe::DataStore{});
  EXPECT_EQ(reading.layout.dp, 512);
  EXPECT_EQ(reading.layout.zero_group, 256);
  EXPECT_EQ(reading.layout.recompute.granularity, Recompute::kFull);
  EXPECT_TRUE(reading.layout.activation_offload);
  EXPECT_EQ(reading.global_batch, 512);
  EXPECT_EQ(reading.sequence, 32768);
  EXPECT_EQ(reading.model->layer_count(), 48);
}

TEST(Maxtext, PipelinesRepeatAsOftenAsTheirLayersAllow) {
  const Reading reading = read_maxtext_text(
      "model_name: llama2-70b\nici_pipeline_parallelism: 4\nici_fsdp_parallelism: 2\n"
      "num_layers_per_pipeline_stage: 5\nper_device_batch_size: 2\nnum_pipeline_microbatches: 8\n",
      8);
  EXPECT_EQ(reading.layout.pp, 4);
  EXPECT_EQ(reading.layout.vpp, 80 / 20);
  EXPECT_EQ(reading.layout.schedule, Schedule::kLoopedBfs);
  EXPECT_EQ(reading.layout.mbs, 1);  // 16 sequences, 2 replicas, 8 microbatches
}

TEST(Maxtext, AnAttentionKernelIsStatedWhereItIsNamed) {
  EXPECT_TRUE(read_maxtext_text("attention: flash\n").attention_stated);
  EXPECT_TRUE(read_maxtext_text("attention: cudnn_flash_te\n").attention_stated);
  EXPECT_FALSE(read_maxtext_text("attention: autoselected\n").attention_stated);
  EXPECT_FALSE(read_maxtext_text("ici_fsdp_parallelism: 8\n").attention_stated);
}

TEST(Maxtext, WhatIsNotUnderstoodIsSaid) {
  const Reading reading = read_maxtext_text(
      "model_name: unheard-of\nici_fsdp_parallelism: -1\nici_tensor_parallelism: -1\n"
      "ici_warp_parallelism: 2\nper_device_batch_size: lots\nremat_policy: sometimes\n"
      "quantization: int3\nparameter_memory_host_offload: true\n",
      8);
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown[0].key, "ici_warp_parallelism");
  EXPECT_EQ(reading.unresolved.size(), 6U);
  const Reading wrong = read_maxtext_text("ici_fsdp_parallelism: 4\n", 8);
  ASSERT_EQ(wrong.unresolved.size(), 1U);
  EXPECT_EQ(wrong.unresolved[0].why, "its axes take 4 devices, the job has 8");
}

TEST(Maxtext, ATopologyNamesTheDevices) {
  EXPECT_EQ(
      read_maxtext_text("compile_topology: v6e-256\ncompile_topology_num_slices: 2\n").layout.dp,
      512);
  EXPECT_EQ(read_maxtext_text("compile_topology: v5p-256\n").devices, 128);
}

TEST(Maxtext, EveryNameIsAModelOfTheCatalogue) {
  const describe::DataStore data;
  for (const std::string& name : describe::catalogue_names(data)) {
    const Model model = *describe::load_model(name, data);
    Job job;
    job.model = model;
    job.cluster = *describe::load_cluster("64xtpu-v6e", data);
    job.layout.dp = 64;
    job.global_batch = 64;
    job.sequences.length = 2048;
    const Writing writing = write_maxtext(job);
    const Setting* named = find(writing.settings.given, "model_name");
    if (named == nullptr) {
      continue;
    }
    const Reading reading = through_maxtext_file(writing);
    ASSERT_TRUE(reading.model) << name;
    EXPECT_EQ(describe::model_parameters(*reading.model).total(),
              describe::model_parameters(model).total())
        << name;
  }
}

TEST(Maxtext, WritesTheMeshThatThePlanNames) {
  EXPECT_TRUE(rc::check("sizes of both levels", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_job(describe::Framework::kMaxtext);
      const std::vector<Setting> given = write_maxtext(job).settings.given;
      const auto size = [&](std::string_view level, std::string_view axis) {
        return std::stoll(
            find(given, fmt::format("{}_{}_parallelism", level, axis))->values.front());
      };
      const describe::Mesh mesh = describe::mesh_of(job);
      for (const auto& [level, axes] : {std::pair{"ici", mesh.ici}, std::pair{"dcn", mesh.dcn}}) {
        RC_ASSERT(size(level, "pipeline") == axes.pipeline);
        RC_ASSERT(size(level, "data") == axes.data);
        RC_ASSERT(size(level, "fsdp") == axes.fsdp);
        RC_ASSERT(size(level, "expert") == axes.expert);
        RC_ASSERT(size(level, "context") * size(level, "context_usp_ulysses") == axes.sequence);
        RC_ASSERT(size(level, "tensor") * size(level, "tensor_sequence") == axes.tensor);
      }
    }
  }));
}

// What is not understood of the mesh; "" where all is.
std::string mesh_doubts(const Reading& reading) {
  std::string text;
  for (const Unresolved& doubt : reading.unresolved) {
    text += doubt.what == "the mesh" ? doubt.why : "";
  }
  return text;
}

TEST(Maxtext, WhoCrossesSlicesIsKept) {
  const auto order_read = [](std::string_view dcn) {
    const Reading reading = read_maxtext_text(
        "ici_pipeline_parallelism: 2\nici_context_parallelism: 2\n"
        "ici_expert_parallelism: 2\nici_tensor_parallelism: 2\n"
        "ici_fsdp_parallelism: 4\n" +
        std::string(dcn));
    EXPECT_EQ(mesh_doubts(reading), "");
    const std::string text = describe::to_text(reading.layout);
    const std::size_t at = text.find("order=");
    return at == std::string::npos ? "usual" : text.substr(at + 6, 14);
  };
  EXPECT_EQ(order_read(""), "usual");
  // 2 inside and 2 across: the pipeline is cut, all else is inside.
  EXPECT_EQ(order_read("dcn_pipeline_parallelism: 2\n"), "usual");
  EXPECT_EQ(order_read("dcn_data_parallelism: 2\n"), "tp-cp-ep-pp-dp");
  EXPECT_EQ(order_read("dcn_fsdp_parallelism: 4\n"), "tp-cp-ep-pp-dp");
  EXPECT_EQ(order_read("dcn_expert_parallelism: 2\n"), "tp-cp-pp-dp-ep");
  EXPECT_EQ(order_read("dcn_context_parallelism: 2\n"), "tp-ep-pp-dp-cp");
  EXPECT_EQ(order_read("dcn_tensor_parallelism: 2\n"), "cp-ep-pp-dp-tp");
}

TEST(Maxtext, AMeshThatNoOrderSaysIsUnresolved) {
  // pp = 4 is cut in two, and so is dp: ranks counted through one axis after the other cut one.
  const Reading reading = read_maxtext_text(
      "ici_pipeline_parallelism: 2\nici_fsdp_parallelism: 2\n"
      "dcn_pipeline_parallelism: 2\ndcn_fsdp_parallelism: 2\n");
  EXPECT_EQ(mesh_doubts(reading),
            "no order of ranks has just these axes cross slices; read as tp-cp-ep-dp-pp");
}

TEST(Maxtext, SlicesAreCrossedByWhoTalksLeast) {
  Job job;
  job.cluster = *describe::load_cluster("512xtpu-v6e", describe::DataStore{});
  job.cluster.slices = 2;
  job.layout.tp = 4;
  job.layout.dp = 128;
  job.layout.zero = Zero::kParameters;
  job.layout.zero_group = 64;
  job.global_batch = 512;
  job.sequences.length = 4096;
  const Writing writing = write_maxtext(job);
  EXPECT_EQ(find(writing.settings.given, "hardware")->values[0], "tpu");
  EXPECT_EQ(find(writing.settings.given, "dcn_data_parallelism")->values[0], "2");
  EXPECT_EQ(find(writing.settings.given, "ici_fsdp_parallelism")->values[0], "64");
  EXPECT_EQ(find(writing.settings.given, "ici_tensor_parallelism")->values[0], "4");
}

}  // namespace
}  // namespace sextant::emit
