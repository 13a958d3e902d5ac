#include "base/result.h"

namespace sextant {

std::string to_text(const Error& error) {
  std::string text;
  if (!error.where.empty()) {
    text += error.where;
    text += ": ";
  }
  text += error.what;
  if (!error.allowed.empty()) {
    text += " (allowed: ";
    text += error.allowed;
    text += ")";
  }
  return text;
}

}  // namespace sextant
