#include "emit/setting_rules_view.h"

#include <ranges>
#include <utility>

#include "base/text.h"
#include "emit/megatron_arguments.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

bool speaks_megatron(Dialect dialect) {
  return dialect == Dialect::kMegatron || dialect == Dialect::kBridge;
}

std::string_view last_component(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

}  // namespace

SettingsView::Found SettingsView::find(std::string_view name) const {
  if (!speaks_megatron(settings_.dialect)) {
    return {emit::find(settings_.given, name), false};
  }
  const Spelling* spelled = spelling_of(name);
  for (const Setting& setting : std::views::reverse(settings_.given)) {
    const std::string_view key = setting.key;
    if (spelled != nullptr && !spelled->bridge.empty() && key == spelled->bridge) {
      return {&setting, spelled->bridge_negates};
    }
    if (last_component(key) == name) {
      return {&setting, false};
    }
    if (spelled != nullptr && !spelled->flag.empty() && key == spelled->flag) {
      return {&setting, spelled->flag_negates};
    }
    // A switch that is on by default has "--no-x" and "--disable-x".
    if ((key.starts_with("no_") && key.substr(3) == name) ||
        (key.starts_with("disable_") && key.substr(8) == name)) {
      return {&setting, true};
    }
  }
  return {};
}

std::vector<std::string> SettingsView::words(std::string_view name) const {
  const Found found = find(name);
  return found.setting == nullptr ? std::vector<std::string>()
                                  : plain_values(found.setting->values);
}

std::string SettingsView::text(std::string_view name) const {
  const Found found = find(name);
  if (found.setting == nullptr || !given(name)) {
    return {};
  }
  std::string whole = join(found.setting->values, " ");
  // An override may keep its quotes.
  const bool quoted = whole.size() >= 2 && whole.front() == whole.back() &&
                      (whole.front() == '\'' || whole.front() == '"');
  return quoted ? whole.substr(1, whole.size() - 2) : whole;
}

std::optional<std::string> SettingsView::word(std::string_view name) const {
  std::vector<std::string> all = words(name);
  if (all.empty()) {
    return std::nullopt;
  }
  return std::move(all.front());
}

std::optional<std::int64_t> SettingsView::number(std::string_view name) const {
  const auto text = word(name);
  return text ? to_whole(*text) : std::nullopt;
}

bool SettingsView::on(std::string_view name, bool otherwise) const {
  const Found found = find(name);
  if (found.setting == nullptr) {
    return otherwise;
  }
  const std::vector<std::string> all = plain_values(found.setting->values);
  const auto value = all.empty() ? std::nullopt : to_flag(all.front());
  return value ? *value != found.negated : otherwise;
}

std::optional<std::string> SettingsView::environment(std::string_view name) const {
  for (const std::vector<Setting>* list : {&settings_.environment, &settings_.given}) {
    for (const Setting& setting : std::views::reverse(*list)) {
      if (last_component(setting.key) == name && !setting.values.empty()) {
        return setting.values.front();
      }
    }
  }
  return std::nullopt;
}

}  // namespace sextant::emit
