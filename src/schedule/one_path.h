// Paths through 1F1B tables that one rank dominates: what closed_form.h is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "schedule/simulate.h"

namespace sextant::schedule {

// Costs by stage, with blocking transfers folded into the stage that sends: exactly what blocking
// means, so that only overlapped transfers are left.
class StageView {
 public:
  explicit StageView(const PipelineCosts& costs)
      : costs_(costs), blocking_(costs.transfers == TransferMode::kBlocking) {}

  [[nodiscard]] std::size_t stages() const { return costs_.stages.size(); }
  [[nodiscard]] Seconds forward(std::size_t stage) const {
    return costs_.stages[stage].forward +
           (blocking_ ? at(costs_.forward_transfer, stage) : Seconds());
  }
  [[nodiscard]] Seconds backward(std::size_t stage) const {
    return costs_.stages[stage].backward +
           (blocking_ && stage > 0 ? at(costs_.backward_transfer, stage - 1) : Seconds());
  }
  // Overlapped transfers between the stage and the one after it; nothing after the last.
  [[nodiscard]] Seconds down(std::size_t stage) const {
    return blocking_ ? Seconds() : at(costs_.forward_transfer, stage);
  }
  [[nodiscard]] Seconds up(std::size_t stage) const {
    return blocking_ ? Seconds() : at(costs_.backward_transfer, stage);
  }

 private:
  static Seconds at(std::span<const Seconds> transfers, std::size_t stage) {
    return stage < transfers.size() ? transfers[stage] : Seconds();
  }

  const PipelineCosts& costs_;
  bool blocking_ = false;
};

// One step along the path: fill + keeping to a stage + drain (closed_form.h), over all stages.
Seconds longest_one_f_one_b_path(const StageView& view, std::int64_t microbatches,
                                 std::vector<double>& scratch);

}  // namespace sextant::schedule
