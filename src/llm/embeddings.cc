#include "llm/embeddings.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "http/client.h"
#include "llm/attempts.h"
#include "llm/json.h"

namespace sextant::llm {
namespace {

constexpr const char* kInVectors = "the server's embeddings";

http::Request embeddings_request(const Endpoint& endpoint, const std::string& model,
                                 std::span<const std::string> texts) {
  http::Headers headers = protocol_headers(endpoint.protocol, endpoint.key);
  for (http::Header& header : headers) {
    if (header.name == "Accept") {
      header.value = "application/json";
    }
  }
  return {.method = "POST",
          .target = endpoint_target(endpoint, "/embeddings"),
          .headers = std::move(headers),
          .body = embeddings_body(model, texts)};
}

Result<Vector> vector_of(const Json& values) {
  if (!values.is_array() || values.empty() || values.size() > kMostDimensions) {
    return external(fmt::format("a vector of {} numbers, not of 1 to {}",
                                values.is_array() ? values.size() : 0, kMostDimensions),
                    kInVectors);
  }
  Vector vector;
  vector.reserve(values.size());
  double square = 0.0;
  for (const Json& value : values) {
    const double number =
        value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(number) || std::abs(number) > 1e18) {
      return external("a vector holds what is no number", kInVectors);
    }
    square += number * number;
    vector.push_back(static_cast<float>(number));
  }
  if (square <= 0.0) {
    return external("a vector is zero", kInVectors);
  }
  return vector;
}

// What one attempt's bytes come to, the key in none of it.
tl::expected<Embeddings, FailedAttempt> read_reply(const Result<http::Reply>& reply,
                                                   const Endpoint& endpoint, std::size_t count) {
  if (!reply) {
    Error error = reply.error();
    error.what = without_key(std::move(error.what), endpoint.key);
    const bool may_pass = error.kind == ErrorKind::kExternal;
    return tl::unexpected(FailedAttempt{std::move(error), may_pass});
  }
  if (reply->status < 200 || reply->status >= 300) {
    return tl::unexpected(
        FailedAttempt{refusal_error(*reply, endpoint), is_worth_another(reply->status),
                      std::string(http::value_of(reply->headers, "retry-after"))});
  }
  auto found = parse_embeddings(without_key(reply->body, secret_key(endpoint)), count);
  if (!found) {
    return tl::unexpected(FailedAttempt{std::move(found.error())});
  }
  return *std::move(found);
}

}  // namespace

std::string embeddings_body(const std::string& model, std::span<const std::string> texts) {
  Json input = Json::array();
  for (const std::string& text : texts) {
    input.push_back(text);
  }
  return dumped({{"model", model}, {"input", std::move(input)}, {"encoding_format", "float"}});
}

Result<Embeddings> parse_embeddings(std::string_view body, std::size_t count) {
  SEXTANT_TRY(const Json json, parsed_object(body, kInVectors));
  const Json& data = member(json, "data");
  if (!data.is_array() || data.size() != count) {
    return external(
        fmt::format("{} vectors for {} texts", data.is_array() ? data.size() : 0, count),
        kInVectors);
  }
  Embeddings found{.vectors = std::vector<Vector>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Json& place = member(data[i], "index");
    const std::size_t at =
        place.is_number_integer() ? static_cast<std::size_t>(count_of(data[i], "index")) : i;
    if (at >= count || !found.vectors[at].empty()) {
      return external("two vectors of one text", kInVectors);
    }
    SEXTANT_TRY(found.vectors[at], vector_of(member(data[i], "embedding")));
    if (found.vectors[at].size() != member(data[0], "embedding").size()) {
      return external("vectors of different sizes", kInVectors);
    }
  }
  found.usage.input = count_of(member(json, "usage"), "prompt_tokens");
  return found;
}

std::string shown_embeddings(const Endpoint& endpoint, const std::string& model,
                             std::span<const std::string> texts) {
  Endpoint shown = endpoint;
  shown.key = shown.key.empty() ? "" : "[key]";
  return request_text(shown, embeddings_request(shown, model, texts));
}

Result<std::vector<Vector>> embedded(const Endpoint& endpoint, const std::string& model,
                                     std::span<const std::string> texts, Spending& spending,
                                     const Wait& wait) {
  const http::Request request = embeddings_request(endpoint, model, texts);
  const auto once = [&]() -> tl::expected<std::vector<Vector>, FailedAttempt> {
    const std::int64_t input = estimated_tokens(request.body.size());
    if (!spending.most_output(input, 1)) {
      return tl::unexpected(FailedAttempt{no_budget(spending)});
    }
    auto found =
        read_reply(http::reply_to(request, endpoint.base, endpoint.client), endpoint, texts.size());
    if (!found) {
      return tl::unexpected(std::move(found.error()));
    }
    const bool is_counted = found->usage.input > 0;
    spending.add({.input = is_counted ? found->usage.input : input, .is_estimated = !is_counted});
    return std::move(found->vectors);
  };
  return tried_until<std::vector<Vector>>(endpoint, wait, once);
}

double cosine(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) {
    return 0.0;
  }
  const auto product = [](const Vector& left, const Vector& right) {
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
  };
  const double lengths = std::sqrt(product(a, a) * product(b, b));
  return lengths > 0.0 ? product(a, b) / lengths : 0.0;
}

}  // namespace sextant::llm
