#include "app/self_commands.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"

namespace sextant::app {
namespace {

using explain::Check;

// Loads every entry of a folder: the first error, or how many there are.
template <typename Load>
Check check_all(std::string_view what, const std::vector<std::string>& ids, Load load) {
  for (const std::string& id : ids) {
    if (const auto entry = load(id); !entry) {
      return {std::string(what), false, to_text(entry.error())};
    }
  }
  return {std::string(what), !ids.empty(), fmt::format("{} read and checked", ids.size())};
}

std::vector<Check> data_checks(const describe::DataStore& data) {
  std::vector<Check> checks;
  checks.push_back(check_all("devices", data.list("devices", "toml"), [&](const std::string& id) {
    return describe::load_device(id, data);
  }));
  checks.push_back(check_all("systems", data.list("systems", "toml"), [&](const std::string& id) {
    return describe::load_system(id, data);
  }));
  checks.push_back(check_all("fabrics", data.list("fabrics", "toml"), [&](const std::string& id) {
    return describe::load_fabric(id, data);
  }));
  checks.push_back(check_all("models", describe::catalogue_names(data), [&](const std::string& id) {
    return describe::load_model(id, data);
  }));
  return checks;
}

}  // namespace

explain::ConfigAnswer show_config(const Context& context, bool with_origin) {
  explain::ConfigAnswer answer;
  answer.with_origin = with_origin;
  answer.provenance.tool_version = std::string(explain::tool_version());
  for (const SettingKey& key : setting_keys()) {
    const Setting& setting = context.settings.at(std::string(key.name));
    answer.settings.push_back({std::string(key.name), setting.value, setting.origin,
                               std::string(key.values), std::string(key.meaning)});
  }
  return answer;
}

Answered<explain::DoctorAnswer> doctor(const Context& context, const Surroundings& surroundings) {
  explain::DoctorAnswer answer;
  answer.provenance.tool_version = std::string(explain::tool_version());
  answer.checks = data_checks(context.data);
  answer.checks.push_back({"rules", !describe::rule_book().empty(),
                           fmt::format("{} rules", describe::rule_book().size())});
  const auto& folder = context.data.override_folder();
  answer.checks.push_back(
      {"data folder", true, folder ? "built in, under " + folder->string() : "built in"});
  for (const auto& [file, present] : settings_files(surroundings)) {
    answer.checks.push_back({"settings", true, file.string() + (present ? "" : " (not there)")});
  }
  bool all_well = true;
  for (const Check& check : answer.checks) {
    all_well = all_well && check.passed;
  }
  return {std::move(answer), all_well ? Outcome::kFine : Outcome::kNo};
}

}  // namespace sextant::app
