// The use cases as commands that a language model may have answered while it reasons: a closed
// list of what only reads. `app` fills it in; empty: there are none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sextant::agents {

struct LlmCommand {
  std::string name;
  std::string what;  // it is for, in a line
};

struct LlmCommands {
  std::vector<LlmCommand> list = {};
  // What the command takes, as lines of text.
  std::function<Result<std::string>(const std::string& name)> help = {};
  // Its answer as text. `arguments` is foreign text: a JSON object, where it is right.
  std::function<Result<std::string>(const std::string& name, const std::string& arguments)> run =
      {};
};

}  // namespace sextant::agents
