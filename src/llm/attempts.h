// What every request to an endpoint has in common: where it goes, what of a failure may pass, and
// the key that is in nothing which is said of it. Included by .cc files of llm/ alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http/message.h"
#include "llm/endpoint.h"

namespace sextant::llm {

// "/v1/embeddings", below the endpoint's own path.
std::string endpoint_target(const Endpoint& endpoint, std::string_view path);

std::string without_key(std::string text, const std::string& key);
// A local server is often given a word for a key ("none", "EMPTY"), which a reply may well hold: ""
// then.
std::string secret_key(const Endpoint& endpoint);

// Of a reply whose status says no.
Error refusal_error(const http::Reply& reply, const Endpoint& endpoint);
bool is_worth_another(int status);

// Where nothing more may be spent.
Error no_budget(const Spending& spending);

// The request as text: its first line, headers and body.
std::string request_text(const Endpoint& endpoint, const http::Request& request);

struct FailedAttempt {
  Error error;
  bool is_worth_another = false;
  std::string retry_after = {};
};

// Nothing: another attempt may begin, after the pause that was waited for; else why none does.
std::optional<Error> no_other_attempt(const Endpoint& endpoint, int attempt, FailedAttempt failed,
                                      const Wait& wait);

// `once` until it succeeds or nothing is left to be hoped for.
template <typename Made>
Result<Made> tried_until(const Endpoint& endpoint, const Wait& wait,
                         const std::function<tl::expected<Made, FailedAttempt>()>& once) {
  for (int attempt = 1;; ++attempt) {
    tl::expected<Made, FailedAttempt> tried = once();
    if (tried) {
      return *std::move(tried);
    }
    if (auto error = no_other_attempt(endpoint, attempt, std::move(tried.error()), wait)) {
      return tl::unexpected(*std::move(error));
    }
  }
}

}  // namespace sextant::llm
