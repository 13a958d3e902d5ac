#include "front/mcp/server.h"

#include <algorithm>
#include <array>
#include <exception>

#include <fmt/format.h>

#include "base/text.h"
#include "front/mcp/base64.h"

namespace sextant::front::mcp {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";

// In the order of LogLevel, without kSilent.
constexpr auto kLogLevelWords = std::to_array<std::string_view>(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"});

// For how long a client may keep a list or a resource: nothing here changes while the server runs.
constexpr int kFreshMilliseconds = 300'000;

const Json& meta_of(const Request& request) {
  return object_of(request.params, "_meta");
}

Era era_of(const Request& request, const Exchange& exchange) {
  const bool says_version = meta_of(request).contains(kVersionKey);
  const bool header_says =
      exchange.headers && exchange.headers->version == std::string(kStatelessVersion);
  return says_version || header_says ? Era::kStateless : Era::kHandshake;
}

tl::unexpected<Failure> refused(int code, std::string message, Json data = nullptr,
                                int http_status = 200) {
  return tl::unexpected(Failure{code, std::move(message), std::move(data), http_status});
}

tl::unexpected<Failure> unsupported(const std::string& version) {
  return refused(
      kUnsupportedVersion, "Unsupported protocol version",
      {{"supported", Json::array({kStatelessVersion})}, {"requested", printable(version)}}, 400);
}

// Does a stateless request carry what it must?
tl::expected<void, Failure> check_meta(const Request& request, const Exchange& exchange) {
  const Json& meta = meta_of(request);
  for (const std::string_view key : {kVersionKey, kCapabilitiesKey}) {
    if (!meta.contains(key)) {
      return refused(kInvalidParams, fmt::format("params._meta lacks {}", key), nullptr, 400);
    }
  }
  const std::string version = text_of(meta, kVersionKey);
  if (version.empty() || !meta.at(std::string(kCapabilitiesKey)).is_object()) {
    return refused(kInvalidParams,
                   fmt::format("{} is text, {} an object", kVersionKey, kCapabilitiesKey), nullptr,
                   400);
  }
  if (exchange.headers) {
    if (const auto why = header_mismatch(request, *exchange.headers)) {
      return refused(kHeaderMismatch, "Header mismatch: " + *why, nullptr, 400);
    }
  }
  if (version != kStatelessVersion) {
    return unsupported(version);
  }
  return {};
}

// A request of the other era: one that comes after initialize, or may come before it.
tl::expected<void, Failure> check_handshake(const Request& request, const Exchange& exchange) {
  if (exchange.headers) {  // each POST may be the first that this process sees of a client
    const auto& version = exchange.headers->version;
    const bool known = !version || version == "2025-11-25" || version == "2025-06-18" ||
                       version == "2025-03-26" || request.method == "initialize";
    if (!known) {
      return unsupported(*version);
    }
    return {};
  }
  if (exchange.handshaken || request.method == "initialize" || request.method == "ping") {
    return {};
  }
  return refused(
      kInvalidParams,
      fmt::format("params._meta lacks {}, and nothing was initialized before", kVersionKey),
      {{"supported", Json::array({kStatelessVersion, kHandshakeVersion})}});
}

// A list and what a client may keep of it.
Json listed(std::string_view key, const std::vector<Named>& all) {
  Json list = Json::array();
  for (const Named& one : all) {
    list.push_back(one.listed);
  }
  return {{key, std::move(list)}};
}

bool may_be_kept(const std::string& method) {
  return method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
         method == "resources/templates/list" || method == "resources/read" ||
         method == "server/discover";
}

// What every result of the stateless era says beside itself.
Json completed(Json result, const std::string& method, const Json& info) {
  if (!result.contains("resultType")) {
    result["resultType"] = "complete";
  }
  result["_meta"][std::string(kServerKey)] = info;
  if (may_be_kept(method)) {
    result["ttlMs"] = kFreshMilliseconds;
    // An answer about somebody's files is nobody else's.
    result["cacheScope"] = method == "resources/read" ? "private" : "public";
  }
  return result;
}

Handled call_named(const std::vector<Named>& all, std::string_view what, const Call& call) {
  const std::string name = text_of(call.params, "name");
  const auto found = std::ranges::find_if(
      all, [&](const Named& one) { return text_of(one.listed, "name") == name; });
  if (found == all.end()) {
    return refused(kInvalidParams, fmt::format("there is no {} '{}'", what, printable(name)));
  }
  const auto arguments = call.params.find("arguments");
  if (arguments != call.params.end() && !arguments->is_object()) {
    return refused(kInvalidParams, "arguments are an object");
  }
  return found->handle(call);
}

Handled method_not_found(const std::string& method) {
  return refused(kMethodNotFound, fmt::format("there is no method '{}'", printable(method)),
                 nullptr, 404);
}

// The least that is sent of the log: of the stateless era what the request says, else what the
// connection was told.
LogLevel level_of(const Json& meta, const Exchange& exchange, Era era) {
  if (era == Era::kStateless) {
    return log_level(text_of(meta, kLogLevelKey)).value_or(LogLevel::kSilent);
  }
  return exchange.log_level == nullptr ? LogLevel::kSilent : exchange.log_level->load();
}

auto log_of(LogLevel least, const Exchange& exchange) {
  return [least, notify = exchange.notify](LogLevel level, const std::string& words) {
    if (level < least || least == LogLevel::kSilent || !notify) {
      return;
    }
    notify(notification_message("notifications/message",
                                {{"level", kLogLevelWords.at(static_cast<std::size_t>(level))},
                                 {"logger", "sextant"},
                                 {"data", words}}));
  };
}

tl::unexpected<Failure> no_log_level() {
  return refused(kInvalidParams,
                 fmt::format("the level is one of {}", fmt::join(kLogLevelWords, ", ")));
}

// Sends what is asked to be told, each number above the last.
auto progress_of(const Json& meta, const Exchange& exchange) {
  const auto token = meta.find("progressToken");
  const bool asked =
      token != meta.end() && (token->is_string() || token->is_number_integer()) && exchange.notify;
  return [asked, token = asked ? *token : Json(), notify = exchange.notify](
             std::int64_t done, std::int64_t of, const std::string& words) {
    if (!asked) {
      return;
    }
    Json params{{"progressToken", token}, {"progress", done}};
    if (of > 0) {
      params["total"] = of;
    }
    if (!words.empty()) {
      params["message"] = words;
    }
    notify(notification_message("notifications/progress", std::move(params)));
  };
}

}  // namespace

std::optional<LogLevel> log_level(std::string_view word) {
  const auto* const found = std::ranges::find(kLogLevelWords, word);
  return found == kLogLevelWords.end()
             ? std::nullopt
             : std::optional(static_cast<LogLevel>(found - kLogLevelWords.begin()));
}

bool may_take_long(const Request& request) {
  return request.method == "tools/call" || request.method == "resources/read" ||
         request.method == "prompts/get";
}

std::optional<std::string> header_mismatch(const Request& request, const RequestHeaders& headers) {
  const auto differs = [](std::string_view header, const std::optional<std::string>& said,
                          const std::string& body) -> std::optional<std::string> {
    if (!said) {
      return fmt::format("{} is missing", header);
    }
    if (*said != body) {
      return fmt::format("{} is '{}', the body says '{}'", header, printable(*said),
                         printable(body));
    }
    return std::nullopt;
  };
  if (auto why = differs("MCP-Protocol-Version", headers.version,
                         text_of(meta_of(request), kVersionKey))) {
    return why;
  }
  if (auto why = differs("Mcp-Method", headers.method, request.method)) {
    return why;
  }
  const bool by_uri = request.method == "resources/read";
  if (!by_uri && request.method != "tools/call" && request.method != "prompts/get") {
    return std::nullopt;
  }
  std::optional<std::string> name = headers.name;
  constexpr std::string_view kOpen = "=?base64?";
  constexpr std::string_view kClose = "?=";
  if (name && name->starts_with(kOpen) && name->ends_with(kClose) &&
      name->size() >= kOpen.size() + kClose.size()) {
    name = from_base64(
        std::string_view(*name).substr(kOpen.size(), name->size() - kOpen.size() - kClose.size()));
    if (!name) {
      return "Mcp-Name is no Base64";
    }
  }
  return differs("Mcp-Name", name, text_of(request.params, by_uri ? "uri" : "name"));
}

Answer Server::answer(const Request& request, const Exchange& exchange) const {
  const Era era = era_of(request, exchange);
  auto result = handled(request, exchange, era);
  if (!result) {
    const Failure& failure = result.error();
    // A handshake's client takes 404 for a session that has ended.
    const bool as_error = era == Era::kStateless || failure.code == kUnsupportedVersion;
    return {error_message(request.id, failure), as_error ? failure.http_status : 200};
  }
  if (era == Era::kStateless) {
    *result = completed(std::move(*result), request.method, offer_.info);
  }
  return {result_message(request.id, std::move(*result))};
}

Handled Server::handled(const Request& request, const Exchange& exchange, Era era) const {
  const auto sound =
      era == Era::kStateless ? check_meta(request, exchange) : check_handshake(request, exchange);
  if (!sound) {
    return tl::unexpected(sound.error());
  }
  const Json& meta = meta_of(request);
  if (meta.contains(kLogLevelKey) && !log_level(text_of(meta, kLogLevelKey))) {
    return no_log_level();
  }
  const Call call{.params = request.params,
                  .era = era,
                  .capabilities = object_of(meta, kCapabilitiesKey),
                  .client = text_of(object_of(meta, kClientKey), "name"),
                  .stop = exchange.stop,
                  .progress = progress_of(meta, exchange),
                  .log = log_of(level_of(meta, exchange, era), exchange)};
  if (era == Era::kHandshake) {
    if (request.method == "initialize") {
      return handshake(request.params);
    }
    if (request.method == "ping") {
      return Json::object();
    }
    if (request.method == "logging/setLevel") {
      return set_log_level(request.params, exchange);
    }
  } else if (request.method == "server/discover") {
    return discovered();
  }
  try {
    return dispatched(request.method, call);
  } catch (const std::exception&) {  // out of memory, or a bug: its words are not the client's
    call.log(LogLevel::kCritical, "a request failed inside");
    return refused(kInternalError, "the request failed inside");
  }
}

Json Server::capabilities() const {
  return {{"tools", Json::object()},
          {"resources", Json::object()},
          {"prompts", Json::object()},
          {"completions", Json::object()},
          {"logging", Json::object()}};
}

Handled Server::set_log_level(const Json& params, const Exchange& exchange) {
  const auto level = log_level(text_of(params, "level"));
  if (!level) {
    return no_log_level();
  }
  if (exchange.log_level == nullptr) {
    return refused(kInvalidRequest, "there is no session that could keep a level: initialize");
  }
  exchange.log_level->store(*level);
  return Json::object();
}

Json Server::handshake(const Json& params) const {
  const std::string asked = text_of(params, "protocolVersion");
  return {{"protocolVersion", asked == "2025-06-18" ? asked : std::string(kHandshakeVersion)},
          {"capabilities", capabilities()},
          {"serverInfo", offer_.info},
          {"instructions", offer_.instructions}};
}

Json Server::discovered() const {
  return {{"supportedVersions", Json::array({kStatelessVersion})},
          {"capabilities", capabilities()},
          {"instructions", offer_.instructions}};
}

Handled Server::dispatched(const std::string& method, const Call& call) const {
  const bool lists = method.ends_with("/list");
  if (lists && call.params.contains("cursor")) {
    return refused(kInvalidParams, "there is no further page: lists come whole");
  }
  if (method == "tools/list") {
    return listed("tools", offer_.tools);
  }
  if (method == "tools/call") {
    return call_named(offer_.tools, "tool", call);
  }
  if (method == "prompts/list") {
    return listed("prompts", offer_.prompts);
  }
  if (method == "prompts/get") {
    return call_named(offer_.prompts, "prompt", call);
  }
  if (method == "resources/list") {
    return Json{{"resources", offer_.resources}};
  }
  if (method == "resources/templates/list") {
    return Json{{"resourceTemplates", offer_.templates}};
  }
  if (method == "resources/read") {
    return read(call);
  }
  if (method == "completion/complete") {
    return offer_.complete(call);
  }
  return method_not_found(method);
}

Handled Server::read(const Call& call) const {
  const std::string uri = text_of(call.params, "uri");
  if (uri.empty()) {
    return refused(kInvalidParams, "params.uri is missing");
  }
  auto contents = offer_.read(uri, call);
  if (contents && contents->is_null()) {
    return refused(call.era == Era::kStateless ? kInvalidParams : kResourceNotFound,
                   "Resource not found", {{"uri", uri}});
  }
  return contents;
}

}  // namespace sextant::front::mcp
