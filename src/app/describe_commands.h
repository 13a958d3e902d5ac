// model, cluster and explain RULE: what is given, and what makes it legal.
#pragma once

#include <string_view>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/cluster_view.h"
#include "explain/list_view.h"
#include "explain/model_view.h"
#include "explain/rule_view.h"

namespace sextant::app {

Result<Answered<explain::ModelAnswer>> model(std::string_view word, const Context& context);
// Every name of the catalogue.
Result<Answered<explain::WordsAnswer>> list_models(const Context& context);
Result<Answered<explain::ClusterAnswer>> cluster(std::string_view word, const Context& context);
// Devices, systems and fabrics.
Result<Answered<explain::HardwareAnswer>> list_hardware(const Context& context);
// One rule of layouts or of diagnosis, or all of them where `id` is empty.
using RuleReply =
    std::variant<explain::RuleAnswer, explain::DiagnosisRuleAnswer, explain::RuleBookAnswer>;
Result<Answered<RuleReply>> explain_rule(std::string_view id, const Context& context);

// Words that may be completed: kind is models, devices, systems, fabrics, rules, layout-keys or
// frameworks.
Result<explain::WordsAnswer> complete_words(std::string_view kind, const Context& context);

}  // namespace sextant::app
