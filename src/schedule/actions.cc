#include "schedule/actions.h"

#include <fmt/format.h>

namespace sextant::schedule {

namespace {

char letter_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return 'F';
    case ActionKind::kBackward:
      return 'B';
    case ActionKind::kInputGradient:
      return 'I';
    case ActionKind::kWeightGradient:
      return 'W';
    case ActionKind::kReduceGradient:
      return 'R';
  }
  return '?';
}

}  // namespace

std::string to_text(const Action& action) {
  if (action.kind == ActionKind::kReduceGradient) {
    return fmt::format("{}R", action.stage);
  }
  return fmt::format("{}{}{}", action.stage, letter_of(action.kind), action.microbatch);
}

}  // namespace sextant::schedule
