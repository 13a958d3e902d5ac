#include "front/cli/command.h"
#include "front/cli/use_case_command.h"

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
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> all;
    for (const app::UseCase& use_case : app::use_cases()) {
      all.push_back(command_of(use_case));
    }
    for (const Command& own :
         {capture_command(), completion_command(), config_command(), doctor_command(),
          mcp_command(), complete_command(), man_command()}) {
      all.push_back(own);
    }
    return all;
  }();
  return kCommands;
}

const std::vector<Option>& common_options() {
  static const std::vector<Option> kOptions{
      {"--json", "", "machine-readable output (short for -o json)", ""},
      {"-o,--output", "FORMAT", "table, json, md or csv; check: github or sarif too",
       "table|json|md|csv|github|sarif"},
      {"--color", "WHEN", "auto, always or never", "auto|always|never"},
      {"--data", "FOLDER", "files that replace or add to the built-in data", "files"},
  };
  return kOptions;
}

}  // namespace sextant::front
