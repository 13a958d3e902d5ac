// A language model that says what a test wrote, over real HTTP on loopback, in whichever of the
// three protocols it is asked. It misbehaves on demand. Only tests include this.
#pragma once

#include <atomic>
#include <cstdint>
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

class ScriptedModel {
 public:
  // Each request is answered by the next line; after the last one, by `forever`.
  explicit ScriptedModel(std::vector<Line> script, Line forever = {.text = "{}"});

  [[nodiscard]] http::Url url() const;
  [[nodiscard]] std::vector<SeenRequest> seen() const;
  // Bodies of all requests, one after another.
  [[nodiscard]] std::string all_bodies() const;

 private:
  void answer(const http::Request& request, http::Exchange& exchange);

  std::vector<Line> script_;
  Line forever_;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  http::Server server_;
};

// As the protocol of that path streams it.
std::string streamed(const Line& line, std::string_view path);
// As it answers without streaming.
std::string whole_reply(const Line& line, std::string_view path);

}  // namespace sextant::llm
