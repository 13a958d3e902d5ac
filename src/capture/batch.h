// What Slurm would set for a batch script: by its header, and by what the user says it runs on.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/spool.h"

namespace sextant::capture {

// The words of its #SBATCH lines.
std::vector<std::string> batch_words(std::string_view script);

// The variables of such a job on its first node. `words`: of the header, then of the command line,
// which stand over it. What the user said of the nodes stands over both.
std::vector<std::pair<std::string, std::string>> batch_variables(
    const std::vector<std::string>& words, const Answers& answers);

// "n[0-2,7]" → n0, n1, n2, n7; at most 100,000 of them.
std::vector<std::string> host_names(std::string_view list);

}  // namespace sextant::capture
