// Settings and where each came from: flags, then SEXTANT_* variables, then the project's
// sextant.toml (nearest upward), then the user's config.toml, then the built-in default.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::app {

struct Setting {
  std::string value;
  std::string origin;  // "default", "flag --json", "SEXTANT_OUTPUT", "sextant.toml:2:1"
};

struct SettingKey {
  std::string_view name;
  std::string_view fallback;
  std::string_view values;  // allowed words, or what it is
  std::string_view meaning;
};
std::span<const SettingKey> setting_keys();
// Is there one of that name?
bool is_setting(std::string_view name);

// Every key of setting_keys() is present.
using Settings = std::map<std::string, Setting>;

// Where settings are read from; tests replace it.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string&)> variable;  // environment
  std::filesystem::path working_folder;
  std::function<std::string()> now = {};  // RFC 3339, UTC
  static Surroundings of_process();
};

// `flags`: key → {value, flag as the user wrote it}. A bad value, an unknown key in a file or an
// unreadable file is an Error that names the place.
Result<Settings> load_settings(const std::map<std::string, Setting>& flags,
                               const Surroundings& surroundings);

// The files that were looked for, in order of precedence, and whether each is there.
std::vector<std::pair<std::filesystem::path, bool>> settings_files(
    const Surroundings& surroundings);

// Where a user's own data goes: $XDG_DATA_HOME/sextant, else ~/.local/share/sextant; empty where
// neither is known.
std::filesystem::path user_data_folder(const Surroundings& surroundings);

}  // namespace sextant::app
