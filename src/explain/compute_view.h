// What one rank computes in a step, communication apart: its phases, where the time goes, which
// operators take longest.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cost/compute/rank_detail.h"
#include "explain/style.h"
#include "explain/term_tree.h"
#include "step/step_answer.h"

namespace sextant::explain {

// Tables of phases, parts and the longest operators.
std::string to_text(const step::ComputeEstimate& estimate, const Style& style);

// The rank's compute: phase, operator, term. The parts of every term add up to it.
Term compute_tree(const step::ComputeEstimate& estimate);
// One operator with its terms, `repeats` times.
Term operator_term(const cost::OperatorTime& one, double repeats);
// A term of seconds without parts.
Term seconds_term(std::string name, Seconds time, std::string formula = {});
// Adds a part unless it takes nothing.
void add_part(Term part, Term& term);
// Equals in the order of the step.
std::vector<const cost::OperatorTime*> longest_first(
    const std::vector<cost::OperatorTime>& operators);

// An operator with what it takes in a whole step.
struct RankedOperator {
  const cost::OperatorTime* one = nullptr;
  Seconds time;
  double times = 0.0;
  std::size_t place = 0;  // in the order of the step: which of equals comes first
};
// The five that take longest.
std::vector<RankedOperator> longest_operators(const cost::RankDetail& rank);

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
std::string_view part_word(const workload::Operator& op);
std::string_view kind_word(const workload::Operator& op);
std::string_view pass_word(const workload::Operator& op);
std::string_view format_word(describe::DType dtype);

// "fc1 gemm": part and kind, once where they are the same word.
std::string operator_name(const workload::Operator& op);

}  // namespace sextant::explain
