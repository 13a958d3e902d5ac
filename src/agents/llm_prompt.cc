#include "agents/llm_prompt.h"

#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/toml_table.h"

namespace sextant::agents {
namespace {

constexpr std::string_view kPromptFile = "prompts/tune.toml";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

Result<std::string> read_lines(const describe::TomlTable& top, std::string_view key) {
  SEXTANT_TRY(const std::vector<std::string> lines, top.texts(key));
  if (lines.empty()) {
    return invalid(fmt::format("{} has no lines", key), top.where(key), "a list of strings");
  }
  return join(lines, "\n") + "\n";
}

Result<llm::ToolOffer> read_offer(const describe::TomlTable& tools, const std::string& name) {
  SEXTANT_TRY(const describe::TomlTable table, tools.table(name));
  llm::ToolOffer offer{.name = name, .description = {}, .schema = {}};
  SEXTANT_TRY(offer.description, table.text("description"));
  SEXTANT_TRY(offer.schema, table.text("schema"));
  return offer;
}

}  // namespace

Result<LlmPrompt> load_llm_prompt(const describe::DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kPromptFile));
  SEXTANT_TRY(const describe::TomlTable top,
              describe::TomlTable::parse(text, data.where(kPromptFile)));
  LlmPrompt prompt;
  SEXTANT_TRY(prompt.version, top.integer("version", 1, std::numeric_limits<std::int64_t>::max()));
  SEXTANT_TRY(prompt.system, read_lines(top, "system"));
  SEXTANT_TRY(prompt.start, read_lines(top, "start"));
  SEXTANT_TRY(prompt.malformed, read_lines(top, "malformed"));
  SEXTANT_TRY(prompt.judged, read_lines(top, "judged"));
  SEXTANT_TRY(prompt.answer_schema, top.text("answer_schema"));
  SEXTANT_TRY(const describe::TomlTable tools, top.table("tools"));
  for (const std::string& name : tools.keys()) {
    SEXTANT_TRY(llm::ToolOffer offer, read_offer(tools, name));
    prompt.tools.push_back(std::move(offer));
  }
  return prompt;
}

std::string fenced(std::string_view name, std::string_view text) {
  std::string inside(text);
  replace_all(inside, "<<<", "< < <");
  replace_all(inside, ">>>", "> > >");
  return fmt::format("<<<DATA {}\n{}{}DATA>>>\n", name, inside, inside.ends_with('\n') ? "" : "\n");
}

}  // namespace sextant::agents
