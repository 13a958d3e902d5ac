// Exit codes of the command line (docs/interface.md).
#pragma once

#include "app/answered.h"

namespace sextant::front {

inline constexpr int kExitFine = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitExternal = 3;
inline constexpr int kExitInterrupted = 130;

constexpr int exit_code_of(app::Outcome outcome) {
  switch (outcome) {
    case app::Outcome::kFine:
      return kExitFine;
    case app::Outcome::kNo:
      return kExitNo;
    case app::Outcome::kInterrupted:
      return kExitInterrupted;
  }
  return kExitExternal;
}

}  // namespace sextant::front
