// What one rank computes in a step: its phases, where the time goes, how well that uses the device.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cost/compute/rank_detail.h"
#include "describe/layout/job.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "explain/term_tree.h"

namespace sextant::explain {

// Of the slowest pipeline rank.
struct Estimate {
  cost::RankDetail rank;
  cost::TimeParts parts;
  cost::Utilisation use;
};

struct EstimateAnswer {
  Provenance provenance;
  describe::Job job;
  Estimate estimate;
  std::vector<std::string> assumed;  // the job's, and about kernels and host
};

std::string to_text(const EstimateAnswer& answer, const Style& style);

// The step's time: phase, operator, term. The parts of every term add up to it.
Term compute_tree(const EstimateAnswer& answer);

// What no number of an estimate contains, for the last line of every answer.
std::string_view left_out_of_estimates();

// A name and a number of TimeParts, in the order they are shown.
struct NamedPart {
  std::string_view name;
  Seconds cost::TimeParts::* part;
};
inline constexpr std::array<NamedPart, 5> kTimeParts{{{"products", &cost::TimeParts::products},
                                                      {"attention", &cost::TimeParts::attention},
                                                      {"streams", &cost::TimeParts::streams},
                                                      {"launches", &cost::TimeParts::launches},
                                                      {"waiting", &cost::TimeParts::waiting}}};

// "device", "host" or "both".
std::string_view bound_word(cost::Bound bound);

// "fc1 gemm": part and kind, once where they are the same word.
std::string operator_name(const workload::Operator& op);

}  // namespace sextant::explain
