// The change to a user's own files that makes their job another one, tried before it is offered.
#pragma once

#include "app/emit_command.h"

namespace sextant::app {

// The changed files are read again: devices, batch, length and every key that was not asked for are
// what they were, and the job is legal, or there is no patch and the answer says why (the outcome
// is no then).
Result<Answered<EmitReply>> patch_for(const EmitRequest& request, const Context& context);

}  // namespace sextant::app
