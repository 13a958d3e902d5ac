// docs/planning.md: what planning gains over rules of thumb, over published recipes and over Alpa,
// and at what cost.
#pragma once

#include <filesystem>
#include <string>

#include "app/context.h"
#include "describe/layout/layout.h"
#include "step/estimate.h"

namespace sextant::bench {

// Sections of the page, as Markdown. Each says on standard error how far it is.
// `truth`: the folder of measured tables.
std::string rule_section(const app::Context& context);
std::string measured_section(const app::Context& context, const std::filesystem::path& truth);
std::string recipes_section(const app::Context& context, const std::filesystem::path& truth);
std::string alpa_section(const app::Context& context);

// The layout without what all layouts of the page have.
std::string short_text(const describe::Layout& layout);

// What the second step has more (+) or less (−) of than the first, in ms: terms of at least a
// hundredth of the difference, the largest four. "–" where there is none.
std::string terms_apart(const step::StepTerms& from, const step::StepTerms& to);

}  // namespace sextant::bench
