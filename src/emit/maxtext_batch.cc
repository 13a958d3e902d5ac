// Sequence, batch and pipeline. Sizes that the file leaves open are those of base.yml.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/maxtext_parts.h"

namespace sextant::emit::maxtext {
namespace {

constexpr std::int64_t kMostCount = 10'000'000;
constexpr std::string_view kLength = "max_target_length";
constexpr std::string_view kPerDevice = "per_device_batch_size";
constexpr std::string_view kMaxtextAccumulation = "gradient_accumulation_steps";
constexpr std::string_view kMicrobatches = "num_pipeline_microbatches";
constexpr std::string_view kRepeats = "num_pipeline_repeats";
constexpr std::string_view kStageLayers = "num_layers_per_pipeline_stage";
constexpr std::string_view kPipelined = "pipeline_parallel_layers";

// base.yml's own values.
constexpr std::int64_t kSilentLength = 2048;
constexpr double kSilentPerDevice = 12.0;

// The sequences that MaxText makes of it: Python's int(devices * size).
std::int64_t sequences(std::int64_t devices, double per_device) {
  return static_cast<std::int64_t>(as_double(devices) * per_device);
}

// The least number that gives back exactly so many sequences.
std::string per_device_text(std::int64_t devices, std::int64_t wanted) {
  double size = as_double(wanted) / as_double(devices);
  while (sequences(devices, size) < wanted) {
    size = std::nextafter(size, 2.0 * size + 1.0);
  }
  return fmt::format("{}", size);
}

// Microbatches of a pipeline are a multiple of its stages that divides the replica's batch: the
// job's own, or the next above it, or none (0).
std::int64_t pipeline_microbatches(const describe::Job& job) {
  const std::int64_t pp = job.layout.pp;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  const std::int64_t batch = job.global_batch / dp;
  for (std::int64_t count = round_up(std::max<std::int64_t>(1, job.microbatches()), pp);
       count <= batch; count += pp) {
    if (batch % count == 0) {
      return count;
    }
  }
  return 0;
}

std::int64_t read_repeats(SettingReader& reader, const describe::Layout& at,
                          std::optional<std::int64_t> layers) {
  const auto repeats = reader.whole(kRepeats, -1, kMostCount);
  if (repeats && *repeats > 0) {
    reader.fact("vpp", std::to_string(*repeats), kRepeats);
    return *repeats;
  }
  const std::int64_t stage = reader.whole(kStageLayers, 1, kMostCount).value_or(1);
  const std::int64_t pass = saturating_product({stage, at.pp});
  const auto pipelined = reader.whole(kPipelined, -1, kMostCount);
  const auto count = pipelined && *pipelined > 0 ? pipelined : layers;
  if (!count || *count % pass != 0) {
    reader.unresolved(
        kStageLayers,
        count ? fmt::format("{} stages of {} layers do not divide {} layers", at.pp, stage, *count)
              : "how often the pipeline repeats follows from the model's layers, which "
                "are not known; read as once");
    return 1;
  }
  reader.fact("vpp", std::to_string(*count / pass), kStageLayers);
  return *count / pass;
}

void read_pipeline(SettingReader& reader, describe::Layout& at,
                   std::optional<std::int64_t> layers) {
  if (at.pp == 1) {
    return;
  }
  at.vpp = read_repeats(reader, at, layers);
  at.schedule = at.vpp > 1 ? describe::Schedule::kLoopedBfs : describe::Schedule::kGpipe;
  const auto pipelined = reader.whole(kPipelined, -1, kMostCount);
  if (pipelined && *pipelined > 0 && layers && *pipelined != *layers) {
    reader.unresolved(kPipelined, "the layers outside the pipeline are taken to be inside");
  }
}

}  // namespace

void write_batch(const describe::Job& job, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  const std::int64_t devices = std::max<std::int64_t>(1, job.cluster.devices);
  out.whole(kLength, job.sequences.length);
  const std::int64_t steps =
      at.pp > 1 || job.microbatches() < 1 || job.global_batch % job.microbatches() != 0
          ? 1
          : job.microbatches();
  out.text(kPerDevice, per_device_text(devices, job.global_batch / steps));
  out.whole(kMaxtextAccumulation, steps);
  if (at.pp == 1) {
    return;
  }
  const std::int64_t stages = std::max<std::int64_t>(1, at.stages());
  out.whole(kStageLayers, std::max<std::int64_t>(1, job.model.layer_count() / stages));
  out.whole(kRepeats, at.vpp);
  const std::int64_t count = pipeline_microbatches(job);
  out.whole(kMicrobatches, count > 0 ? count : at.pp);
}

void read_batch(SettingReader& reader, Reading& reading, std::optional<std::int64_t> layers) {
  describe::Layout& at = reading.layout;
  read_pipeline(reader, at, layers);
  reading.sequence = reader.whole(kLength, 1, kLongestSequence).value_or(kSilentLength);
  reader.fact("seq", std::to_string(*reading.sequence), kLength);
  const std::string said = reader.text(kPerDevice).value_or("");
  const auto number = to_double(said);
  if (!said.empty() && (!number || *number <= 0.0 || *number > as_double(kMostCount))) {
    reader.unresolved(kPerDevice, "not a positive number");
    return;
  }
  const double per_device = number.value_or(kSilentPerDevice);
  const std::int64_t steps = reader.whole(kMaxtextAccumulation, 1, kMostCount).value_or(1);
  const auto asked = reader.whole(kMicrobatches, -1, kMostCount);
  std::int64_t parts = asked && *asked > 0 ? *asked : at.pp;
  parts = at.pp > 1 ? parts : 1;
  // One replica's ranks stand for the job where its devices are not known.
  const std::int64_t replica = saturating_product({at.tp, at.cp, at.pp});
  const std::int64_t replicas = std::max<std::int64_t>(1, at.dp);
  const std::int64_t ranks = reading.devices && at.dp > 0 ? *reading.devices : replica;
  const std::int64_t batch = sequences(ranks, per_device);
  if (reading.devices && at.dp > 0) {
    reading.global_batch = saturating_product({batch, steps});
    reader.derived("gbs", std::to_string(*reading.global_batch), kPerDevice);
  }
  const std::int64_t share = saturating_product({replicas, parts});
  if (batch < 1 || batch % share != 0) {
    reader.unresolved(
        kPerDevice, fmt::format("{} sequences do not divide among {} microbatches", batch, share));
    return;
  }
  at.mbs = batch / share;
  reader.derived("mbs", std::to_string(at.mbs), kPerDevice);
}

}  // namespace sextant::emit::maxtext
