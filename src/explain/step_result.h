// A step's estimate in words: what `estimate`, `compare` and sweeps show.
#pragma once

#include <string>

#include "base/units.h"
#include "step/step_answer.h"

namespace sextant::explain {

// "stage 3 (layers 60-79, head)": what the slowest pipeline rank runs.
std::string slowest_stages(const step::Estimate& result);
// "2.31 s (1.9 s … 2.7 s)"; the time alone where nothing is known of the interval.
std::string with_interval(const step::Estimate& result);
// "12.3 % of the step (tp 9.1 %, dp 3.2 %)", "none".
std::string overhead_text(const step::Estimate& result);
// "fits: pipeline rank 0 needs 61 GiB of 79 GiB", "does not fit: …", "tight: …".
std::string memory_text(const step::StepMemory& memory);
// "in 7 of 10 such cases", "in 97 of 100 such cases", "in nearly all such cases".
std::string odds_text(double odds);
// "safe with recompute=full (needs 50 GiB, step 1.2 s)", the cheapest first and alone; "" where
// nothing has to be done, or nothing alone helps.
std::string safer_text(const step::StepMemory& memory);
// Both.
std::string fit_text(const step::StepMemory& memory);

// "1.83 tokens/J, 612 W a device"; "not known: …" where it is not.
std::string energy_text(const step::Estimate& result);

std::string rate_text(Hertz tokens);  // four digits, never with an exponent: "831.9", "12574"

}  // namespace sextant::explain
