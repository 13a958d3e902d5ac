#include "app/settings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "describe/toml_table.h"
#include "describe/words.h"

namespace sextant::app {
namespace {

constexpr std::array kKeys{
    SettingKey{"output", "table", "table, json, md, csv, github, sarif", "format of answers"},
    SettingKey{"color", "auto", "auto, always, never", "colour on terminals"},
    SettingKey{"data", "", "a folder laid out like data/",
               "files that replace or add to the built-in data"},
    SettingKey{"framework", "auto",
               "auto, megatron-core, megatron-deepspeed, torchtitan, fsdp1, deepspeed, maxtext, "
               "accelerate, "
               "nanotron, other",
               "who runs a layout (auto: maxtext on TPUs, else megatron-core)"},
    SettingKey{"kb", "", "a file", "the knowledge base (else sextant/kb.sqlite in XDG_DATA_HOME)"},
};

constexpr Bytes kMostSettings = 256_KiB;

Result<void> check_setting(const SettingKey& key, const Setting& setting) {
  if (key.name == "data" || key.name == "kb") {
    return {};
  }
  std::vector<std::string> allowed;
  for (const std::string_view word : split(key.values, ',')) {
    allowed.emplace_back(trimmed(word));
    if (allowed.back() == setting.value) {
      return {};
    }
  }
  return describe::unknown_word(setting.value, std::move(allowed), key.name, setting.origin);
}

std::string variable_name(std::string_view key) {
  std::string name = "SEXTANT_";
  for (const char c : key) {
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

std::filesystem::path project_file(const std::filesystem::path& start) {
  std::error_code ignored;
  for (std::filesystem::path folder = start;; folder = folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / "sextant.toml", ignored)) {
      return folder / "sextant.toml";
    }
    if (folder == folder.parent_path()) {
      return start / "sextant.toml";
    }
  }
}

std::filesystem::path user_file(const Surroundings& surroundings) {
  if (const auto folder = surroundings.variable("XDG_CONFIG_HOME"); folder && !folder->empty()) {
    return std::filesystem::path(*folder) / "sextant" / "config.toml";
  }
  const auto home = surroundings.variable("HOME");
  return std::filesystem::path(home.value_or("")) / ".config" / "sextant" / "config.toml";
}

Result<void> read_settings_file(const std::filesystem::path& file, Settings& settings) {
  SEXTANT_TRY(const std::string text, read_text(file, kMostSettings));
  SEXTANT_TRY(const describe::TomlTable table, describe::TomlTable::parse(text, file.string()));
  std::vector<std::string_view> names;
  for (const SettingKey& key : kKeys) {
    names.push_back(key.name);
  }
  SEXTANT_CHECK_OK(table.only(names));
  for (const std::string& key : table.keys()) {
    SEXTANT_TRY(std::string value, table.text(key));
    settings[key] = {std::move(value), table.where(key)};
  }
  return {};
}

}  // namespace

std::span<const SettingKey> setting_keys() {
  return kKeys;
}

bool is_setting(std::string_view name) {
  return std::ranges::find(kKeys, name, &SettingKey::name) != kKeys.end();
}

Surroundings Surroundings::of_process() {
  Surroundings surroundings;
  surroundings.variable = [](const std::string& name) -> std::optional<std::string> {
    // Read once at start, before any thread exists.
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  surroundings.now = [] {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  };
  std::error_code ignored;
  surroundings.working_folder = std::filesystem::current_path(ignored);
  return surroundings;
}

std::filesystem::path user_data_folder(const Surroundings& surroundings) {
  if (const auto folder = surroundings.variable("XDG_DATA_HOME"); folder && !folder->empty()) {
    return std::filesystem::path(*folder) / "sextant";
  }
  const auto home = surroundings.variable("HOME");
  return home && !home->empty() ? std::filesystem::path(*home) / ".local" / "share" / "sextant"
                                : std::filesystem::path();
}

std::vector<std::pair<std::filesystem::path, bool>> settings_files(
    const Surroundings& surroundings) {
  std::error_code ignored;
  std::vector<std::pair<std::filesystem::path, bool>> files;
  for (const std::filesystem::path& file :
       {project_file(surroundings.working_folder), user_file(surroundings)}) {
    files.emplace_back(file, std::filesystem::is_regular_file(file, ignored));
  }
  return files;
}

Result<Settings> load_settings(const std::map<std::string, Setting>& flags,
                               const Surroundings& surroundings) {
  Settings settings;
  for (const SettingKey& key : kKeys) {
    settings[std::string(key.name)] = {std::string(key.fallback), "default"};
  }
  const auto files = settings_files(surroundings);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (file->second) {
      SEXTANT_CHECK_OK(read_settings_file(file->first, settings));
    }
  }
  for (const SettingKey& key : kKeys) {
    const std::string name = variable_name(key.name);
    if (const auto value = surroundings.variable(name); value && !value->empty()) {
      settings[std::string(key.name)] = {*value, name};
    }
  }
  for (const auto& [key, setting] : flags) {
    settings[key] = setting;
  }
  for (const SettingKey& key : kKeys) {
    SEXTANT_CHECK_OK(check_setting(key, settings[std::string(key.name)]));
  }
  return settings;
}

}  // namespace sextant::app
