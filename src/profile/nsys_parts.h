// What the parts of the reader of Nsight's exports share. Nobody else includes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/losses.h"
#include "profile/nsys.h"
#include "profile/nsys_database.h"
#include "timeline/recording.h"

namespace sextant::profile {

// A process as Nsight numbers it: globalPid and globalTid without the thread in their last 24 bits.
using NsysProcess = std::int64_t;
constexpr NsysProcess nsys_process(std::int64_t global_id) {
  return global_id >> 24;
}
constexpr std::int64_t nsys_thread(std::int64_t global_id) {
  return global_id & 0xffffff;
}
constexpr std::int64_t nsys_pid(NsysProcess process) {
  return process & 0xffffff;
}

// A device's work or a call: (process, correlation).
struct NsysCall {
  NsysProcess process = 0;
  std::int64_t correlation = 0;
  bool operator==(const NsysCall&) const = default;
};
struct NsysCallHash {
  std::size_t operator()(const NsysCall& call) const {
    const std::uint64_t mixed = static_cast<std::uint64_t>(call.process) * 0x9e3779b97f4a7c15U +
                                static_cast<std::uint64_t>(call.correlation);
    return mixed ^ (mixed >> 29U);
  }
};

// Who waits for what.
enum class NsysWaitKind : std::uint8_t {
  kUnknown,
  kNone,  // it only asks
  kHostForEvent,
  kStreamForEvent,
  kHostForStream,
  kHostForAll
};

// Entries of what is kept beside the Recording itself.
constexpr std::size_t kMostNsysNames = 200'000;
constexpr std::size_t kMostNsysWaits = 20'000'000;
constexpr std::size_t kMostMemoryPoints = 20'000'000;
constexpr std::size_t kMostNotedSteps = 1'000'000;

class NsysReading {
 public:
  NsysReading(Database database, std::string source, const NsysOptions& options);
  timeline::Recording read();

 private:
  struct Place {
    std::int64_t device = 0;
    NsysProcess process = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct LaneKey {
    RankId rank;
    timeline::Place place = timeline::Place::kDevice;
    std::int64_t stream = 0;
    auto operator<=>(const LaneKey&) const = default;
  };
  using Times = std::pair<std::int64_t, std::int64_t>;  // start and end, in nanoseconds
  struct OnDevice {
    std::optional<timeline::LaneId> lane;
    std::optional<std::int64_t> correlation;
    Times time;
  };
  struct CallLabel {
    timeline::LabelId label;
    NsysWaitKind waits = NsysWaitKind::kUnknown;
  };
  // A wait until the name of the call that asked for it is known.
  struct Wait {
    timeline::StreamWait wait;
    NsysCall call;
    NsysWaitKind kind = NsysWaitKind::kUnknown;
    std::int64_t event = 0;  // eventSyncId; 0: none
  };
  struct NamedRange {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::optional<std::int64_t> number;
  };

  // nsys_ranks.cc
  void find_ranks();
  void state_rank();
  void describe_ranks();
  std::optional<timeline::RecordedDevice> device_of(const Place& place);
  [[nodiscard]] std::optional<RankId> rank_of(NsysProcess process, std::int64_t device) const;
  // nsys_device.cc
  // Of a row whose columns begin with start, end, deviceId, streamId, globalPid, correlationId.
  std::optional<OnDevice> on_device(const DatabaseRow& row, std::string_view what);
  timeline::LabelId kernel_label(const DatabaseRow& row, int first_name);
  [[nodiscard]] timeline::Label kernel_label_of(const std::string& name) const;
  void read_kernels();
  void read_copies();
  void read_sets();
  void read_graphs();
  void read_memory();
  // nsys_host.cc
  void read_threads();
  [[nodiscard]] std::optional<RankId> rank_of_call(NsysProcess process,
                                                   std::optional<std::int64_t> correlation) const;
  void read_calls();
  void read_ranges();
  void add_range(const DatabaseRow& row);
  void note_step(std::int64_t thread, std::string_view name, const Times& time);
  // nsys_waits.cc
  static NsysWaitKind wait_kind(std::string_view call);
  [[nodiscard]] std::optional<RankId> rank_of_wait(NsysProcess process, std::int64_t device) const;
  void read_waits();
  void note_wait_call(const NsysCall& call, NsysWaitKind kind);
  void resolve_waits();
  // nsys_steps.cc
  void choose_steps();
  // nsys.cc
  void for_each(std::string_view table, std::initializer_list<std::string_view> columns,
                const std::function<void(const DatabaseRow&)>& take);
  const std::string& string_of(std::int64_t id);
  // The first two columns of a row, where they are times in order.
  std::optional<Times> times(const DatabaseRow& row, std::string_view what);
  std::optional<timeline::LaneId> device_lane(RankId rank, std::int64_t stream);
  std::optional<timeline::LaneId> host_lane(RankId rank, std::int64_t global_thread);
  void add(std::optional<timeline::LaneId> lane, timeline::LabelId label,
           std::optional<std::int64_t> correlation, const Times& time);

  Database database_;
  const NsysOptions& options_;
  timeline::Recording out_;
  Losses losses_;
  std::int64_t spans_left_ = 0;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<Place, RankId> ranks_;
  std::map<NsysProcess, std::vector<RankId>> ranks_of_;
  std::map<LaneKey, timeline::LaneId> lanes_;
  std::map<std::int64_t, std::string> thread_names_;
  std::unordered_map<std::int64_t, timeline::LabelId> kernel_labels_;  // by number of the name
  std::unordered_map<std::int64_t, CallLabel> call_labels_;            // by number of the name
  // Where a call of a process with several devices sent its work.
  std::unordered_map<NsysCall, RankId, NsysCallHash> sent_to_;
  std::vector<Wait> waits_;
  std::unordered_map<NsysCall, NsysWaitKind, NsysCallHash> wait_calls_;
  std::size_t noted_steps_ = 0;
  // Ranges that may be steps, by thread and row of names.
  std::map<std::pair<std::int64_t, std::string>, std::vector<NamedRange>> step_rows_;
};

}  // namespace sextant::profile
