// The work of a job as a graph: what each rank did, in which order, and where ranks met.
//
// Nodes are stretches of a rank's own work and its part in each meeting. Within a rank the recorded
// order holds: a node follows those that had ended when it began, on its lane, and what ended last
// on others (of a whole job's trace all that had ended there), and nothing that only ran beside it.
// Between ranks: nobody's part in a meeting is done before all have come. So the graph asks no
// clock but each rank's own, needs no names of operations, and whatever is made shorter in it, no
// order is turned round. What it leaves out: an order that was chance and no need stays, so what a
// replay gains is never too much by that; steps are apart from one another, and begin on all ranks
// together.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/meetings.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// 300 million bytes of graph: the steps beyond are left out.
inline constexpr std::size_t kMostReplayNodes = 4'000'000;

struct ReplayNode {
  std::uint32_t rank = 0;     // place in Summary::ranks
  std::uint32_t place = 0;    // in RankSummary::work or ::instances
  bool is_work = false;       // of the rank's own; else communication
  bool is_operation = false;  // work that the trace names
  // Operations of one name; own work of ranks of one stage that communicate alike; communications
  // of one operation, size and number of ranks.
  std::uint32_t type = 0;
  std::uint32_t meeting = metrics::kNone;  // place in ReplayGraph::meetings; kNone: alone
  std::int64_t actual_ns = 0;              // own work, or transfer without waiting
  std::int64_t start_ns = 0;               // as recorded
  std::int64_t end_ns = 0;
};

struct ReplayStep {
  std::int64_t number = 0;
  std::uint32_t first = 0;  // node
  std::uint32_t end = 0;
  // By rank: ranks of one number do the same in this step, so that they can be held against one
  // another.
  std::vector<std::uint32_t> peers = {};
};

struct ReplayGraph {
  const metrics::Summary* summary = nullptr;
  std::vector<ReplayNode> nodes;  // by step, rank and start
  std::vector<ReplayStep> steps;
  std::uint32_t types = 0;
  std::vector<std::uint32_t> dependency_start;  // of a node in `dependencies`; one more at the end
  std::vector<std::uint32_t> dependencies;
  std::vector<std::uint32_t> meetings;      // how many of its nodes are in the graph
  std::vector<std::uint32_t> member_start;  // of a meeting in `members`; one more at the end
  std::vector<std::uint32_t> members;       // nodes
  std::vector<std::uint32_t> order;         // nodes, each after what it depends on
  std::int64_t steps_left_out = 0;          // not whole in every rank, or beyond the most
  std::int64_t loosened = 0;  // nodes that had to go ahead: the record contradicts itself
};

// Refers to the summary. n log n in what ranks recorded. Empty where ranks have no whole step in
// common.
ReplayGraph replay_graph(const metrics::Summary& summary, const Meetings& meetings);

}  // namespace sextant::diagnose
