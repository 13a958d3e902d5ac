#include "front/mcp/sessions.h"

#include <random>

#include <fmt/format.h>

namespace sextant::front::mcp {
namespace {

std::string unguessable() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) {
    id += fmt::format("{:08x}", random());
  }
  return id;
}

}  // namespace

std::string Sessions::begin() {
  std::string id = unguessable();
  const std::scoped_lock lock(mutex_);
  turns_.push_front(id);
  places_[id] = {std::make_shared<Session>(), turns_.begin()};
  if (turns_.size() > kMostSessions) {
    places_.at(turns_.back()).session->requests.cancel_all();
    places_.erase(turns_.back());
    turns_.pop_back();
  }
  return id;
}

std::shared_ptr<Session> Sessions::find(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(id);
  if (found == places_.end()) {
    return nullptr;
  }
  turns_.splice(turns_.begin(), turns_, found->second.turn);
  return found->second.session;
}

bool Sessions::end(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(id);
  if (found == places_.end()) {
    return false;
  }
  found->second.session->requests.cancel_all();
  turns_.erase(found->second.turn);
  places_.erase(found);
  return true;
}

}  // namespace sextant::front::mcp
