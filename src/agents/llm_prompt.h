// What a language model is told, read from data/prompts/tune.toml.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "llm/conversation.h"

namespace sextant::agents {

struct LlmPrompt {
  std::int64_t version = 0;
  std::string system;
  std::string start;
  std::string malformed;  // "{}": what is wrong
  std::string judged;
  std::string answer_schema;
  std::vector<llm::ToolOffer> tools;  // by name; "{}" in a description: the list of commands
};
Result<LlmPrompt> load_llm_prompt(const describe::DataStore& data);

// Text of the user's job or of a tool, fenced as the prompt says. What looks like a fence in it is
// taken apart, so that nothing in it ends it.
std::string fenced(std::string_view name, std::string_view text);

}  // namespace sextant::agents
