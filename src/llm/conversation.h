// What is said to a language model and what it says, whichever protocol carries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::llm {

// A function that the model may ask for.
struct ToolOffer {
  std::string name;
  std::string description;
  std::string schema;  // of its arguments: a JSON object (JSON Schema)
};

// That it asked for. Name and arguments are the model's words: nothing says that the tool exists or
// that the arguments are JSON.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;
};

struct ToolResult {
  std::string id;  // of the call
  std::string text;
  bool is_error = false;
};

enum class Speaker : std::uint8_t { kUser, kModel, kTools };

// One turn: words of the user's side, words and calls of the model, or results of its calls.
struct Turn {
  Speaker speaker = Speaker::kUser;
  std::string text = {};
  std::vector<ToolCall> calls = {};
  std::vector<ToolResult> results = {};
};

struct Conversation {
  std::string system;
  std::vector<ToolOffer> tools = {};
  bool may_call = true;            // else tools are named, since turns speak of them, and barred
  std::string answer_schema = {};  // the next reply's text is JSON of this schema; "": any text
  std::vector<Turn> turns = {};
};

// Tokens, as the server counts them.
struct Usage {
  std::int64_t input = 0;
  std::int64_t output = 0;
  bool is_estimated = false;  // from bytes: the server did not say
};

enum class Ending : std::uint8_t {
  kDone,
  kCalls,    // it waits for results of its calls
  kLength,   // cut at the limit of output or of its context
  kRefused,  // it, or its provider's filter, declined
};

struct ModelReply {
  std::string text = {};
  std::vector<ToolCall> calls = {};
  Ending ending = Ending::kDone;
  Usage usage = {};
};

// Of one reply; more is an Error, and never held.
inline constexpr std::size_t kLongestReply = std::size_t{1} << 20U;  // bytes of text
inline constexpr std::size_t kLongestArguments = std::size_t{1} << 18U;
inline constexpr std::size_t kMostCalls = 64;

}  // namespace sextant::llm
