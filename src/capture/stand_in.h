// The program as a stand-in: called by another's name, inside the sandbox that a capture made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/spool.h"

namespace sextant::capture {

// Is this process called by a stand-in's name, where a capture is under way?
bool is_stand_in_call(std::string_view program);

// Records the call and answers as the program would, or starts what it was to launch. The exit
// code.
int stand_in_call(const std::vector<std::string>& words);

// What nvidia-smi would print.
std::string device_tool_text(std::span<const std::string> words, const Answers& answers);
// Which word is the program that a launcher would start; the end where there is none.
// `any_program`: one of PATH too, else a stand-in, a shell or a file alone.
std::size_t launched_word(std::span<const std::string> words, bool any_program);

}  // namespace sextant::capture
