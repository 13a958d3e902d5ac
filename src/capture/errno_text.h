// What the kernel said of the call that failed last.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace sextant::capture {

inline std::string errno_text() {
  return std::error_code(errno, std::generic_category()).message();
}

}  // namespace sextant::capture
