// Programs that a captured script meets stand-ins for, and what each does instead.
#pragma once

#include <span>
#include <string_view>

namespace sextant::capture {

enum class StandInKind {
  kTraining,  // records how it was called; nothing is started
  kPython,    // the same; what a line of code alone would print is a question
  kLauncher,  // records its options, then starts what it was to launch, once
  kWrapper,   // starts what it was to wrap (numactl, nsys)
  kBatch,     // runs the script it was given, as the scheduler would
  kDevices,   // says how many devices there are, and which
  kNodes,     // says which nodes there are
  kNetwork,   // would leave the machine, or change what is installed: records, says nothing
  kIdle,      // does nothing (sleep)
};

struct StandIn {
  std::string_view name;
  StandInKind kind = StandInKind::kTraining;
};

std::span<const StandIn> stand_ins();

// Of a program as it is called ("/usr/bin/python3.11": python); nothing where there is none.
const StandIn* stand_in_of(std::string_view program);

}  // namespace sextant::capture
