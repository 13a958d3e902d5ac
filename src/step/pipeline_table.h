// The table of a pipeline schedule made ready to be run for many sets of costs, and run for two at
// once: with messages between stages, and as if they took no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "schedule/compile.h"
#include "schedule/generate.h"
#include "schedule/simulate.h"

namespace sextant::step {

struct PipelineSpan {
  Seconds whole;  // from the first forward to the last backward
  Seconds quiet;  // the same if messages between stages took no time
};

// The same makespans as schedule::simulate(), which also says where the time went. Keeps scratch
// space: one a thread.
class PipelineTable {
 public:
  // Nothing where the schedule cannot run the shape (schedule's check_shape). `group`: microbatches
  // that last_group() is asked for.
  static std::optional<PipelineTable> of(const schedule::ScheduleShape& shape, std::int64_t group);

  // What it takes in memory, about.
  [[nodiscard]] std::size_t bytes() const;

  // REQUIRES: costs for each stage, transfers between each two neighbours or none; no
  // microbatch_scale, `overlap` 1.
  PipelineSpan span(const schedule::PipelineCosts& costs);

  // Of the run before: what the last group but one took longer than the one before it to come
  // back, on the rank where that is most. Nothing where the table has no three groups.
  [[nodiscard]] PipelineSpan last_group() const;
  // Of the run before: work of the busiest rank for a group.
  [[nodiscard]] PipelineSpan busiest() const;

 private:
  // Two times side by side, [0] whole and [1] quiet, in one register.
  using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;
  static Pair later(Pair a, Pair b) {
#ifdef __SSE2__
    return __builtin_ia32_maxpd(a, b);  // one instruction, where the line below makes five
#else
    return a < b ? b : a;
#endif
  }
  // Places in the arrays below, in numbers of them: a pair is two.
  struct Step {
    std::uint32_t after = 0;  // ends_: of the step it waits for
    std::uint32_t cost = 0;   // costs_
    std::uint32_t rank = 0;   // rank_ends_
  };
  // What a step waits for its message, and how long it holds its rank.
  struct Cost {
    Pair wait;
    Pair length;
  };
  // Which of the costs given that is.
  struct Source {
    std::uint32_t stage = 0;
    schedule::ActionKind kind = schedule::ActionKind::kForward;
    bool receives = false;
    bool sends = false;
    auto operator<=>(const Source&) const = default;
  };
  // When two groups were back on one rank: steps.
  struct Mark {
    std::uint32_t earlier = 0;
    std::uint32_t later = 0;
  };
  // A kind of step, and how often a rank runs it in a group.
  struct Share {
    std::uint32_t rank = 0;
    std::uint32_t cost = 0;  // of costs_
    double times = 0.0;
  };

  explicit PipelineTable(const schedule::CompiledTable& table, std::int64_t group);
  void mark_groups(const schedule::CompiledTable& table, const std::vector<std::uint32_t>& place,
                   std::int64_t group);
  void lay_out(const schedule::PipelineCosts& given);
  void run();
  void run_with_shared_slots();

  std::vector<Step> steps_;
  std::vector<bool> shared_;  // does a step share its slot with the one after it? Empty: none does
  std::vector<Mark> marks_;
  std::vector<Share> shares_;  // by rank
  std::vector<Source> sources_;
  std::vector<Cost> costs_;  // parallel to sources_
  std::vector<Pair> rank_ends_;
  std::vector<Pair> ends_;
};

}  // namespace sextant::step
