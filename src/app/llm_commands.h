// The read-only use cases as commands of a language model that reasons beside «tune»: the rows of
// the one table that assistants have too (tool_table.h), but what writes.
#pragma once

#include <string>

#include "agents/llm_commands.h"
#include "app/context.h"
#include "app/use_case.h"

namespace sextant::app {

// `context` and `control` must outlive it. Asked by them, nothing is sent to anybody and nothing is
// written; which files may be read is for a fence to say (base/read_fence.h). `knows`: with the
// knowledge base, as the session has it or not.
agents::LlmCommands llm_commands(const Context& context, const Control& control,
                                 const std::string& author, bool knows);

}  // namespace sextant::app
