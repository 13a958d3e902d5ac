#include "explain/json.h"

namespace sextant::explain {

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sextant::explain
