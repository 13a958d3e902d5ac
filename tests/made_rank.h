// The program of one rank, written call by call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "made_fault.h"
#include "made_pass.h"
#include "made_run.h"

namespace sextant::tests {

// About 0 with a standard deviation of 1, never beyond 3.5: the same for the same key.
double noise_of(std::uint64_t seed, std::initializer_list<std::int64_t> key);
// In [0, 1).
double uniform_of(std::uint64_t seed, std::initializer_list<std::int64_t> key);

// Groups and collectives of the run, joined as its ranks name them.
class Meetings {
 public:
  Meetings(MadeRun& run, const MadePlan& plan, bool is_torchtitan)
      : run_(run), plan_(plan), is_torchtitan_(is_torchtitan) {}

  std::size_t group(workload::GroupKind kind, const std::vector<int>& ranks);
  // The next collective of the group on `rank`, or of the pair of ranks in it. The first to come
  // says what it is.
  std::size_t next(int rank, const MadeCollective& collective);
  // How much longer one in three of the group's collectives takes.
  void slow_down(std::size_t group, double times) { slow_[group] = times; }

 private:
  MadeRun& run_;
  const MadePlan& plan_;
  bool is_torchtitan_ = false;
  std::map<std::tuple<workload::GroupKind, std::vector<int>>, std::size_t> groups_;
  std::map<std::tuple<std::size_t, std::vector<int>, std::int64_t>, std::size_t> known_;
  std::map<std::tuple<int, std::size_t, std::vector<int>>, std::int64_t> counted_;
  std::map<std::size_t, double> slow_;
};

// What a microbatch, or the end of a step, goes on from.
struct Chain {
  std::optional<std::size_t> last;     // kernel
  std::vector<std::size_t> awaited;    // by the next kernel
  std::vector<std::size_t> unclaimed;  // messages that a later join waits for
};

class RankWriter {
 public:
  RankWriter(MadeRun& run, Meetings& meetings, const MadePlan& plan, int rank)
      : run_(run), meetings_(meetings), plan_(plan), rank_(rank) {}

  void begin_step(int step);
  [[nodiscard]] int step() const { return step_; }
  void open(const std::string& category, const std::string& name);
  void close();
  void pause(const std::string& category, const std::string& name, Seconds takes);
  // Until the work is done: a call inside "aten::item".
  void wait(std::size_t work);

  // A kernel on the compute stream; `times` as long as said.
  void kernel(Chain& chain, const std::string& name, Seconds takes, double times = 1.0);
  void copy(const std::string& name, std::int64_t bytes, Seconds takes);
  // A collective of the group on `stream`, after the chain's last kernel and `after`.
  std::size_t collective(const Chain& chain, int stream, const MadeCollective& what,
                         const std::vector<std::size_t>& after = {});

  // Everything takes so many times as long as it would: computing here, launching here.
  double slower = 1.0;
  Seconds launch_takes = 6_us;

  [[nodiscard]] std::size_t last_work() const { return run_.ranks[at()].works.size() - 1; }
  [[nodiscard]] bool has_work() const { return !run_.ranks[at()].works.empty(); }

 private:
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(rank_); }
  std::size_t launch(MadeWork work, const std::string& call);

  MadeRun& run_;
  Meetings& meetings_;
  const MadePlan& plan_;
  int rank_ = 0;
  int step_ = 0;
  std::int64_t kernels_ = 0;                      // of the step: what noise is told by
  std::int64_t launches_ = 0;                     // of the step
  std::map<std::size_t, std::int64_t> sequence_;  // of collectives, by group
  std::map<std::size_t, std::int64_t>
      messages_;  // of messages, by group: PyTorch counts these apart
};

}  // namespace sextant::tests
