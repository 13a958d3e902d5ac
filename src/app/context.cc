#include "app/context.h"

namespace sextant::app {
namespace {

// By either spelling, as other programs read them.
std::string proxy_variable(const Surroundings& surroundings, const char* lower, const char* upper) {
  return surroundings.variable(lower).value_or(surroundings.variable(upper).value_or(""));
}

NetworkSurroundings network_of(const Surroundings& surroundings) {
  const auto variable = [&](const char* name) { return surroundings.variable(name).value_or(""); };
  return {.keys = {.own = variable("SEXTANT_LLM_KEY"),
                   .openai = variable("OPENAI_API_KEY"),
                   .anthropic = variable("ANTHROPIC_API_KEY")},
          .proxies = {.http = proxy_variable(surroundings, "http_proxy", "HTTP_PROXY"),
                      .https = proxy_variable(surroundings, "https_proxy", "HTTPS_PROXY"),
                      .none = proxy_variable(surroundings, "no_proxy", "NO_PROXY")},
          .certificates = variable("SSL_CERT_FILE")};
}

}  // namespace

Result<Context> load_context(const std::map<std::string, Setting>& given,
                             const Surroundings& surroundings) {
  Context context;
  SEXTANT_TRY(context.settings, load_settings(given, surroundings));
  if (const std::string& folder = context.settings.at("data").value; !folder.empty()) {
    SEXTANT_TRY(context.data, describe::DataStore::with_override(folder));
  }
  context.kb_file = context.settings.at("kb").value;
  if (const auto folder = user_data_folder(surroundings);
      context.kb_file.empty() && !folder.empty()) {
    context.kb_file = folder / "kb.sqlite";
  }
  context.user = surroundings.variable("USER").value_or("");
  context.now = surroundings.now ? surroundings.now() : "";
  context.network = network_of(surroundings);
  return context;
}

}  // namespace sextant::app
