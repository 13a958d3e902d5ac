// The tools that a language model may call: a closed list, all of which only read. Arguments are
// foreign text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/llm_commands.h"
#include "agents/noted_tools.h"
#include "agents/tools.h"
#include "base/result.h"
#include "search/task.h"

namespace sextant::agents {

class LlmTools {
 public:
  // `tools` must outlive it.
  LlmTools(const Tools& tools, LlmCommands commands)
      : tools_(tools), noted_(tools), commands_(std::move(commands)) {}

  // Is there a tool of that name in this session? `judge` is the reasoner's own.
  [[nodiscard]] bool offers(std::string_view name) const;
  // The commands, a line each.
  [[nodiscard]] std::string command_lines() const;
  // What it answers, as text. An Error: no such tool, arguments that are none, or its own.
  Result<std::string> called(const std::string& name, const std::string& arguments);

 private:
  Result<std::string> search(const std::string& arguments);
  Result<std::string> plan(const std::string& arguments);
  Result<std::string> path(const std::string& arguments);
  Result<std::string> estimate(const std::string& arguments);
  Result<std::string> command(const std::string& arguments);
  [[nodiscard]] Result<std::string> command_help(const std::string& arguments) const;
  Result<void> fill_plan(std::size_t most);

  const Tools& tools_;
  NotedTools noted_;
  LlmCommands commands_;
  std::vector<search::PlanRow> rows_;
  // The last command's answer, of which further pages are asked for.
  std::string last_command_;
  std::string last_text_;
};

}  // namespace sextant::agents
