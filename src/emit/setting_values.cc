#include "emit/setting_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"

namespace sextant::emit {
namespace {

std::string setting_text(const Setting& setting) {
  return fmt::format("{} = {}", setting.key, printable(join(setting.values, ", ")));
}

}  // namespace

std::optional<bool> to_flag(std::string_view text) {
  const std::string word = to_lower(text);
  if (word == "true" || word == "1") {
    return true;
  }
  if (word == "false" || word == "0") {
    return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> to_whole(std::string_view text) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  std::string digits(text);
  std::erase(digits, '_');
  if (const auto number = to_integer(digits)) {
    return number;
  }
  const auto number = to_double(digits);
  if (!number || std::abs(*number) > kMostExact || *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

const Setting* SettingReader::find(std::string_view key) const {
  return emit::find(settings_.given, key);
}

std::optional<std::string> SettingReader::text(std::string_view key) const {
  const Setting* setting = find(key);
  if (setting == nullptr || setting->values.size() != 1 || setting->values[0] == "None" ||
      setting->values[0] == "null") {
    return std::nullopt;
  }
  return setting->values[0];
}

void SettingReader::wrong(const Setting& setting, std::string_view allowed) {
  const bool automatic = setting.values.size() == 1 && setting.values[0] == "auto";
  reading_.unresolved.push_back(
      {setting_text(setting),
       automatic ? std::string("\"auto\" is filled in when the job starts")
                 : fmt::format("not understood here; read as absent (allowed: {})", allowed),
       setting.place, setting.key});
}

std::optional<std::int64_t> SettingReader::whole(std::string_view key, std::int64_t least,
                                                 std::int64_t most) {
  const auto value = text(key);
  if (!value) {
    return std::nullopt;
  }
  const auto number = to_whole(*value);
  if (!number || *number < least || *number > most) {
    wrong(*find(key), fmt::format("a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> SettingReader::flag(std::string_view key) {
  const auto value = text(key);
  if (!value) {
    return std::nullopt;
  }
  const auto answer = to_flag(*value);
  if (!answer) {
    wrong(*find(key), "true, false");
  }
  return answer;
}

std::optional<std::int64_t> SettingReader::launched(std::string_view key) {
  const Setting* setting = emit::find(settings_.launch, key);
  if (setting == nullptr || setting->values.size() != 1) {
    return std::nullopt;
  }
  const auto number = to_whole(setting->values[0]);
  if (!number || *number < 1 || *number > describe::kMostDevices) {
    wrong(*setting, fmt::format("a whole number from 1 to {}", describe::kMostDevices));
    return std::nullopt;
  }
  return number;
}

void SettingReader::size(const SizeSetting& size, std::int64_t most) {
  if (const auto value = whole(size.key, 1, most)) {
    reading_.layout.*size.member = *value;
    fact(size.field, std::to_string(*value), size.key);
  }
}

void SettingReader::fact(std::string_view field, std::string value, std::string_view key) {
  if (const Setting* setting = find(key)) {
    reading_.facts.push_back(
        {std::string(field), std::move(value), setting_text(*setting), setting->place});
  }
}

void SettingReader::derived(std::string_view field, std::string value, std::string_view key) {
  const std::size_t before = reading_.facts.size();
  fact(field, std::move(value), key);
  if (reading_.facts.size() > before) {
    reading_.facts.back().derived = true;
  }
}

void SettingReader::unresolved(std::string_view key, std::string why) {
  if (const Setting* setting = find(key)) {
    reading_.unresolved.push_back(
        {setting_text(*setting), std::move(why), setting->place, setting->key});
  } else {
    reading_.unresolved.push_back({std::string(key), std::move(why), {}, std::string(key)});
  }
}

std::vector<Inexpressible> left_out_of(const describe::Layout& wanted, const describe::Layout& said,
                                       std::span<const Reason> reasons) {
  const auto wanted_values = describe::layout_values(wanted);
  const auto said_values = describe::layout_values(said);
  std::vector<Inexpressible> left_out;
  for (std::size_t i = 0; i < wanted_values.size(); ++i) {
    const auto& [field, value] = wanted_values[i];
    if (value == said_values[i].second) {
      continue;
    }
    const auto reason =
        std::find_if(reasons.begin(), reasons.end(),
                     [&, name = field](const auto& row) { return row.first == name; });
    left_out.push_back(
        {std::string(field), value,
         reason == reasons.end()
             ? fmt::format("the framework has no word for it; it runs {}", said_values[i].second)
             : fmt::format("{}; it runs {}", reason->second, said_values[i].second)});
  }
  return left_out;
}

std::vector<Setting> launch_settings(const describe::Job& job) {
  const std::int64_t devices = job.cluster.devices;
  const std::int64_t a_node = std::max<std::int64_t>(1, job.cluster.devices_per_node());
  const std::int64_t nodes = std::max<std::int64_t>(1, (devices + a_node - 1) / a_node);
  return {{"nodes", {std::to_string(nodes)}, {}},
          {"devices_per_node", {std::to_string(std::min(devices, a_node))}, {}},
          {"devices", {std::to_string(devices)}, {}}};
}

}  // namespace sextant::emit
