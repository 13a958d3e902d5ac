#include <array>

#include "front/cli/command.h"

namespace sextant::front {

std::string Arguments::one(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second.front();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands{
      model_command(),      cluster_command(), memory_command(),   traffic_command(),
      estimate_command(),   compare_command(), check_command(),    emit_command(),
      plan_command(),       explain_command(), validate_command(), calibrate_command(),
      completion_command(), config_command(),  doctor_command(),   complete_command(),
      man_command()};
  return kCommands;
}

std::span<const Option> common_options() {
  static constexpr std::array kOptions{
      Option{"--json", "", "machine-readable output (short for -o json)", ""},
      Option{"-o,--output", "FORMAT", "table, json, md or csv; check: github or sarif too",
             "table|json|md|csv|github|sarif"},
      Option{"--color", "WHEN", "auto, always or never", "auto|always|never"},
      Option{"--data", "FOLDER", "files that replace or add to the built-in data", "files"},
  };
  return kOptions;
}

}  // namespace sextant::front
