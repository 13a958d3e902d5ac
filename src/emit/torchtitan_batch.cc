// The batch.
//
// main: one forward of a data-parallel rank takes num_tokens_per_microbatch_per_dp_rank tokens, so
// mbs = that / max_context_length. A pipeline runs num_pp_microbatches of them at a time (1 without
// a pipeline), and this is repeated until num_tokens_per_train_step is reached:
//   tokens a step = tokens a microbatch · num_pp_microbatches · dp · accumulation steps,
// -1 meaning one accumulation step. A layout fills and drains its pipeline once a step, so with a
// pipeline all microbatches are pipeline microbatches, and without one all are accumulation steps.
//
// 0.2.2: a rank takes local_batch_size sequences at a time and repeats until global_batch_size
// (-1: once); a pipeline cuts the local batch into microbatches of
// pipeline_parallel_microbatch_size. So mbs is the local batch without a pipeline, the microbatch
// with one.
// Source: torchtitan b5bcd76c6, config/configs.py and trainer.py; 0.2.2, config/job_config.py and
// distributed/pipeline_parallel.py.
#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit::torchtitan {
namespace {

using describe::Job;
using describe::Layout;

constexpr std::int64_t kMostTokens = 1'000'000'000'000;
constexpr std::string_view kTokens = "training.num_tokens_per_microbatch_per_dp_rank";
constexpr std::string_view kStepTokens = "training.num_tokens_per_train_step";
constexpr std::string_view kContextLength = "training.max_context_length";
constexpr std::string_view kPipelineMicrobatches = "parallelism.num_pp_microbatches";
constexpr std::string_view kLocalBatch = "training.local_batch_size";
constexpr std::string_view kGlobalBatch = "training.global_batch_size";
constexpr std::string_view kSequenceLength = "training.seq_len";
constexpr std::string_view kPipelineMicrobatch = "parallelism.pipeline_parallel_microbatch_size";

// Defaults of the two editions' configuration classes.
constexpr std::int64_t kDefaultTokens = 16384;
constexpr std::int64_t kDefaultLength = 2048;
constexpr std::int64_t kDefaultLocalBatch = 8;

// Microbatches a replica, rounded up: torchtitan has no smaller last one.
std::int64_t microbatches_of(const Job& job) {
  const std::int64_t a_round =
      saturating_product({std::max<std::int64_t>(1, job.dp()), job.layout.mbs});
  return std::max<std::int64_t>(1, (job.global_batch + a_round - 1) / a_round);
}

void write_main(const Job& job, std::vector<Setting>& settings) {
  const std::int64_t length = job.sequences.length;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  const std::int64_t tokens = saturating_product({job.layout.mbs, length});
  const std::int64_t microbatches = microbatches_of(job);
  add(settings, kContextLength, length);
  add(settings, kTokens, tokens);
  add(settings, kStepTokens, saturating_product({tokens, dp, microbatches}));
  if (job.layout.pp > 1) {
    add(settings, kPipelineMicrobatches, microbatches);
  }
}

void write_old(const Job& job, std::vector<Setting>& settings) {
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  const std::int64_t microbatches = microbatches_of(job);
  const std::int64_t mbs = job.layout.mbs;
  add(settings, kSequenceLength, job.sequences.length);
  if (job.layout.pp > 1) {
    add(settings, kLocalBatch, saturating_product({mbs, microbatches}));
    add(settings, kPipelineMicrobatch, mbs);
  } else {
    add(settings, kLocalBatch, mbs);
  }
  add(settings, kGlobalBatch, saturating_product({mbs, microbatches, dp}));
}

// The pipeline is filled and drained `times` a step.
void say_drains(SettingReader& reader, std::string_view key, std::int64_t times) {
  if (times > 1) {
    reader.unresolved(key,
                      fmt::format("the pipeline is drained {} times a step; read as once", times));
  }
}

// Said by its own key, else it follows from what one rank takes.
void say_batch(SettingReader& reader, std::int64_t batch, std::string_view own,
               std::string_view of_rank) {
  if (reader.find(own) != nullptr) {
    reader.fact("gbs", std::to_string(batch), own);
  } else {
    reader.derived("gbs", std::to_string(batch), of_rank);
  }
}

void read_main(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  const std::int64_t length = reader.whole(kContextLength, 1, kMostTokens).value_or(kDefaultLength);
  const std::int64_t tokens = reader.whole(kTokens, 1, kMostTokens).value_or(kDefaultTokens);
  const std::int64_t together =
      at.pp > 1 ? reader.whole(kPipelineMicrobatches, 1, kMostTokens).value_or(1) : 1;
  draft.reading.sequence = length;
  reader.fact("seq", std::to_string(length), kContextLength);
  if (tokens % length != 0) {
    reader.unresolved(
        kTokens, fmt::format("{} tokens are no whole number of sequences of {}", tokens, length));
  }
  at.mbs = std::max<std::int64_t>(1, tokens / length);
  reader.fact("mbs", std::to_string(at.mbs), kTokens);
  const auto step = reader.whole(kStepTokens, -1, kMostTokens);
  const std::int64_t a_round = saturating_product({at.mbs, length, together, at.dp});
  if (step && *step > 0) {
    draft.reading.global_batch = *step / length;
    if (*step % length != 0 || (a_round > 0 && *step % a_round != 0)) {
      reader.unresolved(kStepTokens,
                        "torchtitan refuses tokens that the microbatches of all ranks "
                        "do not divide");
    } else if (at.pp > 1 && a_round > 0) {
      say_drains(reader, kStepTokens, *step / a_round);
    }
  } else if (at.dp > 0) {
    draft.reading.global_batch = a_round / length;
  }
  if (draft.reading.global_batch) {
    say_batch(reader, *draft.reading.global_batch, kStepTokens, kTokens);
  }
}

void read_old(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  const std::int64_t length =
      reader.whole(kSequenceLength, 1, kMostTokens).value_or(kDefaultLength);
  const std::int64_t local = reader.whole(kLocalBatch, 1, kMostTokens).value_or(kDefaultLocalBatch);
  draft.reading.sequence = length;
  reader.fact("seq", std::to_string(length), kSequenceLength);
  at.mbs = at.pp > 1 ? reader.whole(kPipelineMicrobatch, 1, kMostTokens).value_or(1) : local;
  reader.fact("mbs", std::to_string(at.mbs), at.pp > 1 ? kPipelineMicrobatch : kLocalBatch);
  if (local % at.mbs != 0) {
    reader.unresolved(kLocalBatch, fmt::format("microbatches of {} do not divide it", at.mbs));
  }
  const auto global = reader.whole(kGlobalBatch, -1, kMostTokens);
  const std::int64_t a_round = saturating_product({local, at.dp});
  if (global && *global > 0) {
    draft.reading.global_batch = global;
    if (a_round > 0 && *global % a_round != 0) {
      reader.unresolved(kGlobalBatch, "the local batches of all ranks do not divide it");
    } else if (at.pp > 1 && a_round > 0) {
      say_drains(reader, kGlobalBatch, *global / a_round);
    }
  } else if (at.dp > 0) {
    draft.reading.global_batch = a_round;
  }
  if (draft.reading.global_batch) {
    say_batch(reader, *draft.reading.global_batch, kGlobalBatch, kLocalBatch);
  }
}

}  // namespace

void write_batch(const Job& job, Edition edition, std::vector<Setting>& settings) {
  edition == Edition::kMain ? write_main(job, settings) : write_old(job, settings);
}

void read_batch(SettingReader& reader, Draft& draft) {
  draft.edition == Edition::kMain ? read_main(reader, draft) : read_old(reader, draft);
}

}  // namespace sextant::emit::torchtitan
