#include "step/quantity.h"

#include <algorithm>
#include <cmath>

namespace sextant::step {

double value_of(Quantity quantity, const Estimate& estimate, bool fits) {
  const StepTerms& terms = estimate.step;
  switch (quantity) {
    case Quantity::kStep:
      return terms.step.base();
    case Quantity::kTokenTime:
      return terms.step.base() * static_cast<double>(estimate.devices) / estimate.tokens;
    case Quantity::kMemory:
      return estimate.memory.fullest.device.base();
    case Quantity::kFits:
      return fits ? 1.0 : 0.0;
    case Quantity::kCommunication:
      return terms.exposed.total().base();
    case Quantity::kTensorComm:
      return terms.exposed[Axis::kTensor].base();
    case Quantity::kContextComm:
      return terms.exposed[Axis::kContext].base();
    case Quantity::kExpertComm:
      return terms.exposed[Axis::kExpert].base();
    case Quantity::kDataComm:
      return terms.exposed[Axis::kData].base();
    case Quantity::kPipelineComm:
      return terms.exposed[Axis::kPipeline].base();
    case Quantity::kBubble:
      return terms.bubble.base();
    case Quantity::kBubbleShare:
      return terms.bubble / terms.step;
    case Quantity::kCompute:
      return terms.compute.base();
    case Quantity::kHost:
      return terms.host.base();
    case Quantity::kUpdate:
      return terms.update.base();
  }
  return 0.0;
}

bool asks_for_time(Quantity quantity) {
  return quantity != Quantity::kMemory && quantity != Quantity::kFits;
}

Direction direction_of(double before, double after) {
  const double least = kSameShare * std::max(std::abs(before), std::abs(after));
  if (std::abs(after - before) <= least) {
    return Direction::kSame;
  }
  return after < before ? Direction::kLower : Direction::kHigher;
}

Direction opposite_of(Direction direction) {
  return direction == Direction::kLower    ? Direction::kHigher
         : direction == Direction::kHigher ? Direction::kLower
                                           : Direction::kSame;
}

}  // namespace sextant::step
