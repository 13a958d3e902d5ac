// One factor of a job, varied: which values, and the job at each of them.
//
// What is held beside it, so that points compare:
//   mbs        the microbatches of a replica: the global batch is dp · mbs · microbatches
//   seq        the global batch in sequences, so the tokens of a step grow
//   tp         the devices (dp is what is left) and the microbatches of a replica; sequence
//              parallelism as the framework sets it for that tp, unless the layout says
//   hidden     head size, ratio of feed-forward to hidden, layers (describe/model/scaled_model.h)
//   precision  formats of parameters, gradients and optimizer states
// A point that breaks rules is a value like any other: it is shown with its reasons.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "describe/layout/job.h"
#include "describe/words.h"

namespace sextant::describe {

enum class Factor : std::uint8_t { kMbs, kSeq, kTp, kHidden, kPrecision };
inline constexpr std::array<Word<Factor>, 5> kFactorWords{{{Factor::kMbs, "mbs"},
                                                           {Factor::kSeq, "seq"},
                                                           {Factor::kTp, "tp"},
                                                           {Factor::kHidden, "hidden"},
                                                           {Factor::kPrecision, "precision"}}};

using SweepValue = std::variant<std::int64_t, Precision>;

struct Sweep {
  Factor factor = Factor::kMbs;
  std::vector<SweepValue> values;  // one at least
};

inline constexpr std::size_t kMostSweepValues = 64;

// "mbs" (values that people try) or "tp=1,2,4". At most kMostSweepValues. Errors name ‹sweep› and
// what is allowed.
Result<Sweep> parse_sweep(std::string_view text);

// "8", "fp8".
std::string to_text(const SweepValue& value);

// The job with the factor at that value. `sp_given`: the layout says whether sequences are split.
// An Error where there is no such job: documents of stated lengths in a longer sequence, a model
// beyond check_size. The result may break rules. REQUIRES: `base` is legal.
Result<Job> job_at(const Job& base, Factor factor, const SweepValue& value, bool sp_given);

// What stays the same, in a sentence for the reader. REQUIRES: `base` is legal.
std::string held_text(const Job& base, Factor factor);

}  // namespace sextant::describe
