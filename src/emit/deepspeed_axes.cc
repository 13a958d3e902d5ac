#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "emit/deepspeed_parts.h"

namespace sextant::emit::deepspeed {
namespace {

constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr std::string_view kAutoTp = "tensor_parallel.autotp_size";
constexpr std::string_view kSequenceParallelSize = "sequence_parallel_size";
constexpr std::string_view kAutoEp = "expert_parallel.autoep_size";
constexpr std::string_view kStage = "zero_optimization.stage";
constexpr std::string_view kShards = "zero_optimization.mics_shard_size";
constexpr std::string_view kSecondShards = "zero_optimization.zero_hpz_partition_size";
constexpr std::string_view kOverlap = "zero_optimization.overlap_comm";
constexpr std::string_view kTpOverlap = "tensor_parallel.tp_overlap_comm";
constexpr std::string_view kOffloadParameters = "zero_optimization.offload_param.device";
constexpr std::string_view kBatch = "train_batch_size";
constexpr std::string_view kMicroBatch = "train_micro_batch_size_per_gpu";
constexpr std::string_view kAccumulation = "gradient_accumulation_steps";

}  // namespace

void write_sharding(const describe::Layout& at, SettingWriter& out) {
  out.whole(kStage, static_cast<std::int64_t>(at.zero));
  if (at.zero == describe::Zero::kParameters && at.zero_group > 0) {
    out.whole(kShards, at.zero_group);
  }
  if (at.zero != describe::Zero::kNone) {
    out.flag(kOverlap, at.overlaps(describe::Overlap::kGradReduce));
  }
  if (at.optimizer.offload && at.zero != describe::Zero::kNone) {
    out.text(kOffloadOptimizer, "cpu");
  }
  if (at.tp > 1) {
    out.whole(kAutoTp, at.tp);
    out.flag(kTpOverlap, at.overlaps(describe::Overlap::kTensorParallel));
  }
  if (at.cp > 1) {
    out.whole(kSequenceParallelSize, at.cp);
  }
  if (at.ep > 1) {
    out.flag("expert_parallel.enabled", true);
    out.whole(kAutoEp, at.ep);
  }
}

void write_batch(const describe::Job& job, const describe::Layout& at, SettingWriter& out) {
  out.whole(kBatch, job.global_batch);
  out.whole(kMicroBatch, at.mbs);
  const std::int64_t round = saturating_product({at.dp, at.mbs});
  if (at.pp == 1 && round > 0 && job.global_batch % round == 0) {
    out.whole(kAccumulation, job.global_batch / round);
  }
}

void read_axes(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const auto size = [&](std::string_view key, std::string_view field, std::int64_t& member) {
    if (const auto value = reader.whole(key, 0, describe::kMostDevices)) {
      member = std::max<std::int64_t>(1, *value);
      reader.fact(field, std::to_string(member), key);
    }
  };
  size(kAutoTp, "tp", at.tp);
  size(kSequenceParallelSize, "cp", at.cp);
  if (reader.flag("expert_parallel.enabled").value_or(true)) {
    size(kAutoEp, "ep", at.ep);
  }
  at.cp_method = at.cp > 1 ? describe::CpMethod::kAllToAll : describe::CpMethod::kP2pRing;
  reading.devices = reader.launched("devices");
  reading.devices_per_node = reader.launched("devices_per_node");
  const auto nodes = reader.launched("nodes");
  if (!reading.devices && nodes && reading.devices_per_node) {
    reading.devices = saturating_product({*nodes, *reading.devices_per_node});
  }
  const std::int64_t model_ranks = std::max<std::int64_t>(1, saturating_product({at.tp, at.cp}));
  if (reading.devices && *reading.devices % model_ranks == 0) {
    at.dp = *reading.devices / model_ranks;
  } else if (reading.devices) {
    reader.unresolved(
        kAutoTp, fmt::format("{} ranks do not divide {} devices", model_ranks, *reading.devices));
  }
}

void read_sharding(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const std::int64_t stage = reader.whole(kStage, 0, 3).value_or(0);
  at.zero = static_cast<describe::Zero>(stage);
  reader.fact("zero", std::to_string(stage), kStage);
  const auto shards = reader.whole(kShards, -1, describe::kMostDevices);
  if (shards && *shards > 0 && at.zero == describe::Zero::kParameters) {
    at.zero_group = *shards;
    reader.fact("zero_group", std::to_string(*shards), kShards);
  }
  if (reader.whole(kSecondShards, 1, describe::kMostDevices).value_or(1) > 1) {
    reader.unresolved(kSecondShards,
                      "a second copy of the parameters in each group is not part of "
                      "a layout; gathers in the backward pass stay inside it");
  }
  const std::string parameters = reader.text(kOffloadParameters).value_or("none");
  if (parameters != "none") {
    reader.unresolved(kOffloadParameters,
                      "parameters outside of the device are not part of a "
                      "layout");
  }
  // Without a word overlap_comm is on for ZeRO 3 only.
  const bool overlap = at.zero != describe::Zero::kNone &&
                       reader.flag(kOverlap).value_or(at.zero == describe::Zero::kParameters);
  if (overlap && (at.dp != 1 || at.cp > 1)) {
    at.overlap.push_back(describe::Overlap::kGradReduce);
    if (at.zero == describe::Zero::kParameters) {
      at.overlap.push_back(describe::Overlap::kParamGather);
    }
  }
  reader.fact("overlap", overlap ? "grad_reduce" : "none", kOverlap);
  if (at.tp > 1 && reader.flag(kTpOverlap).value_or(false)) {
    at.overlap.push_back(describe::Overlap::kTensorParallel);
    reader.fact("overlap", "tp", kTpOverlap);
  }
}

// train_batch_size = micro · accumulation · dp: any two give the third.
void read_batch(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const auto batch = reader.whole(kBatch, 1, kMostBatch);
  auto micro = reader.whole(kMicroBatch, 1, kMostBatch);
  auto rounds = reader.whole(kAccumulation, 1, kMostBatch);
  const std::string_view said = micro ? kMicroBatch : kBatch;
  if (!micro && batch && at.dp > 0) {
    // DeepSpeed takes one accumulation step where only the whole is given.
    const std::int64_t share =
        std::max<std::int64_t>(1, saturating_product({at.dp, rounds.value_or(1)}));
    if (*batch % share == 0) {
      micro = *batch / share;
    } else {
      reader.unresolved(kBatch, fmt::format("it does not divide over {} ranks and steps", share));
    }
  }
  if (!micro) {
    reader.unresolved(kMicroBatch, "the micro-batch is given by nothing in the file");
  }
  at.mbs = micro.value_or(1);
  reader.fact("mbs", std::to_string(at.mbs), said);
  if (batch) {
    reading.global_batch = batch;
    reader.fact("gbs", std::to_string(*batch), kBatch);
    const std::int64_t whole = saturating_product({micro.value_or(0), rounds.value_or(0), at.dp});
    if (whole > 0 && whole != *batch) {
      reader.unresolved(kBatch, fmt::format("micro-batch · accumulation · dp={} is {}, not {}: "
                                            "DeepSpeed refuses it",
                                            at.dp, whole, *batch));
    }
  } else if (micro && at.dp > 0) {
    const bool open = reader.find(kAccumulation) != nullptr && !rounds;
    if (!open) {
      reading.global_batch = saturating_product({*micro, rounds.value_or(1), at.dp});
      reader.derived("gbs", std::to_string(*reading.global_batch), said);
    }
  }
}

}  // namespace sextant::emit::deepspeed
