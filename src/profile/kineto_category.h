// What an event of PyTorch's profiler is, by its category.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant::profile {

enum class KinetoRole : std::uint8_t {
  kKernel,      // work on a device's stream
  kCopy,        // a copy or set on a device's stream
  kDeviceMark,  // an annotation, drawn over a device's stream
  kCall,        // a call into the device's runtime or driver
  kOperator,    // an operator of the framework on the host
  kPython,      // a Python function
  kHostMark,    // an annotation of the host
  kOverhead,    // the profiler's own
  kSync,        // what waits for an event or a stream
  kLeftOut,     // the profiler's own window, counters
  kUnknown,
};

KinetoRole kineto_role(std::string_view category);
// Whether only PyTorch's profiler writes it: tells its profiles from other Chrome traces.
bool is_kineto_category(std::string_view category);

}  // namespace sextant::profile
