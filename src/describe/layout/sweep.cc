#include "describe/layout/sweep.h"

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/model/parameters.h"
#include "describe/model/scaled_model.h"

namespace sextant::describe {
namespace {

// The largest value of a factor: what the layout's and the sequence's own readers take.
std::int64_t most_of(Factor factor) {
  constexpr std::int64_t kMostRanks = 10'000'000;
  constexpr std::int64_t kLongestSequence = 1'000'000'000;
  constexpr std::int64_t kWidest = 1'000'000;
  return factor == Factor::kSeq      ? kLongestSequence
         : factor == Factor::kHidden ? kWidest
                                     : kMostRanks;
}

std::string_view default_factor_values(Factor factor) {
  switch (factor) {
    case Factor::kMbs:
      return "1,2,4,8,16,32";
    case Factor::kSeq:
      return "1024,2048,4096,8192,16384,32768,65536,131072";
    case Factor::kTp:
      return "1,2,4,8";
    case Factor::kHidden:
      return "1024,2048,4096,8192,16384";
    case Factor::kPrecision:
      break;
  }
  return "bf16,fp8,mxfp8,nvfp4,fp32,tf32";
}

Result<SweepValue> parse_value(Factor factor, std::string_view text) {
  if (factor == Factor::kPrecision) {
    SEXTANT_TRY(const Precision precision,
                parse_word<Precision>(kPrecisionWords, text, "precision", "‹sweep›"));
    return precision;
  }
  const auto number = to_integer(text);
  if (!number || *number < 1 || *number > most_of(factor)) {
    return invalid(fmt::format("'{}' is not a value of {}", printable(text),
                               word_of<Factor>(kFactorWords, factor)),
                   "‹sweep›", fmt::format("whole numbers from 1 to {}", most_of(factor)));
  }
  return *number;
}

// As many microbatches as the base has.
void keep_microbatches(const Job& base, Job& job) {
  if (job.dp() > 0) {
    job.global_batch = saturating_product({job.dp(), job.layout.mbs, base.microbatches()});
  }
}

void set_tp(std::int64_t tp, bool sp_given, Job& job) {
  job.layout.tp = tp;
  if (sp_given) {
    return;
  }
  job.layout.sp = false;
  std::vector<std::string> others;
  for (const LayoutKey& key : layout_keys()) {
    if (key.name != "sp") {
      others.emplace_back(key.name);
    }
  }
  fill_defaults(job.layout, others, job.framework);
}

Result<void> set_length(std::int64_t length, Job& job) {
  if (!job.sequences.lengths.empty()) {
    return invalid("documents of stated lengths do not follow the sequence's", "‹sweep›",
                   "‹seq› TOKENS or packed:TOKENS");
  }
  job.sequences.length = length;
  return {};
}

}  // namespace

Result<Sweep> parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  Sweep sweep;
  SEXTANT_TRY(sweep.factor,
              parse_word<Factor>(kFactorWords, text.substr(0, equals), "factor", "‹sweep›"));
  const std::string_view list = equals == std::string_view::npos
                                    ? default_factor_values(sweep.factor)
                                    : text.substr(equals + 1);
  for (const std::string_view word : split(list, ',')) {
    SEXTANT_TRY(SweepValue value, parse_value(sweep.factor, trimmed(word)));
    sweep.values.push_back(value);
    if (sweep.values.size() > kMostSweepValues) {
      return invalid("the list is too long", "‹sweep›", fmt::format("{} values", kMostSweepValues));
    }
  }
  return sweep;
}

std::string to_text(const SweepValue& value) {
  if (const auto* precision = std::get_if<Precision>(&value)) {
    return std::string(word_of<Precision>(kPrecisionWords, *precision));
  }
  return std::to_string(std::get<std::int64_t>(value));
}

Result<Job> job_at(const Job& base, Factor factor, const SweepValue& value, bool sp_given) {
  Job job = base;
  const auto* number = std::get_if<std::int64_t>(&value);
  const std::int64_t whole = number != nullptr ? *number : 1;
  switch (factor) {
    case Factor::kMbs:
      job.layout.mbs = whole;
      keep_microbatches(base, job);
      break;
    case Factor::kSeq:
      SEXTANT_CHECK_OK(set_length(whole, job));
      break;
    case Factor::kTp:
      set_tp(whole, sp_given, job);
      keep_microbatches(base, job);
      break;
    case Factor::kHidden:
      job.model = with_hidden(std::move(job.model), whole);
      SEXTANT_CHECK_OK(check_size(job.model));
      break;
    case Factor::kPrecision:
      if (const auto* precision = std::get_if<Precision>(&value)) {
        job.layout.precision = *precision;
      }
      break;
  }
  return job;
}

std::string held_text(const Job& base, Factor factor) {
  const std::int64_t microbatches = base.microbatches();
  const std::string kept =
      fmt::format("{} microbatch{}", microbatches, microbatches == 1 ? "" : "es");
  switch (factor) {
    case Factor::kMbs:
      return fmt::format("the global batch grows with it, {} a replica", kept);
    case Factor::kSeq:
      return fmt::format("the global batch stays at {} sequence{}, its tokens grow",
                         base.global_batch, base.global_batch == 1 ? "" : "s");
    case Factor::kTp:
      return fmt::format("{} devices stay, dp is what is left, the batch follows it: {} a replica",
                         base.cluster.devices, kept);
    case Factor::kHidden:
      return fmt::format(
          "head size, ratio of feed-forward to hidden and {} layers stay, heads follow",
          base.model.layer_count());
    case Factor::kPrecision:
      break;
  }
  return "formats of parameters, gradients and states stay, each against its own peak";
}

}  // namespace sextant::describe
