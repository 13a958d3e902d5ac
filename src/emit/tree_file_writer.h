// Settings of a dialect whose files are trees, one value after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/settings.h"

namespace sextant::emit {

class SettingWriter {
 public:
  void text(std::string_view key, std::string_view value) {
    settings_.push_back({std::string(key), {std::string(value)}, {}});
  }
  void whole(std::string_view key, std::int64_t value) { text(key, std::to_string(value)); }
  void flag(std::string_view key, bool value) { text(key, value ? "true" : "false"); }
  void all(std::vector<Setting> more) {
    for (Setting& setting : more) {
      settings_.push_back(std::move(setting));
    }
  }
  std::vector<Setting> take() && { return std::move(settings_); }

 private:
  std::vector<Setting> settings_;
};

}  // namespace sextant::emit
