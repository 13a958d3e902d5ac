// Real profiles as summaries, read as `sextant diagnose` reads them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "metrics/summary.h"
#include "timeline/recording.h"

namespace sextant::tests {

timeline::Recording recording_of(const std::filesystem::path& profile);
metrics::Summary summary_of(const std::filesystem::path& profile,
                            std::optional<metrics::StepRange> steps = std::nullopt);
// Of the ranks' profiles in the folder whose names begin so; empty where there is no such folder.
std::vector<timeline::Recording> recordings_in(const std::filesystem::path& folder,
                                               const std::string& begin);

}  // namespace sextant::tests
