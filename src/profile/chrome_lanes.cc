#include "profile/chrome_lanes.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace sextant::profile {
namespace {

using timeline::RecordedRank;

// Nothing but the last part of a thread's name tells its lanes apart once their rank is known.
std::string last_part(std::string_view name) {
  return std::string(trimmed(name.substr(name.rfind(',') + 1)));
}

using Coordinates = std::map<std::string, std::int64_t>;

bool is_in_layout(const Coordinates& at) {
  return !at.empty() && !at.contains("") && std::all_of(at.begin(), at.end(), [](const auto& one) {
    return one.first == "dp" || one.first == "pp" || one.first == "tp";
  });
}

std::int64_t coordinate(const Coordinates& at, const std::string& axis) {
  const auto found = at.find(axis);
  return found == at.end() ? 0 : found->second;
}

// Tensor fastest, then data, then pipeline. Source: Megatron-LM, megatron/core/parallel_state.py,
// order "tp-cp-ep-dp-pp".
std::int64_t rank_in_layout(const Coordinates& at, const Coordinates& sizes) {
  const std::int64_t tp = coordinate(sizes, "tp") + 1;
  const std::int64_t dp = coordinate(sizes, "dp") + 1;
  return (coordinate(at, "pp") * dp + coordinate(at, "dp")) * tp + coordinate(at, "tp");
}

// By number where processes have numbers, else as they came.
std::map<std::string, std::int64_t> process_ranks(const std::vector<std::string>& processes) {
  std::set<std::pair<std::int64_t, std::string>> order;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    order.insert({to_integer(processes[i]).value_or(static_cast<std::int64_t>(i)), processes[i]});
  }
  std::map<std::string, std::int64_t> ranks;
  for (const auto& [number, process] : order) {
    ranks.try_emplace(process, static_cast<std::int64_t>(ranks.size()));
  }
  return ranks;
}

}  // namespace

std::map<std::string, std::int64_t> coordinates_of(std::string_view text) {
  constexpr std::int64_t kMostRank = 10'000'000;
  const std::string lower = to_lower(text.substr(0, 256));
  Coordinates found;
  for (std::size_t at = lower.find("rank"); at != std::string::npos; at = lower.find("rank", at)) {
    const std::string_view before = trimmed(std::string_view(lower).substr(0, at));
    const std::size_t space = before.find_last_of(" ,;:/(");
    const std::string_view axis = before.substr(space == std::string_view::npos ? 0 : space + 1);
    at += 4;
    std::size_t from = at;
    while (from < lower.size() && (lower[from] == ' ' || lower[from] == '[' || lower[from] == '-' ||
                                   lower[from] == '_' || lower[from] == ':')) {
      from += 1;
    }
    std::size_t end = from;
    while (end < lower.size() && is_digit(lower[end])) {
      end += 1;
    }
    const auto number = to_integer(std::string_view(lower).substr(from, end - from));
    if (number && *number <= kMostRank) {
      found.try_emplace(std::string(axis), *number);
    }
  }
  return found;
}

std::optional<timeline::LaneId> ChromeLanes::lane(const RawValue& process, const RawValue& thread) {
  const RawTable::Found found = texts_.find_or_add(RawTable::Parts<2>{process.text, thread.text});
  if (found.number >= kMostLanes) {  // kNoRoom too
    return std::nullopt;
  }
  if (found.is_new) {
    // Each lane by itself until names say whose they are.
    made_.push_back({std::string(process.text), std::string(thread.text)});
    const auto number = static_cast<std::int64_t>(found.number);
    timeline_.lane({-1 - number}, {integer_of(thread).value_or(number)});
  }
  return timeline::LaneId{found.number};
}

void ChromeLanes::name_process(const RawValue& process, std::string_view name) {
  if (process_names_.size() < kMostLanes) {
    process_names_.insert_or_assign(std::string(process.text), std::string(name));
  }
}

void ChromeLanes::name_thread(const RawValue& process, const RawValue& thread,
                              std::string_view name) {
  if (thread_names_.size() < kMostLanes) {
    thread_names_.insert_or_assign({std::string(process.text), std::string(thread.text)},
                                   std::string(name));
  }
}

ChromeLanes::Ranks ChromeLanes::settle() {
  std::vector<std::string> processes;
  std::vector<Coordinates> places;
  Coordinates sizes;  // less one
  bool has_layout = !made_.empty();
  for (std::size_t i = 0; i < made_.size(); ++i) {
    const auto process = process_names_.find(made_[i].process);
    const auto thread = thread_names_.find({made_[i].process, made_[i].thread});
    Coordinates at;
    if (thread != thread_names_.end()) {
      at = coordinates_of(thread->second);
      timeline_.name_lane({static_cast<std::int64_t>(i)}, last_part(thread->second));
    }
    if (process != process_names_.end()) {
      at.merge(coordinates_of(process->second));
    }
    has_layout = has_layout && is_in_layout(at);
    for (const auto& [axis, place] : at) {
      std::int64_t& size = sizes[axis];
      size = std::max(size, place);
    }
    processes.push_back(made_[i].process);
    places.push_back(std::move(at));
  }
  const auto by_process = process_ranks(processes);
  std::map<RankId, RecordedRank> ranks;
  Ranks settled;
  for (std::size_t i = 0; i < made_.size(); ++i) {
    const auto said = places[i].find("");
    const bool is_stated = !has_layout && said != places[i].end();
    const RankId rank{has_layout  ? rank_in_layout(places[i], sizes)
                      : is_stated ? said->second
                                  : by_process.at(made_[i].process)};
    RecordedRank recorded{.rank = rank, .is_stated = is_stated};
    if (has_layout) {
      recorded.coordinates.assign(places[i].begin(), places[i].end());
    }
    ranks.try_emplace(rank, std::move(recorded));
    settled.of_lane.push_back(rank);
  }
  for (auto& [rank, recorded] : ranks) {
    settled.ranks.push_back(std::move(recorded));
  }
  return settled;
}

}  // namespace sextant::profile
