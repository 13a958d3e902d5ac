#include "app/llm_commands.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/tool_table.h"
#include "app/tool_values.h"
#include "base/text.h"

namespace sextant::app {
namespace {

bool is_written(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kFileToWrite ||
         parameter.kind == ParameterKind::kFolderToWrite;
}

// Texts of app put names between marks (app/answered.h); a model has the bare words.
std::string without_marks(std::string text) {
  static const std::array<std::string, 4> kMarks{"\u2039", "\u203a", "\u00ab", "\u00bb"};
  for (const std::string& mark : kMarks) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), "");
    }
  }
  return text;
}

bool is_command(const ToolRow& row, bool knows) {
  return !row.writes && (knows || row.use_case != "kb");
}

Result<const ToolRow*> command_row(const std::string& name, bool knows) {
  const ToolRow* row = find_tool_row(name);
  if (row == nullptr || !is_command(*row, knows)) {
    std::vector<std::string> names;
    for (const ToolRow& one : tool_rows()) {
      if (is_command(one, knows)) {
        names.emplace_back(one.name);
      }
    }
    return invalid(fmt::format("'{}' is no command here", printable(name)), "the command",
                   join(names, ", "));
  }
  return row;
}

std::string parameter_line(const Parameter& parameter) {
  std::string line =
      fmt::format("- {} ({}{}{}): {}", parameter.name, explain::kind_text(parameter.kind),
                  parameter.words.empty() ? "" : " ", fmt::join(parameter.words, ", "),
                  explain::help_text(parameter));
  if (!parameter.example.empty()) {
    line += fmt::format("; such as {}", parameter.example);
  }
  if (parameter.required) {
    line += "; needed";
  }
  return line + (parameter.many ? "; a list of several, too\n" : "\n");
}

std::string help_of(const ToolRow& row) {
  std::string text = fmt::format("{}. {}\n", use_case_of(row).summary, row.hint);
  for (const Parameter& parameter : parameters_of(row)) {
    if (!is_written(parameter)) {
      text += parameter_line(parameter);
    }
  }
  return without_marks(std::move(text));
}

Result<std::string> command_answer(const ToolRow& row, const std::string& arguments,
                                   const Context& context, const Control& control,
                                   const std::string& author) {
  SEXTANT_TRY(const Values values, tool_values(row, arguments, author));
  for (const Parameter& parameter : parameters_of(row)) {
    if (is_written(parameter) && values.has(parameter.name)) {
      return invalid("nothing is written here", std::string(parameter.name));
    }
  }
  Context alone = context;
  alone.network = {};  // no key and no proxy: nobody is asked from here
  SEXTANT_TRY(const Reply reply, ask(use_case_of(row), values, alone, {.stop = control.stop}));
  std::string text = reply.outcome == Outcome::kNo ? "the answer is no\n" : "";
  text += plain_text(reply);
  for (const std::string& note : reply.notes) {
    text += fmt::format("note: {}\n", note);
  }
  return without_marks(std::move(text));
}

// An Error with its names unmarked.
Result<std::string> unmarked(Result<std::string> answer) {
  if (!answer) {
    Error& error = answer.error();
    error.what = without_marks(std::move(error.what));
    error.where = without_marks(std::move(error.where));
    error.allowed = without_marks(std::move(error.allowed));
  }
  return answer;
}

}  // namespace

agents::LlmCommands llm_commands(const Context& context, const Control& control,
                                 const std::string& author, bool knows) {
  agents::LlmCommands commands;
  for (const ToolRow& row : tool_rows()) {
    if (is_command(row, knows)) {
      commands.list.push_back(
          {std::string(row.name), without_marks(std::string(use_case_of(row).summary))});
    }
  }
  commands.help = [knows](const std::string& name) -> Result<std::string> {
    SEXTANT_TRY(const ToolRow* row, command_row(name, knows));
    return help_of(*row);
  };
  commands.run = [&context, &control, author, knows](
                     const std::string& name, const std::string& arguments) -> Result<std::string> {
    SEXTANT_TRY(const ToolRow* row, command_row(name, knows));
    return unmarked(command_answer(*row, arguments, context, control, author));
  };
  return commands;
}

}  // namespace sextant::app
