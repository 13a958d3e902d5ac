#include "llm/endpoint.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "http/sse.h"
#include "http/stream.h"
#include "llm/attempts.h"
#include "llm/protocol_parts.h"

namespace sextant::llm {
namespace {

constexpr Seconds kFirstWait(0.5);
constexpr Seconds kLongestWait(8.0);
constexpr Seconds kLongestTold(60.0);
// Of a reply that is not streamed: its texts, escaped, with the words around.
constexpr std::size_t kLongestWhole = 4 * kLongestReply;

http::Request request_of(const Endpoint& endpoint, const Conversation& conversation,
                         std::int64_t most_output) {
  return {.method = "POST",
          .target = endpoint_target(endpoint, path_of(endpoint.protocol)),
          .headers = protocol_headers(endpoint.protocol, endpoint.key),
          .body = request_body(endpoint.protocol, conversation,
                               {.model = endpoint.model,
                                .most_output = most_output,
                                .is_openai = endpoint.base.host.ends_with("openai.com")})};
}

// What one attempt came to.
struct Attempt {
  Result<ModelReply> reply;
  bool is_worth_another = false;
  bool is_paid = false;      // the model has said something
  std::size_t streamed = 0;  // bytes of it, with the words around
  std::string retry_after = {};
};

ModelReply reply_without_key(ModelReply reply, const std::string& key) {
  reply.text = without_key(std::move(reply.text), key);
  for (ToolCall& call : reply.calls) {
    call.id = without_key(std::move(call.id), key);
    call.name = without_key(std::move(call.name), key);
    call.arguments = without_key(std::move(call.arguments), key);
  }
  return reply;
}

Attempt attempted(const Endpoint& endpoint, const http::Request& request) {
  const std::unique_ptr<ReplyDecoder> decoder = reply_decoder(endpoint.protocol);
  http::EventReader events;
  std::size_t count = 0;
  std::size_t streamed = 0;
  std::string whole;  // what came before the first event: all, where the server does not stream
  const std::string key = secret_key(endpoint);
  const auto take_event = [&](http::ServerEvent event) {
    ++count;
    streamed += event.data.size();
    // Before anything of it is shown, and cut to be shown.
    event.data = without_key(std::move(event.data), key);
    return decoder->take(event);
  };
  const auto take_line = [&](std::string_view line) -> Result<void> {
    if (count == 0) {
      SEXTANT_CHECK_OK(add_bounded(whole, line, kLongestWhole));
      whole += '\n';
    }
    return events.feed(line, take_event);
  };
  const auto reply = http::reply_to(request, endpoint.base, endpoint.client, take_line);
  const auto with_place = [&](Error error) -> Attempt {
    error.what = without_key(std::move(error.what), endpoint.key);
    if (error.where.empty()) {
      error.where = http::to_text(endpoint.base);
    }
    const bool is_external = error.kind == ErrorKind::kExternal;
    return {.reply = tl::unexpected(std::move(error)),
            .is_worth_another = is_external,
            .is_paid = streamed + whole.size() > 0,
            .streamed = streamed > 0 ? streamed : whole.size()};
  };
  if (!reply) {
    return with_place(reply.error());
  }
  if (reply->status < 200 || reply->status >= 300) {
    return {.reply = tl::unexpected(refusal_error(*reply, endpoint)),
            .is_worth_another = is_worth_another(reply->status),
            .retry_after = std::string(http::value_of(reply->headers, "retry-after"))};
  }
  if (count == 0) {
    if (trimmed(whole).empty()) {
      return {.reply = external("the reply is empty", http::to_text(endpoint.base))};
    }
    if (const auto taken = decoder->take_whole(without_key(whole, key)); !taken) {
      return with_place(taken.error());
    }
  }
  Result<ModelReply> read = decoder->end();
  if (!read) {
    return with_place(read.error());
  }
  return {.reply = reply_without_key(*std::move(read), key), .is_paid = true};
}

// Of a reply that was cut nobody knows how much was said: all that came, words of the protocol
// among it, but no more than was allowed.
Usage usage_of(const Attempt& attempt, const http::Request& request, std::int64_t most_output) {
  if (!attempt.reply) {
    return {.input = estimated_tokens(request.body.size()),
            .output = std::min(estimated_tokens(attempt.streamed), most_output),
            .is_estimated = true};
  }
  if (attempt.reply->usage.input > 0) {
    return attempt.reply->usage;
  }
  std::size_t said = attempt.reply->text.size();
  for (const ToolCall& call : attempt.reply->calls) {
    said += call.name.size() + call.arguments.size();
  }
  return {.input = estimated_tokens(request.body.size()),
          .output = estimated_tokens(said),
          .is_estimated = true};
}

}  // namespace

Result<std::string> key_for(const http::Url& base, const Keys& keys) {
  std::string key = keys.own;
  const Protocol maker = usual_protocol(base.host);
  if (key.empty() && maker == Protocol::kMessages) {
    key = keys.anthropic;
  } else if (key.empty() && maker == Protocol::kResponses) {
    key = keys.openai;
  }
  if (!key.empty() && !base.is_secure && !http::is_loopback(base.host)) {
    return invalid("a key would go over the network in the clear", http::to_text(base),
                   "https, an address of this machine, or no key in SEXTANT_LLM_KEY");
  }
  return key;
}

std::string shown_request(const Endpoint& endpoint, const Conversation& conversation) {
  Endpoint shown = endpoint;
  if (!shown.key.empty()) {
    shown.key = "[key]";
  }
  const http::Request request = request_of(shown, conversation, shown.most_output);
  return request_text(shown, request);
}

std::optional<Seconds> wait_before(int attempt, std::string_view retry_after) {
  if (const auto told = to_double(trimmed(retry_after)); told && *told >= 0.0) {
    return Seconds(*told) <= kLongestTold ? std::optional(Seconds(*told)) : std::nullopt;
  }
  Seconds wait = kFirstWait;
  for (int i = 2; i < attempt && wait < kLongestWait; ++i) {
    wait *= 2.0;
  }
  return std::min(wait, kLongestWait);
}

Wait waiting_for_stop(const std::atomic<bool>* stop) {
  return [stop](Seconds time) -> Result<void> {
    const http::Patience patience = http::patience_of(time, stop);
    while (std::chrono::steady_clock::now() < patience.until) {
      if (patience.is_stopped()) {
        return external("stopped while waiting for the endpoint");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
  };
}

Result<ModelReply> reply_from(const Endpoint& endpoint, const Conversation& conversation,
                              Spending& spending, const Wait& wait) {
  const auto once = [&]() -> tl::expected<ModelReply, FailedAttempt> {
    http::Request request = request_of(endpoint, conversation, endpoint.most_output);
    const auto most =
        spending.most_output(estimated_tokens(request.body.size()), endpoint.most_output);
    if (!most) {
      return tl::unexpected(FailedAttempt{no_budget(spending)});
    }
    if (*most < endpoint.most_output) {
      request = request_of(endpoint, conversation, *most);
    }
    Attempt tried = attempted(endpoint, request);
    if (tried.is_paid) {
      spending.add(usage_of(tried, request, std::min(*most, endpoint.most_output)));
    }
    if (!tried.reply) {
      return tl::unexpected(FailedAttempt{std::move(tried.reply.error()), tried.is_worth_another,
                                          std::move(tried.retry_after)});
    }
    return *std::move(tried.reply);
  };
  return tried_until<ModelReply>(endpoint, wait, once);
}

}  // namespace sextant::llm
