// The first process of a sandbox: starts the script, watches over it, ends all of it, and hands the
// record out.
#pragma once

#include "capture/sandbox.h"

namespace sextant::capture {

// What goes through the pipe: a kind, the length of the rest as text, ':', the rest.
inline constexpr char kWhyNot = 'E';  // the sandbox cannot be made
inline constexpr char kEnded = 'S';   // "END CODE": how the script ended
inline constexpr char kOutput = 'O';  // the last of what it printed
inline constexpr char kCallId = 'I';  // a call's id; its bytes follow
inline constexpr char kCallBytes = 'B';
inline constexpr char kCut = 'C';  // there were more calls than are kept

// Does not return. REQUIRES: the first process of a pid namespace, in a mount namespace of its own.
[[noreturn]] void watch_sandbox(const SandboxRequest& request, int out);

}  // namespace sextant::capture
