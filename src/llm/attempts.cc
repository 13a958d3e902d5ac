#include "llm/attempts.h"

#include <fmt/format.h>

#include "base/text.h"
#include "llm/json.h"

namespace sextant::llm {
namespace {

constexpr std::size_t kShownMessage = 300;

}  // namespace

std::string endpoint_target(const Endpoint& endpoint, std::string_view path) {
  http::Url base = endpoint.base;
  if (base.path.empty()) {
    base.path = "/v1";
  }
  return http::target_of(base, path);
}

std::string without_key(std::string text, const std::string& key) {
  constexpr std::string_view kPlace = "[key]";
  if (key.empty()) {
    return text;
  }
  // On behind the replacement, which may hold a short key itself.
  for (std::size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + kPlace.size())) {
    text.replace(at, key.size(), kPlace);
  }
  return text;
}

bool is_worth_another(int status) {
  return status == 408 || status == 409 || status == 429 || (status >= 500 && status < 600);
}

Error refusal_error(const http::Reply& reply, const Endpoint& endpoint) {
  const auto json = parsed_object(reply.body, "");
  const std::string said = without_key(json ? error_message(*json) : "", endpoint.key);
  return {
      ErrorKind::kExternal,
      fmt::format("the endpoint answers {}{}{}{}{}", reply.status,
                  http::reason_of(reply.status).empty() ? "" : " ", http::reason_of(reply.status),
                  said.empty() ? "" : ": ", printable(said, kShownMessage)),
      http::to_text(endpoint.base),
      {}};
}

std::string secret_key(const Endpoint& endpoint) {
  constexpr std::size_t kShortestSecret = 12;
  return endpoint.key.size() < kShortestSecret ? std::string() : endpoint.key;
}

Error no_budget(const Spending& spending) {
  return {ErrorKind::kExternal,
          fmt::format("the budget does not allow another request ({})", spending.to_text()),
          {},
          {}};
}

std::string request_text(const Endpoint& endpoint, const http::Request& request) {
  std::string text =
      fmt::format("{} {}://{}{}\n", request.method, endpoint.base.is_secure ? "https" : "http",
                  http::host_text(endpoint.base), request.target);
  for (const http::Header& header : request.headers) {
    text += fmt::format("{}: {}\n", header.name, header.value);
  }
  return text + "\n" + request.body + "\n";
}

std::optional<Error> no_other_attempt(const Endpoint& endpoint, int attempt, FailedAttempt failed,
                                      const Wait& wait) {
  const bool is_stopped = endpoint.client.stop != nullptr && *endpoint.client.stop;
  if (!failed.is_worth_another || attempt >= endpoint.attempts || is_stopped) {
    return std::move(failed.error);
  }
  const auto pause = wait_before(attempt + 1, failed.retry_after);
  if (!pause) {
    failed.error.what += fmt::format("; it asks to wait {} s", printable(failed.retry_after));
    return std::move(failed.error);
  }
  if (const auto waited = wait(*pause); !waited) {
    return waited.error();
  }
  return std::nullopt;
}

}  // namespace sextant::llm
