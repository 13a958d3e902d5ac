// Requests that are being answered, so that they can be cancelled by their id.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "front/mcp/json.h"

namespace sextant::front::mcp {

class InFlight {
 public:
  using Stop = std::shared_ptr<std::atomic<bool>>;

  // Null where one of that id is there already: ids are a client's to keep apart.
  Stop begin(const Json& id);
  void end(const Json& id);
  // Of a request that is not there nothing happens: it may have ended just now.
  void cancel(const Json& id);
  void cancel_all();

 private:
  std::mutex mutex_;
  std::map<std::string, Stop> stops_;
};

}  // namespace sextant::front::mcp
