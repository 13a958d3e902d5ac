// What a reader could not read, counted by reason on the way and listed at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/recording.h"

namespace sextant::profile {

class Losses {
 public:
  void add(std::string_view what, std::int64_t count = 1) {
    if (count == 0) {
      return;
    }
    const auto known = counts_.find(what);
    if (known != counts_.end()) {
      known->second += count;
    } else if (counts_.size() < kMostReasons) {
      counts_.emplace(what, count);
    } else {
      others_ += count;
    }
  }
  // By reason.
  [[nodiscard]] std::vector<timeline::Unread> list() const {
    std::vector<timeline::Unread> all;
    for (const auto& [what, count] : counts_) {
      all.push_back({what, count});
    }
    if (others_ > 0) {
      all.push_back({"of other kinds", others_});
    }
    return all;
  }

 private:
  // Reasons may name what the file says.
  static constexpr std::size_t kMostReasons = 100;
  std::map<std::string, std::int64_t, std::less<>> counts_;
  std::int64_t others_ = 0;
};

}  // namespace sextant::profile
