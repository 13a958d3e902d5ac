#include "profile/kineto_lanes.h"

#include <algorithm>

#include "base/text.h"

namespace sextant::profile {
namespace {

using timeline::LaneId;
using timeline::Place;

// Between the numbers of the first, second, … process that has a thread or stream of a number.
// Beyond what systems give threads (2^22) and runtimes give streams.
constexpr std::int64_t kProcessDistance = std::int64_t{1} << 32U;
constexpr std::size_t kMostNames = 65'536;

std::string_view place_text(Place place) {
  return place == Place::kHost ? "h" : "d";
}

// "7", "stream 7": the number; of what has none ("PyTorch Profiler") one made of the text, below
// zero, where no system has threads.
std::int64_t lane_number(const RawValue& value) {
  if (const auto number = integer_of(value)) {
    return *number;
  }
  const std::string_view text = trimmed(value.text);
  std::size_t from = text.size();
  while (from > 0 && text.size() - from < 9 && is_digit(text[from - 1])) {
    from -= 1;
  }
  if (from < text.size()) {
    return to_integer(text.substr(from)).value_or(-1);
  }
  std::int64_t sum = 0;
  for (const char c : text.substr(0, 64)) {
    sum = (sum * 31 + static_cast<unsigned char>(c)) % 1'000'003;
  }
  return -2 - sum;
}

}  // namespace

std::optional<LaneId> KinetoLanes::lane(const RawValue& process, const RawValue& thread,
                                        Place place) {
  Memo& memo = place == Place::kHost ? host_ : device_;
  const bool is_same = memo.thread == thread.text && memo.process == process.text;
  if (memo.is_set && is_same) {
    return memo.lane;
  }
  const auto found = find(process, thread, place);
  if (found) {
    memo = {std::string(process.text), std::string(thread.text), *found, true};
  }
  return found;
}

std::optional<LaneId> KinetoLanes::find(const RawValue& process, const RawValue& thread,
                                        Place place) {
  const RawTable::Found found =
      texts_.find_or_add(RawTable::Parts<3>{place_text(place), process.text, thread.text});
  if (found.number >= kMostLanes) {  // kNoRoom too
    return std::nullopt;
  }
  if (found.is_new) {
    made_.push_back(make(process, thread, place));
  }
  return made_[found.number];
}

LaneId KinetoLanes::make(const RawValue& process, const RawValue& thread, Place place) {
  const std::int64_t number = lane_number(thread);
  std::vector<std::string>& owners = owners_[{place, number}];
  const auto owner = std::find(owners.begin(), owners.end(), process.text);
  const std::int64_t before = owner - owners.begin();
  if (owner == owners.end()) {
    owners.emplace_back(process.text);
  }
  if (place == Place::kDevice) {
    streams_[lane_number(process)] += 1;
  }
  const bool is_far = number > kProcessDistance || number < -kProcessDistance;
  const std::int64_t unique = is_far ? number : number + before * kProcessDistance;
  return timeline_.lane(rank_, {unique}, {}, place);
}

void KinetoLanes::name(const RawValue& process, const RawValue& thread, std::string_view name) {
  if (names_.size() < kMostNames) {
    names_.push_back({{std::string(process.text), std::string(thread.text)}, std::string(name)});
  }
}

void KinetoLanes::begin_document(RankId rank) {
  for (const auto& [at, name] : names_) {
    for (const Place place : {Place::kHost, Place::kDevice}) {
      const RawTable::Found found =
          texts_.find_or_add(RawTable::Parts<3>{place_text(place), at.first, at.second});
      if (found.is_new) {
        made_.push_back({-1});
      } else if (found.number < made_.size() && made_[found.number].value >= 0) {
        timeline_.name_lane(made_[found.number], name);
      }
    }
  }
  texts_.clear();
  made_.clear();
  owners_.clear();
  names_.clear();
  streams_.clear();
  host_ = {};
  device_ = {};
  rank_ = rank;
}

std::optional<std::int64_t> KinetoLanes::device() const {
  const auto most =
      std::max_element(streams_.begin(), streams_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == streams_.end() ? std::nullopt : std::optional(most->first);
}

}  // namespace sextant::profile
