// What is kept of a profile to be joined with others': a few hundred kilobytes a rank however long
// it is (docs/metrics.md says what bounds it), written as .sxs (profile/sxs.h).
//
// merge() is associative and order-free, and what it gives is what one profile of everything would
// give: numbers are exact integers, rows and steps are kept in one order, and what was too much for
// a table stands in it as a row of its own. Ranks stand side by side; parts of one rank (two
// windows of its training) add up. The same profile twice counts twice: who reads files sees to
// that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/device_work.h"
#include "metrics/measure.h"
#include "metrics/own_work.h"

namespace sextant::metrics {

// Of one rank of one profile.
inline constexpr std::size_t kMostSummarySteps = 256;
inline constexpr std::size_t kMostSummaryRows = 256;        // of each table
inline constexpr std::size_t kMostSummaryParts = 144;       // rows of work by part, and of chains
inline constexpr std::size_t kMostPartName = 64;            // bytes of a name in these
inline constexpr std::size_t kMostSummaryInstances = 8192;  // of collectives, whole steps of them
inline constexpr std::size_t kMostSummaryWork = 4096;       // stretches of own work, likewise
inline constexpr std::size_t kMostSummaryName = 256;        // bytes of a name
inline constexpr std::size_t kMostSummaryNames = 256;       // of communications and operations
inline constexpr std::size_t kMostSummaryGroups = 256;
inline constexpr std::size_t kMostSummaryGroupRanks = 4096;
// The row of all that found no place of its own, one for each kind.
inline constexpr std::string_view kOthersName = "(others)";

// One collective as one rank saw it, on the recorder's clock.
struct CollectiveInstance {
  std::int64_t step = 0;    // number of the step that launched it
  std::uint32_t group = 0;  // place in RankSummary::groups; kNone: not said
  // The source gives no sequence number, or begins anew in each step: it is counted in the step.
  bool is_counted = false;
  std::int64_t sequence = 0;
  std::optional<CollectiveOp> op = std::nullopt;
  std::optional<std::int64_t> bytes = std::nullopt;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  // When the call that launched it began; nothing where that is not known.
  std::optional<std::int64_t> asked_ns = std::nullopt;
  std::uint32_t name = kNone;  // the source's, place in RankSummary::names
  std::int64_t lane = 0;       // the stream or thread that carries it out
  // Of a message.
  std::optional<RankId> sender = std::nullopt;
  std::optional<RankId> receiver = std::nullopt;
  std::int64_t alone_ns = 0;  // of it, nothing else was to be done (exposure.h)
  auto operator<=>(const CollectiveInstance&) const = default;
};

struct RankSummary {
  RankId rank;
  std::optional<std::int64_t> world = std::nullopt;
  std::string host = {};
  std::string device = {};
  bool has_device = true;
  bool has_shapes = false;
  bool has_stacks = false;
  bool has_memory = false;
  bool has_sync_events = false;
  StepBasis basis = StepBasis::kMarkers;
  std::string found_by = {};
  std::int64_t recorded = 0;  // steps, left-out ones too
  // What its file adds to all times in it; of parts that differ in this, the largest.
  std::int64_t base_ns = 0;
  std::vector<StepMeasures> steps = {};  // kept, by number; times on the recorder's clock
  RankTotals folded = {};                // of kept steps beyond kMostSummarySteps
  std::vector<KernelRow> kernels = {};   // of all kept steps
  std::vector<OperatorRow> operators = {};
  std::vector<CollectiveRow> collectives = {};
  WorkTables device_work = {};  // of all kept steps
  std::vector<RangeRow> ranges = {};
  std::vector<SignalRow> signals = {};       // moments on the recorder's clock
  std::vector<timeline::Group> groups = {};  // in order; no two alike
  std::vector<CollectiveInstance> instances = {};
  std::vector<OwnWork> work = {};       // between them; times on the recorder's clock
  std::vector<std::string> names = {};  // in order; no two alike
  bool is_whole_job = false;            // of a trace of a whole job, whose spans are operations
  // Where it stands in the layout, as far as the source says: {"dp", 0}, {"pp", 3}.
  std::vector<std::pair<std::string, std::int64_t>> coordinates = {};
  bool operator==(const RankSummary&) const = default;

  [[nodiscard]] RankTotals total() const;  // of all kept steps
};

struct Summary {
  std::vector<RankSummary> ranks;  // by rank, no two of one
  bool operator==(const Summary&) const = default;
};

// `ranks` must be what measure(view, steps) gave.
Summary summarize(const View& view, const Steps& steps, const std::vector<RankMeasures>& ranks);
Summary summarize(const timeline::Recording& recording, const MeasureOptions& options = {});

Summary merge(Summary a, const Summary& b);

// A collective as all ranks of its group saw it.
struct SeenBy {
  RankId rank;
  std::uint32_t rank_place = 0;      // in Summary::ranks
  std::uint32_t instance_place = 0;  // in that RankSummary::instances
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> asked_ns = std::nullopt;
};
struct MatchedCollective {
  const timeline::Group* group = nullptr;  // of the summary; null: not said
  std::int64_t step = 0;
  std::int64_t sequence = 0;
  std::optional<CollectiveOp> op = std::nullopt;
  std::optional<std::int64_t> bytes = std::nullopt;
  std::vector<SeenBy> seen;  // by rank

  // The shortest that any rank took: who came last waited for nobody.
  [[nodiscard]] std::int64_t transfer_ns() const;
};
// Of those that at least two ranks saw, in order of group, name, step and sequence; refers to the
// summary. Groups of one name are one where their ranks are the same or not said; where no group is
// said, those of one name are. Messages need their ends, or a group of two. No clock is asked. n
// log n in the instances, 72 bytes for each.
std::vector<MatchedCollective> matched_collectives(const Summary& summary);

}  // namespace sextant::metrics
