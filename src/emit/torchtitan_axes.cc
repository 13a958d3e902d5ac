// Sizes. The mesh is pp, dp_replicate, dp_shard, cp, tp from outermost to innermost; experts are
// carved from dp_shard·cp·tp. FSDP2 shards over dp_shard·cp, so a layout's zero_group is that
// product; replicas alone (dp_shard = 1 without context parallelism) are plain data parallelism.
// Source: torchtitan b5bcd76c6, distributed/parallel_dims.py and config/configs.py.
#include <algorithm>
#include <array>

#include "base/integers.h"
#include "emit/torch_words.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit::torchtitan {
namespace {

constexpr std::string_view kShardDegree = "parallelism.data_parallel_shard_degree";
constexpr std::string_view kReplicateDegree = "parallelism.data_parallel_replicate_degree";
constexpr std::string_view kSequenceParallel = "parallelism.enable_sequence_parallel";
constexpr std::string_view kReshard = "parallelism.fsdp_reshard_after_forward";
// 0.2.2 gathers all keys and values, or turns them round the ring by all-to-all; main gathers.
constexpr std::string_view kRotateMethod = "parallelism.context_parallel_rotate_method";

struct Degree : SizeSetting {
  bool toml_only = false;
};
constexpr std::array kDegrees{
    Degree{{"parallelism.tensor_parallel_degree", "tp", &describe::Layout::tp}},
    Degree{{"parallelism.context_parallel_degree", "cp", &describe::Layout::cp}},
    Degree{{"parallelism.pipeline_parallel_degree", "pp", &describe::Layout::pp}},
    Degree{{"parallelism.expert_parallel_degree", "ep", &describe::Layout::ep}},
    Degree{{"parallelism.expert_tensor_parallel_degree", "etp", &describe::Layout::etp}, true},
};

// nullopt: "default", which keeps parameters between passes under a pipeline only.
constexpr std::array<describe::Word<std::optional<bool>>, 3> kReshardWords{
    {{true, "always"}, {false, "never"}, {std::nullopt, "default"}}};

// How dp is divided into replicas of shards.
struct Sharding {
  std::int64_t replicas = 1;
  std::int64_t shard = -1;
};

Sharding sharding_of(const describe::Job& job) {
  const describe::Layout& at = job.layout;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  if (at.zero == describe::Zero::kNone && at.cp == 1) {
    return {dp, 1};
  }
  const std::int64_t group = at.zero == describe::Zero::kNone ? 0 : at.zero_group;
  if (group > 0 && group % at.cp == 0 && dp % (group / at.cp) == 0) {
    // A shard of 1 means "disabled": one rank alone has nothing to say.
    return {dp / (group / at.cp), group / at.cp};
  }
  return {1, dp == 1 ? -1 : dp};
}

void read_launched_devices(SettingReader& reader, Reading& reading) {
  reading.devices = reader.launched("devices");
  reading.devices_per_node = reader.launched("devices_per_node");
  const auto nodes = reader.launched("nodes");
  if (!reading.devices && nodes && reading.devices_per_node) {
    reading.devices = saturating_product({*nodes, *reading.devices_per_node});
  }
}

void read_shard_degrees(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const std::int64_t replicas =
      reader.whole(kReplicateDegree, 1, describe::kMostDevices).value_or(1);
  const std::int64_t shard = reader.whole(kShardDegree, -1, describe::kMostDevices).value_or(-1);
  const std::int64_t model_ranks = saturating_product({at.tp, at.cp, at.pp});
  at.dp = shard > 0 ? saturating_product({replicas, shard}) : 0;
  if (draft.reading.devices) {
    const std::int64_t devices = *draft.reading.devices;
    const std::int64_t left = devices % model_ranks == 0 ? devices / model_ranks : 0;
    if (left == 0 || left % replicas != 0 || (at.dp != 0 && at.dp != left)) {
      reader.unresolved(kShardDegree, "the degrees do not multiply to the devices of the job");
    } else {
      at.dp = left;
    }
  }
  at.zero = shard == 1 && at.cp == 1 ? describe::Zero::kNone : describe::Zero::kParameters;
  if (at.zero == describe::Zero::kParameters && replicas > 1 && at.dp > 0) {
    at.zero_group = saturating_product({at.dp / replicas, at.cp});
  }
  if (at.dp > 0) {  // -1 shards over whatever is left: not known before the devices are
    reader.derived("dp", std::to_string(at.dp), kShardDegree);
    reader.derived("zero_group", std::to_string(at.zero_group), kReplicateDegree);
  }
  const auto reshard = reader.word<std::optional<bool>>(kReshard, kReshardWords);
  at.reshard_after_forward =
      at.zero != describe::Zero::kParameters || reshard.value_or(std::nullopt).value_or(at.pp == 1);
  reader.fact("reshard", at.reshard_after_forward ? "1" : "0", kReshard);
}

}  // namespace

void add(std::vector<Setting>& settings, std::string_view key, std::string value) {
  settings.push_back({std::string(key), {std::move(value)}, {}});
}

void add(std::vector<Setting>& settings, std::string_view key, std::int64_t value) {
  add(settings, key, std::to_string(value));
}

void add_flag(std::vector<Setting>& settings, std::string_view key, bool value) {
  add(settings, key, std::string(value ? "true" : "false"));
}

void write_axes(const describe::Job& job, Edition edition, std::vector<Setting>& settings) {
  const describe::Layout& at = job.layout;
  const Sharding sharding = sharding_of(job);
  add(settings, kReplicateDegree, sharding.replicas);
  add(settings, kShardDegree, sharding.shard);
  if (at.zero != describe::Zero::kNone || at.cp > 1) {
    const bool reshard = at.zero != describe::Zero::kParameters || at.reshard_after_forward;
    add(settings, kReshard,
        std::string(describe::word_of<std::optional<bool>>(kReshardWords, reshard)));
  }
  for (const Degree& size : kDegrees) {
    const std::int64_t value = at.*size.member;
    const bool experts_only =
        size.member == &describe::Layout::ep || size.member == &describe::Layout::etp;
    if ((size.toml_only && (edition == Edition::kMain || (value != 1 && value != at.tp))) ||
        (experts_only && value == 1)) {
      continue;
    }
    add(settings, size.key, value);
  }
  if (at.tp > 1 && edition == Edition::kMain) {
    add_flag(settings, kSequenceParallel, at.sp);
  }
  if (at.cp > 1 && edition == Edition::kToml) {
    const bool ring = at.cp_method == describe::CpMethod::kP2pRing;
    add(settings, kRotateMethod,
        std::string(describe::word_of<describe::CpMethod>(
            kRotateWords, ring ? describe::CpMethod::kP2pRing : describe::CpMethod::kAllGather)));
  }
}

void read_axes(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  for (const Degree& size : kDegrees) {
    if (size.toml_only && draft.edition == Edition::kMain) {
      continue;
    }
    reader.size(size, describe::kMostDevices);
  }
  const bool said =
      draft.edition == Edition::kToml || reader.flag(kSequenceParallel).value_or(true);
  at.sp = at.tp > 1 && said;
  reader.fact("sp", at.sp ? "1" : "0", kSequenceParallel);
  if (at.cp > 1) {
    const bool old = draft.edition == Edition::kToml;
    at.cp_method = old ? reader.word<describe::CpMethod>(kRotateMethod, kRotateWords)
                             .value_or(describe::CpMethod::kAllGather)
                       : describe::CpMethod::kAllGather;
    reader.fact(
        "cp_method",
        std::string(describe::word_of<describe::CpMethod>(describe::kCpMethodWords, at.cp_method)),
        kRotateMethod);
  }
  read_launched_devices(reader, draft.reading);
  read_shard_degrees(reader, draft);
}

}  // namespace sextant::emit::torchtitan
