// A language model that says what a test wrote, over real HTTP on loopback, in whichever of the
// three protocols it is asked. It misbehaves on demand. Only tests include this.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.h"
#include "http/url.h"
#include "llm/conversation.h"

namespace sextant::llm {

enum class Fault : std::uint8_t {
  kNone,
  kSilent,       // takes the request and never answers
  kBusy,         // 429 with Retry-After: 0
  kBroken,       // 500, and says the key back
  kCut,          // the stream ends within the reply
  kInvalidJson,  // an event that is no JSON
  kNoStream,     // 200, and JSON that is no reply
  kWrongTypes,   // a reply whose every member is of another type than it should be
  kRefusesKey,   // 401, and says the key back
  kSaid,         // the text is what went wrong, within the stream
};

struct Line {
  std::string text = {};
  std::vector<ToolCall> calls = {};
  Fault fault = Fault::kNone;
  bool is_cut_short = false;  // by the limit of output
  bool is_whole = false;      // one JSON object, though a stream was asked for
};

struct SeenRequest {
  std::string path;
  http::Headers headers;
  std::string body;
};

// A text as a vector; empty: the server offers no embeddings (404).
using Meaning = std::function<std::vector<double>(const std::string& text)>;
// Each word of the text, as `spelled` has it, has a direction of its own; a text is their sum.
// Words that `spelled` makes one mean one. Another seed, other directions.
Meaning meaning_of_words(std::function<std::string(const std::string& word)> spelled,
                         std::uint64_t seed = 1);

// A model of that name is answered whole, though a stream was asked for.
inline constexpr const char* kWholeModel = "scripted-whole";

class ScriptedModel {
 public:
  // Each request is answered by the next line; after the last one, by `forever`.
  explicit ScriptedModel(std::vector<Line> script, Line forever = {.text = "{}"},
                         Meaning meaning = {});

  [[nodiscard]] http::Url url() const;
  [[nodiscard]] std::vector<SeenRequest> seen() const;
  // Bodies of all requests, one after another.
  [[nodiscard]] std::string all_bodies() const;

 private:
  void answer(const http::Request& request, http::Exchange& exchange);
  void embed(const http::Request& request, http::Exchange& exchange) const;

  std::vector<Line> script_;
  Line forever_;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::size_t answered_ = 0;  // lines of the script
  Meaning meaning_;
  http::Server server_;
};

// As the protocol of that path streams it.
std::string streamed(const Line& line, std::string_view path);
// As it answers without streaming.
std::string whole_reply(const Line& line, std::string_view path);

}  // namespace sextant::llm
