// What a plan is held against: other ways to choose, and the layouts that were left out.
#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/plan_parts.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

}  // namespace

std::string baselines_text(const PlanAnswer& answer, const Style& style) {
  if (answer.baselines.empty()) {
    return {};
  }
  Table table{{{"other ways to choose"},
               {"step", true},
               {"against the plan", true},
               {"calls", true},
               {"layout"}},
              {}};
  for (const PlanBaseline& one : answer.baselines) {
    const bool found = !one.words.empty();
    const bool both = found && !answer.plans.empty();
    table.rows.push_back(
        {one.name, found ? to_text(one.step) : "nothing",
         both ? fmt::format("{:.3g} x", one.step / answer.plans.front().result.step.step) : "",
         with_thousands(one.calls.total()), one.words});
  }
  return to_text(table, style);
}

std::string proof_text(const PlanAnswer& answer) {
  if (!answer.proof) {
    return {};
  }
  const search::Proof& proof = *answer.proof;
  const std::string what = proof.exhaustive
                               ? fmt::format("all {:.4g} layouts tried one by one", proof.checked)
                               : fmt::format("{:.4g} of {:.4g} layouts tried, drawn at random",
                                             proof.checked, proof.possible);
  return proof.better
             ? fmt::format("proof: {}: {} is faster: the search is wrong, please report it\n", what,
                           to_text(proof.better->time.step))
             : fmt::format("proof: {}: none is faster\n", what);
}

}  // namespace sextant::explain
