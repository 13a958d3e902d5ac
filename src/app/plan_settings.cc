#include "app/plan_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/dialects.h"

namespace sextant::app {
namespace {

bool is_command_line(emit::Dialect dialect) {
  return dialect == emit::Dialect::kMegatron;
}

// A flag of a command line, or a key of a file.
std::string named(emit::Dialect dialect, std::string key) {
  if (is_command_line(dialect)) {
    std::ranges::replace(key, '_', '-');
    return std::string(2, '-') + key;
  }
  return key;
}

std::string written(emit::Dialect dialect, const emit::Setting& setting) {
  const std::string name = named(dialect, setting.key);
  const std::string value = join(setting.values, " ");
  if (!is_command_line(dialect)) {
    return fmt::format("{}: {}", name, value);
  }
  return value == "true"    ? name
         : value == "false" ? "without " + name
                            : fmt::format("{} {}", name, value);
}

std::string changed_settings(emit::Dialect dialect, const describe::Job& from,
                             const describe::Job& to) {
  const std::vector<emit::Setting> before = emit::write(dialect, from).settings.given;
  const std::vector<emit::Setting> after = emit::write(dialect, to).settings.given;
  std::vector<std::string> words;
  for (const emit::Setting& setting : after) {
    const emit::Setting* old = emit::find(before, setting.key);
    if (old == nullptr || old->values != setting.values) {
      words.push_back(written(dialect, setting));
    }
  }
  for (const emit::Setting& setting : before) {
    if (emit::find(after, setting.key) == nullptr) {
      words.push_back("without " + named(dialect, setting.key));
    }
  }
  return join(words, ", ");
}

}  // namespace

std::vector<std::string> path_settings(const PlanProblem& of, const search::PlanPath& path) {
  std::vector<std::string> words;
  if (!of.dialect) {
    return words;
  }
  describe::Job before = of.problem.job;
  before.layout = path.start.layout;
  for (const search::PlanStep& step : path.steps) {
    describe::Job after = before;
    after.layout = step.layout;
    words.push_back(changed_settings(*of.dialect, before, after));
    before = std::move(after);
  }
  return words;
}

}  // namespace sextant::app
