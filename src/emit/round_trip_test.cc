// Layout → files → layout, through the very files users get: the configuration file and the launch
// script of every dialect, for random jobs.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "emit/any_job_testing.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/launch.h"
#include "emit/round_trip_testing.h"

namespace sextant::emit {
namespace {

// The layout's keys among what was left out.
std::vector<std::string> layout_keys_of(const std::vector<Inexpressible>& left_out) {
  std::vector<std::string> keys;
  const auto known = describe::layout_keys();
  for (const Inexpressible& one : left_out) {
    if (std::any_of(known.begin(), known.end(),
                    [&one](const describe::LayoutKey& key) { return key.name == one.field; })) {
      keys.push_back(one.field);
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Settings read_files(const std::vector<File>& files) {
  Settings all;
  bool first = true;
  for (const File& file : files) {
    auto settings = parse(file.text, file.name);
    RC_ASSERT(settings.has_value());
    all = first ? std::move(*settings) : joined(std::move(all), *settings);
    first = false;
  }
  return all;
}

class RoundTrip : public testing::TestWithParam<Dialect> {};

TEST_P(RoundTrip, FilesReadBackToTheLayoutButWhatIsLeftOut) {
  const Dialect dialect = GetParam();
  const describe::DataStore data;
  constexpr int kJobs = 10;  // a hundred times
  const auto once = [&] {
    const Job job = any_job(framework_of(dialect));
    const Writing writing = write(dialect, job);
    std::vector<File> files = render(writing.settings, {"a comment"});
    const Launcher launcher = *rc::gen::element(Launcher::kTorchrun, Launcher::kSlurm);
    files.push_back(launch_script(writing, job, launcher, {"a comment"}));
    Settings settings = read_files(files);
    settings.dialect = dialect;
    const Reading reading = read(settings, data);
    std::vector<std::string> differing = differing_keys(job.layout, reading.layout);
    std::sort(differing.begin(), differing.end());
    RC_LOG() << files.back().text;
    RC_ASSERT(differing == layout_keys_of(writing.left_out));
  };
  EXPECT_TRUE(rc::check([&] {
    for (int i = 0; i < kJobs; ++i) {
      once();
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Dialects, RoundTrip,
                         testing::Values(Dialect::kMegatron, Dialect::kBridge, Dialect::kTorchtitan,
                                         Dialect::kTorchtitanToml, Dialect::kDeepspeed,
                                         Dialect::kMaxtext, Dialect::kAccelerate,
                                         Dialect::kNanotron),
                         [](const auto& named) {
                           std::string name(describe::word_of<Dialect>(kDialectWords, named.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sextant::emit
