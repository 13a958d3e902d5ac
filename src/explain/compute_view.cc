#include "explain/compute_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/percent.h"
#include "explain/step_result.h"
#include "explain/text_table.h"
#include "explain/work_view.h"

namespace sextant::explain {
namespace {

using cost::OperatorTime;
using cost::PhaseTime;
using cost::RankDetail;
using sextant::to_text;

constexpr std::size_t kShownOperators = 5;

Table phases_table(const RankDetail& rank) {
  Table table{
      {{"phase"}, {"times", true}, {"device", true}, {"host", true}, {"bound"}, {"kernels", true}},
      {}};
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    const PhaseTime& time = rank.phase(phase);
    table.rows.push_back({std::string(word), fmt::format("{:.0f}", rank.times(phase)),
                          to_text(time.device), to_text(time.host),
                          std::string(bound_word(cost::bound_of(time))),
                          fmt::format("{:.0f}", time.kernels)});
  }
  return table;
}

Table parts_table(const step::ComputeEstimate& estimate) {
  Table table{{{"of the rank's compute"}, {"time", true}, {"share", true}}, {}};
  for (const NamedPart& named : kTimeParts) {
    const Seconds part = estimate.parts.*named.part;
    table.rows.push_back(
        {std::string(named.name), to_text(part), percent(part / estimate.rank.step)});
  }
  return table;
}

Table operators_table(const RankDetail& rank) {
  Table table{{{"longest operators"},
               {"pass"},
               {"count", true},
               {"shape"},
               {"format"},
               {"time", true},
               {"share", true}},
              {}};
  for (const RankedOperator& row : longest_operators(rank)) {
    table.rows.push_back({operator_name(row.one->op), std::string(pass_word(row.one->op)),
                          fmt::format("{:.6g}", row.times), shape_text(row.one->op),
                          std::string(format_word(row.one->op.dtype)), to_text(row.time),
                          percent(row.time / rank.step)});
  }
  return table;
}

}  // namespace

std::vector<RankedOperator> longest_operators(const RankDetail& rank) {
  std::vector<RankedOperator> all;
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    for (const OperatorTime& one : rank.operators[static_cast<std::size_t>(phase)]) {
      all.push_back(
          {&one, one.total() * rank.times(phase), one.times * rank.times(phase), all.size()});
    }
  }
  std::sort(all.begin(), all.end(), [](const RankedOperator& a, const RankedOperator& b) {
    return a.time > b.time || (a.time == b.time && a.place < b.place);
  });
  all.resize(std::min(all.size(), kShownOperators));
  return all;
}

std::string_view bound_word(cost::Bound bound) {
  return describe::word_of<cost::Bound>(cost::kBoundWords, bound);
}
std::string_view part_word(const workload::Operator& op) {
  return describe::word_of<workload::Part>(workload::kPartWords, op.part);
}
std::string_view kind_word(const workload::Operator& op) {
  return describe::word_of<workload::OpKind>(workload::kOpKindWords, op.kind);
}
std::string_view pass_word(const workload::Operator& op) {
  return describe::word_of<workload::Pass>(workload::kPassWords, op.pass);
}
std::string_view format_word(describe::DType dtype) {
  return describe::word_of<describe::DType>(describe::kDTypeWords, dtype);
}

std::string operator_name(const workload::Operator& op) {
  const std::string_view part = part_word(op);
  const std::string_view kind = kind_word(op);
  return part == kind ? std::string(part) : fmt::format("{} {}", part, kind);
}

std::string to_text(const step::ComputeEstimate& estimate, const Style& style) {
  const RankDetail& rank = estimate.rank;
  std::string text =
      fmt::format("{}: pipeline rank {} computes {} a step, bound by {}\n", bold("compute", style),
                  rank.pipeline_rank, to_text(rank.step),
                  cost::bound_of(rank) == cost::Bound::kBoth ? "device and host"
                                                             : bound_word(cost::bound_of(rank)));
  text += to_text(phases_table(rank), style);
  text += "\n" + to_text(parts_table(estimate), style);
  return text + "\n" + to_text(operators_table(rank), style);
}

}  // namespace sextant::explain
