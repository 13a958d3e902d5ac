// A predicted step laid over a measured one, class by class: products by the part of a block they
// belong to (told by their sizes), attention, what streams through memory, loss, update, exposed
// communication by axis of the layout, waiting. Both are times of one device: of the slowest
// pipeline rank as predicted, of the mean of the recorded ranks as measured.
//
// Products whose sizes no part of the model has stand together, predicted ones that were not seen
// too: a framework may multiply queries, keys and values in one or in three.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/scene.h"
#include "step/step_answer.h"

namespace sextant::diagnose {

struct LaidRow {
  std::string what;  // "products: qkv", "attention"
  StepPart part = StepPart::kCompute;
  Seconds predicted;
  Seconds measured;
  std::string explained_by = {};  // the rule that speaks of this class, where one does
  [[nodiscard]] Seconds excess() const { return measured - predicted; }
};

struct LaidOver {
  Seconds predicted;  // the step
  Seconds measured;
  Seconds low;  // interval of the prediction
  Seconds high;
  std::vector<LaidRow> rows;  // largest measured first
};
LaidOver laid_over(const Scene& scene, const step::RecordedEstimate& prediction);

// Rule slower-than-predicted: of classes that take longer than predicted by more than the models'
// error. Those that a finding of another rule speaks of are explained by it.
Findings departure_findings(const Scene& scene, const LaidOver& laid,
                            const std::vector<Finding>& others);

}  // namespace sextant::diagnose
