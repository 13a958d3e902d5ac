#include "made_run.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace sextant::tests {
namespace {

// What a device takes from a call's end to the first instruction, and between two kernels.
constexpr Seconds kLaunchLatency = 3_us;
constexpr Seconds kBetweenKernels = 1_us;
// A host that is this far ahead waits in its next launch. Source: CUDA's queue of 1024 entries.
constexpr std::size_t kDeepestQueue = 1000;
// What a host takes to notice that a device is done.
constexpr Seconds kWakeUp = 8_us;

struct Stream {
  std::deque<std::size_t> waiting;  // launched, not done
  Seconds free;
};

struct RankState {
  std::size_t call = 0;
  Seconds host;
  std::vector<bool> is_started;
  std::vector<bool> is_done;
  std::vector<Seconds> launched;
  std::map<int, Stream> streams;
  std::vector<std::size_t> open;
};

struct Arrivals {
  std::size_t count = 0;
  Seconds last;
};

class Simulation {
 public:
  explicit Simulation(MadeRun& run) : run_(run), arrivals_(run.collectives.size()) {
    for (const MadeRank& rank : run.ranks) {
      RankState state;
      state.is_started.resize(rank.works.size());
      state.is_done.resize(rank.works.size());
      state.launched.resize(rank.works.size());
      states_.push_back(std::move(state));
    }
  }

  bool run() {
    bool moves = true;
    while (moves) {
      moves = false;
      for (std::size_t rank = 0; rank < states_.size(); ++rank) {
        moves = advance_host(rank) || moves;
        for (auto& [number, stream] : states_[rank].streams) {
          moves = advance_stream(rank, stream) || moves;
        }
      }
    }
    return std::ranges::all_of(run_.ranks, [&](const MadeRank& rank) {
      const RankState& state = states_[static_cast<std::size_t>(&rank - run_.ranks.data())];
      return state.call == rank.calls.size() && std::ranges::count(state.is_done, false) == 0;
    });
  }

 private:
  bool advance_host(std::size_t number) {
    RankState& state = states_[number];
    MadeRank& rank = run_.ranks[number];
    const std::size_t before = state.call;
    while (state.call < rank.calls.size() && pass(rank, state, rank.calls[state.call])) {
      ++state.call;
    }
    return state.call > before;
  }

  // False: the host waits in it.
  static bool pass(MadeRank& rank, RankState& state, MadeCall& call) {
    call.start = state.host;
    if (call.kind == MadeCallKind::kLaunch) {
      if (call.work >= kDeepestQueue && !state.is_started[call.work - kDeepestQueue]) {
        return false;
      }
      if (call.work >= kDeepestQueue) {
        state.host = std::max(state.host, rank.works[call.work - kDeepestQueue].start);
      }
      state.host += call.takes;
      state.launched[call.work] = state.host + kLaunchLatency;
      state.streams[rank.works[call.work].stream].waiting.push_back(call.work);
    } else if (call.kind == MadeCallKind::kWait) {
      if (!state.is_done[call.work]) {
        return false;
      }
      state.host = std::max(state.host + call.takes, rank.works[call.work].end + kWakeUp);
    } else if (call.kind == MadeCallKind::kOpen) {
      state.open.push_back(state.call);
    } else if (call.kind == MadeCallKind::kClose) {
      rank.calls[state.open.back()].end = state.host;
      state.open.pop_back();
    } else {
      state.host += call.takes;
    }
    if (call.kind != MadeCallKind::kOpen) {
      call.end = state.host;
    }
    return true;
  }

  bool advance_stream(std::size_t number, Stream& stream) {
    RankState& state = states_[number];
    bool moves = false;
    while (!stream.waiting.empty()) {
      const std::size_t at = stream.waiting.front();
      MadeWork& work = run_.ranks[number].works[at];
      if (!state.is_started[at]) {
        if (std::ranges::any_of(work.after, [&](std::size_t one) { return !state.is_done[one]; })) {
          break;
        }
        start(number, at, stream.free);
        moves = true;
      }
      if (!is_over(number, at)) {
        break;
      }
      stream.free = work.end + kBetweenKernels;
      stream.waiting.pop_front();
      moves = true;
    }
    return moves;
  }

  void start(std::size_t number, std::size_t at, Seconds free) {
    RankState& state = states_[number];
    MadeWork& work = run_.ranks[number].works[at];
    work.start = std::max(free, state.launched[at]);
    for (const std::size_t one : work.after) {
      work.start = std::max(work.start, run_.ranks[number].works[one].end);
    }
    state.is_started[at] = true;
    if (work.collective) {
      Arrivals& arrivals = arrivals_[*work.collective];
      arrivals.count += 1;
      arrivals.last = std::max(arrivals.last, work.start);
    }
  }

  bool is_over(std::size_t number, std::size_t at) {
    MadeWork& work = run_.ranks[number].works[at];
    if (work.collective) {
      const MadeCollective& collective = run_.collectives[*work.collective];
      const Arrivals& arrivals = arrivals_[*work.collective];
      if (arrivals.count < collective.members.size()) {
        return false;
      }
      work.end = arrivals.last + collective.transfer;
    } else {
      work.end = work.start + work.takes;
    }
    states_[number].is_done[at] = true;
    return true;
  }

  MadeRun& run_;
  std::vector<Arrivals> arrivals_;
  std::vector<RankState> states_;
};

}  // namespace

bool simulate(MadeRun& run) {
  return Simulation(run).run();
}

}  // namespace sextant::tests
