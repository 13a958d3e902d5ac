// Lanes of a PyTorch profile, found by the process and thread as they stand in the text.
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
#include "timeline/timeline.h"

namespace sextant::profile {

class KinetoLanes {
 public:
  // A machine has some hundred threads and streams; a lane that is one too many is not made.
  static constexpr std::size_t kMostLanes = 65'536;

  explicit KinetoLanes(timeline::Timeline& timeline) : timeline_(timeline) {}

  // The lane; nothing if there are too many.
  std::optional<timeline::LaneId> lane(const RawValue& process, const RawValue& thread,
                                       timeline::Place place);
  // The lane's name, which the source may say before or after its first span.
  void name(const RawValue& process, const RawValue& thread, std::string_view name);
  // Names the lanes made so far, and begins anew with lanes of that rank.
  void begin_document(RankId rank);
  // The device that most streams were of; nothing where there is none.
  [[nodiscard]] std::optional<std::int64_t> device() const;

 private:
  struct Memo {
    std::string process, thread;
    timeline::LaneId lane;
    bool is_set = false;
  };
  struct Made {
    timeline::LaneId lane;
    bool is_host = false;
  };
  std::optional<timeline::LaneId> find(const RawValue& process, const RawValue& thread,
                                       timeline::Place place);
  timeline::LaneId make(const RawValue& process, const RawValue& thread, timeline::Place place);

  timeline::Timeline& timeline_;
  RankId rank_;
  Memo host_, device_;  // the last of each: most events lie where the one before did
  RawTable texts_{std::size_t{8} << 20U};
  std::vector<timeline::LaneId> made_;  // by number in texts_
  // By place and number of the stream or thread: the processes that have it.
  std::map<std::pair<timeline::Place, std::int64_t>, std::vector<std::string>> owners_;
  std::map<std::int64_t, std::int64_t> streams_;  // of a device
  std::vector<std::pair<std::pair<std::string, std::string>, std::string>> names_;
};

}  // namespace sextant::profile
