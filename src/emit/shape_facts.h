// The sizes of a model that files state one by one, as facts: layers, hidden, heads, kv_heads, ffn,
// experts, topk, vocab. A size that only follows from a name or a default is none.
#pragma once

#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

// Adds the facts that the dialect's reader did not state itself. A value that is no whole number is
// left to that reader.
void add_shape_facts(const Settings& settings, Reading& reading);

}  // namespace sextant::emit
