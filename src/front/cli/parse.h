// Command line in, command and arguments out. The only place that knows the argument parser.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "app/settings.h"
#include "base/result.h"
#include "front/cli/command.h"

namespace sextant::front {

struct Invocation {
  const Command* command = nullptr;
  Arguments arguments;
  std::map<std::string, app::Setting> flags;  // settings given on the command line
};

// Help or version text to print instead of running anything.
struct Information {
  std::string text;
};

Result<std::variant<Invocation, Information>> parse_command_line(
    const std::vector<std::string>& arguments);

}  // namespace sextant::front
