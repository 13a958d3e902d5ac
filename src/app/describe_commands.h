// model, cluster and explain RULE: what is given, and what makes it legal.
#pragma once

#include <string_view>

#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

Result<Output> show_model(std::string_view word, const Context& context);
// Every name of the catalogue, a line each.
Result<Output> list_models(const Context& context);
Result<Output> show_cluster(std::string_view word, const Context& context);
// Devices, systems and fabrics, a line each.
Result<Output> list_hardware(const Context& context);
// One rule, or all of them where `id` is empty.
Result<Output> explain_rule(std::string_view id, const Context& context);

// Words a shell may complete: kind is models, devices, systems, fabrics, rules, layout-keys or
// frameworks.
Result<Output> complete_words(std::string_view kind, const Context& context);

}  // namespace sextant::app
