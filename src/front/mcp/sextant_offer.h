// What Sextant offers over the protocol: its use cases as tools, what it knows and what it answered
// as resources, two prompts.
//
// One app call a request. A tool's answer is a short text and the answer's JSON, both cut to fit a
// context window (shortened.h); the whole of it stays at hand (answer_store.h), to be read as a
// resource or by the tool's `detail`.
#pragma once

#include <memory>
#include <string>

#include "app/context.h"
#include "app/tool_table.h"
#include "front/mcp/answer_store.h"
#include "front/mcp/offer.h"

namespace sextant::front::mcp {

inline constexpr std::size_t kMostText = 6'000;     // bytes of an answer's text
inline constexpr std::size_t kMostAnswer = 8'000;   // of its JSON
inline constexpr std::size_t kMostDetail = 16'000;  // of what was asked for by `detail`

// Everything a handler needs; it outlives the server.
struct Desk {
  const app::Context& context;
  AnswerStore answers{};
  bool may_add = false;  // to the knowledge base
};

Offer sextant_offer(Desk& desk);

// The parts of it.
Handled answered_tool(const app::ToolRow& row, const Call& call, Desk& desk);
Json listed_resources();
Json listed_templates();
Handled read_resource(const std::string& uri, const Call& call, Desk& desk);
std::vector<Named> sextant_prompts();
Handled completed_word(const Call& call, const Desk& desk);

// What a kept file is, by its name.
std::string_view mime_type_of(std::string_view name);

}  // namespace sextant::front::mcp
