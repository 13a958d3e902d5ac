#include "profile_testing.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/data_store.h"
#include "profile/read.h"

namespace sextant::tests {
namespace {

profile::ReadOptions read_options() {
  const describe::DataStore data;
  auto text = data.read("profile/names.csv");
  EXPECT_TRUE(text) << to_text(text.error());
  auto names = profile::RecognitionTable::parse(*text, data.where("profile/names.csv"));
  EXPECT_TRUE(names) << to_text(names.error());
  profile::ReadOptions options;
  options.names = *std::move(names);
  return options;
}

}  // namespace

timeline::Recording recording_of(const std::filesystem::path& profile) {
  auto recording = profile::read_profile(profile, read_options());
  EXPECT_TRUE(recording) << to_text(recording.error());
  return recording ? *std::move(recording) : timeline::Recording();
}

metrics::Summary summary_of(const std::filesystem::path& profile,
                            std::optional<metrics::StepRange> steps) {
  return metrics::summarize(recording_of(profile), {.steps = steps});
}

std::vector<timeline::Recording> recordings_in(const std::filesystem::path& folder,
                                               const std::string& begin) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(begin)) {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  std::vector<timeline::Recording> recordings;
  for (const std::filesystem::path& file : files) {
    recordings.push_back(recording_of(file));
  }
  return recordings;
}

}  // namespace sextant::tests
