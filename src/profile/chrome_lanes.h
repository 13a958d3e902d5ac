// Lanes of a whole-job trace, and which ranks they turn out to be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/json_skim.h"
#include "profile/raw_table.h"
#include "timeline/recording.h"

namespace sextant::profile {

class ChromeLanes {
 public:
  static constexpr std::size_t kMostLanes = 65'536;

  explicit ChromeLanes(timeline::Timeline& timeline) : timeline_(timeline) {}

  std::optional<timeline::LaneId> lane(const RawValue& process, const RawValue& thread);
  void name_process(const RawValue& process, std::string_view name);
  void name_thread(const RawValue& process, const RawValue& thread, std::string_view name);

  struct Ranks {
    std::vector<RankId> of_lane;
    std::vector<timeline::RecordedRank> ranks;  // by rank
  };
  // Names the lanes; whose each of them is, as far as the names say.
  [[nodiscard]] Ranks settle();

 private:
  struct Made {
    std::string process, thread;
  };
  timeline::Timeline& timeline_;
  RawTable texts_{std::size_t{8} << 20U};
  std::vector<Made> made_;  // of each lane of the timeline
  std::map<std::string, std::string, std::less<>> process_names_;
  std::map<std::pair<std::string, std::string>, std::string> thread_names_;
};

// "PP rank 0, TP rank 3, compute" → {{"pp", 0}, {"tp", 3}}; "rank 7" → {{"", 7}}.
std::map<std::string, std::int64_t> coordinates_of(std::string_view text);

}  // namespace sextant::profile
