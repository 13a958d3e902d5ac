// What every use case needs: the data, and settings with where they came from.
#pragma once

#include <filesystem>
#include <string>

#include "app/settings.h"
#include "describe/data_store.h"
#include "http/proxy.h"
#include "llm/endpoint.h"

namespace sextant::app {

// What the environment says of the network; keys stand in no other place.
struct NetworkSurroundings {
  llm::Keys keys = {};
  http::ProxySettings proxies = {};
  std::string certificates = {};  // SSL_CERT_FILE
};

struct Context {
  describe::DataStore data;
  Settings settings;
  std::filesystem::path kb_file = {};  // the knowledge base's; empty: none is known
  std::string user = {};               // who asks; "": not known
  std::string now = {};                // RFC 3339, UTC; "": not known
  NetworkSurroundings network = {};
};

// The settings, and the data that they name.
Result<Context> load_context(const std::map<std::string, Setting>& given,
                             const Surroundings& surroundings);

}  // namespace sextant::app
