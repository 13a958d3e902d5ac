// A model behind an address: one conversation's turn is sent, with retries, within a budget, and
// its streamed reply read.
//
// The key goes to that address alone, in a header, and is in no Error and no text that is shown.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "http/client.h"
#include "http/url.h"
#include "llm/budget.h"
#include "llm/conversation.h"
#include "llm/protocol.h"

namespace sextant::llm {

struct Endpoint {
  http::Url base;  // "https://api.openai.com/v1"; without a path, /v1 is meant
  Protocol protocol = Protocol::kChat;
  std::string model;
  std::string key = {};             // "": none is sent
  std::int64_t most_output = 4096;  // tokens of one reply
  int attempts = 3;
  http::ClientOptions client = {};
};

// Keys that the environment has, by the names that people have them under.
struct Keys {
  std::string own = {};        // SEXTANT_LLM_KEY: for whichever address is named
  std::string openai = {};     // OPENAI_API_KEY: for hosts of openai.com alone
  std::string anthropic = {};  // ANTHROPIC_API_KEY: for hosts of anthropic.com alone
};
// The key for that address; "" where none is meant for it. An Error where it would go over the
// network in the clear.
Result<std::string> key_for(const http::Url& base, const Keys& keys);

// The request as it would be sent: its first line, headers and body, the key replaced by "[key]".
std::string shown_request(const Endpoint& endpoint, const Conversation& conversation);

// How long to wait before the next attempt, counted from 1: half a second doubled each time, at
// most 8 s; or what the server's Retry-After says (seconds), nothing where that is beyond a minute.
std::optional<Seconds> wait_before(int attempt, std::string_view retry_after);

// Waits; an Error where somebody said stop meanwhile. Tests count instead.
using Wait = std::function<Result<void>(Seconds)>;
Wait waiting_for_stop(const std::atomic<bool>* stop);

// Asked again after: no connection, a stream that is cut, 408, 409, 429 and 500 to 599. Each
// attempt that the model said something in is paid for: by what the server counts, else by an
// estimate, of a reply that is cut too. An Error where the budget does not allow a request. The key
// is in nothing of the reply, though the server may say it back (one of less than 12 characters is
// taken for a mere word, and stays).
Result<ModelReply> reply_from(const Endpoint& endpoint, const Conversation& conversation,
                              Spending& spending, const Wait& wait);

}  // namespace sextant::llm
