// docs/planning.md: what planning gains over rules of thumb and over Alpa, and at what cost.
#pragma once

#include <filesystem>
#include <string>

#include "app/context.h"
#include "describe/layout/layout.h"

namespace sextant::bench {

// Sections of the page, as Markdown. Each says on standard error how far it is.
std::string rule_section(const app::Context& context);
std::string alpa_section(const app::Context& context);
// `truth`: the folder of measured tables.
std::string measured_section(const app::Context& context, const std::filesystem::path& truth);

// The layout without what all layouts of the page have.
std::string short_text(const describe::Layout& layout);

}  // namespace sextant::bench
