// Questions that rules ask of settings, whatever the spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "emit/settings.h"

namespace sextant::emit {

// Megatron's settings are found by destination name, in any of their spellings
// (emit/megatron_arguments.h) and by the last component of an override; others by their path.
class SettingsView {
 public:
  // REQUIRES: the settings outlive the view.
  explicit SettingsView(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] const Settings& settings() const { return settings_; }
  // Are they overrides of a recipe, which may have set what they leave silent?
  [[nodiscard]] bool has_recipe() const { return settings_.dialect == Dialect::kBridge; }

  // "None" and "null" count as not given.
  [[nodiscard]] bool given(std::string_view name) const { return !words(name).empty(); }
  [[nodiscard]] std::vector<std::string> words(std::string_view name) const;
  // As it stands, commas and all; empty where it is not given.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> word(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] bool on(std::string_view name, bool otherwise = false) const;
  // A switch that something else needs; a recipe is given the benefit of the doubt.
  [[nodiscard]] bool may_be_on(std::string_view name) const { return on(name, has_recipe()); }
  [[nodiscard]] std::optional<std::string> environment(std::string_view name) const;

 private:
  struct Found {
    const Setting* setting = nullptr;
    bool negated = false;
  };
  [[nodiscard]] Found find(std::string_view name) const;

  const Settings& settings_;
};

// What a check is asked about, and where it reports.
struct Asked {
  const SettingsView& say;
  const describe::Job& job;
  std::vector<describe::Violation>& found;

  void broken(std::string_view rule, std::string message, std::vector<std::string> nearest = {},
              describe::Severity severity = describe::Severity::kIllegal) const {
    found.push_back({rule, std::move(message), std::move(nearest), severity});
  }
};

void check_megatron_settings(const Asked& asked);
void check_megatron_pipeline(const Asked& asked);
void check_megatron_sharding(const Asked& asked);
void check_torchtitan_settings(const Asked& asked);
void check_deepspeed_settings(const Asked& asked);
void check_maxtext_settings(const Asked& asked);
void check_accelerate_settings(const Asked& asked);
void check_nanotron_settings(const Asked& asked);

}  // namespace sextant::emit
