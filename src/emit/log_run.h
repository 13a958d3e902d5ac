// What one framework has said so far in a log: the settings and steps of its latest run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emit/log_measured.h"
#include "emit/log_settings.h"
#include "emit/settings.h"

namespace sextant::emit {

// Settings by key: a key said again replaces the earlier value. Bounded.
class SettingList {
 public:
  // No values: takes the key away. False where there is no room for another key.
  bool set(std::string key, std::vector<std::string> values, const Place& place);
  // A further value of a list.
  void append(const std::string& key, std::string value, const Place& place);
  [[nodiscard]] const Setting* find(const std::string& key) const;
  [[nodiscard]] std::vector<Setting> all() const;  // in the order they were first said
  [[nodiscard]] bool empty() const { return index_.empty(); }

 private:
  std::vector<Setting> settings_;
  std::unordered_map<std::string, std::size_t> index_;
};

class LogRun {
 public:
  // A step line. Lines of the same step are one; a step far behind the last begins a new run.
  // False where there is no room for it.
  bool take_step(const StepLine& line);
  // A setting printed after steps begins a new run.
  void take_setting(FoundSetting found, const Place& place);
  void take_list_item(const std::string& key, std::string value, const Place& place);
  void drop_last_step() { steps_.pop_back(); }

  [[nodiscard]] const std::vector<StepLine>& steps() const { return steps_; }
  [[nodiscard]] const SettingList& given() const { return given_; }
  [[nodiscard]] const SettingList& launch() const { return launch_; }
  [[nodiscard]] bool empty() const { return steps_.empty() && given_.empty() && launch_.empty(); }
  [[nodiscard]] std::int64_t runs() const { return runs_; }

 private:
  void begin_again(bool forget_settings);

  SettingList given_;
  SettingList launch_;
  std::vector<StepLine> steps_;
  std::int64_t highest_ = -1;  // step number
  std::int64_t stride_ = 1;    // between reported steps
  std::int64_t runs_ = 1;
};

// What the settings of a run say about the size of its steps.
StepSize step_size(LogKind kind, bool is_bridge, const LogRun& run);

}  // namespace sextant::emit
