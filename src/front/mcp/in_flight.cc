#include "front/mcp/in_flight.h"

namespace sextant::front::mcp {

InFlight::Stop InFlight::begin(const Json& id) {
  const std::scoped_lock lock(mutex_);
  const auto [at, is_new] = stops_.try_emplace(one_line(id));
  if (!is_new) {
    return nullptr;
  }
  at->second = std::make_shared<std::atomic<bool>>(false);
  return at->second;
}

void InFlight::end(const Json& id) {
  const std::scoped_lock lock(mutex_);
  stops_.erase(one_line(id));
}

void InFlight::cancel(const Json& id) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = stops_.find(one_line(id)); found != stops_.end()) {
    found->second->store(true);
  }
}

void InFlight::cancel_all() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, stop] : stops_) {
    stop->store(true);
  }
}

}  // namespace sextant::front::mcp
