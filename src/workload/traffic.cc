#include "workload/traffic.h"

#include <algorithm>

#include "workload/stage_traffic.h"
#include "workload/wire.h"

namespace sextant::workload {

using describe::Job;
using describe::Layout;

namespace {

class ListSink {
 public:
  ListSink(std::vector<Collective>& list, std::int64_t stage) : list_(list), stage_(stage) {}
  void add(Collective collective) {
    collective.stage = stage_;
    list_.push_back(collective);
  }
  void reach(Part /*part*/) {}

 private:
  std::vector<Collective>& list_;
  std::int64_t stage_;
};

class TotalsSink {
 public:
  // Every message counts `times` times.
  TotalsSink(TrafficTotals& totals, double times) : totals_(totals), times_(times) {}
  [[gnu::always_inline]] void add(const Collective& collective) {
    GroupTraffic& group = totals_.at(collective.group);
    const double calls = static_cast<double>(collective.count) * times_;
    const double payload =
        static_cast<double>(std::max(collective.input_bytes, collective.output_bytes)) * calls;
    group.calls += calls;
    group.payload += Bytes(payload);
    group.wire += Bytes(payload * wire_share(collective.op, collective.group_size));
  }
  void reach(Part /*part*/) {}

 private:
  TrafficTotals& totals_;
  double times_;
};

// Stages from `first` on that stand alike and hold the same. Neighbours, ends and the first stage,
// which is cut into buckets, differ; so does the turn of a folded pipeline.
std::size_t alike_from(std::size_t first, std::span<const Stage> stages, const Layout& layout) {
  const bool folds = layout.schedule == describe::Schedule::kZbv ||
                     layout.schedule == describe::Schedule::kDualPipeV;
  const auto pp = static_cast<std::size_t>(layout.pp);
  const std::size_t end = std::min(first < pp ? pp : stages.size(), stages.size() - 1);
  if (first == 0 || folds) {
    return 1;
  }
  std::size_t next = first + 1;
  while (next < end && stages[next].layers == stages[first].layers &&
         stages[next].blocks == stages[first].blocks) {
    ++next;
  }
  return next - first;
}

// Most kinds of blocks that a model may have for the quick way.
constexpr std::size_t kMostBlocks = 8;

// All stages: what grows with layers at once, then each place in the pipeline.
void add_pipeline(const Scene& at, std::span<const Stage> stages, double ranks,
                  TrafficTotals& totals) {
  std::array<std::int64_t, kMostBlocks> layers{};
  std::array<StepSums, kMostBlocks> sums{};
  const std::size_t kinds = at.model.blocks.size();
  for (const Stage& stage : stages) {
    for (std::size_t block = 0; block < kinds; ++block) {
      layers[block] += stage.blocks[block];
    }
  }
  const bool summed = asks_sums(at);
  for (std::size_t block = 0; summed && block < kinds; ++block) {
    sums[block] = step_sums(at, at.model.blocks[block]);
  }
  TotalsSink sink(totals, ranks);
  layer_messages(at,
                 {.index = 0,
                  .blocks = {layers.data(), kinds},
                  .embedding = true,
                  .head = true,
                  .mtp_layers = stages.back().mtp_layers,
                  .exact = nullptr},
                 sink);
  for (std::size_t i = 0; i < stages.size();) {
    const StageView stage = view_of(stages[i]);
    StepSums held = summed ? end_sums(at, stage) : StepSums{};
    for (std::size_t block = 0; summed && block < kinds; ++block) {
      held += sums[block] * stage.blocks[block];
    }
    const std::size_t alike = alike_from(i, stages, at.layout);
    TotalsSink place(totals, ranks * static_cast<double>(alike));
    position_messages(at, stage, held, place);
    i += alike;
  }
}

}  // namespace

Routing measured_routing(std::vector<double> shares, std::int64_t ep) {
  Routing routing;
  for (std::int64_t to = 0; to < ep; ++to) {
    double received = 0.0;
    for (std::int64_t from = 0; from < ep; ++from) {
      received += shares[static_cast<std::size_t>(from * ep + to)];
    }
    routing.hottest = std::max(routing.hottest, received);
  }
  routing.shares = std::move(shares);
  return routing;
}

GroupTraffic TrafficTotals::all() const {
  GroupTraffic sum;
  for (const GroupTraffic& group : groups) {
    sum += group;
  }
  return sum;
}

void TrafficTotals::add(const TrafficTotals& other, double times) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] += {.calls = other.groups[i].calls * times,
                  .payload = other.groups[i].payload * times,
                  .wire = other.groups[i].wire * times};
  }
}

std::vector<Collective> step_collectives(const Job& job, const Stage& stage, const Shard& shard,
                                         const Routing& routing) {
  std::vector<Collective> list;
  ListSink sink(list, stage.index);
  stage_messages(scene_of(job, job.layout, shard, routing), view_of(stage), sink);
  return list;
}

std::vector<Collective> step_collectives(const Job& job, const Routing& routing) {
  const Shard shard = shard_of(job);
  const Scene scene = scene_of(job, job.layout, shard, routing);
  std::vector<Collective> list;
  for (const Stage& stage : stages_of(job)) {
    ListSink sink(list, stage.index);
    stage_messages(scene, view_of(stage), sink);
  }
  return list;
}

TrafficTotals totals_of(std::span<const Collective> collectives) {
  TrafficTotals totals;
  TotalsSink sink(totals, 1.0);
  for (const Collective& collective : collectives) {
    sink.add(collective);
  }
  return totals;
}

TrafficTotals stage_traffic(const Job& job, const Layout& layout, const Shard& shard,
                            const Stage& stage, const Routing& routing) {
  TrafficTotals totals;
  TotalsSink sink(totals, 1.0);
  stage_messages(scene_of(job, layout, shard, routing), view_of(stage), sink);
  return totals;
}

TrafficTotals traffic_totals(const Job& job, const Layout& layout, const Shard& shard,
                             std::span<const Stage> stages, const Routing& routing) {
  const Scene scene = scene_of(job, layout, shard, routing);
  const auto ranks = static_cast<double>(ranks_of_stage(layout, shard));
  TrafficTotals totals;
  if (stages.empty()) {
    return totals;
  }
  if (!counts_layers(layout.recompute) && job.model.blocks.size() <= kMostBlocks) {
    add_pipeline(scene, stages, ranks, totals);
    return totals;
  }
  TotalsSink sink(totals, ranks);
  for (const Stage& stage : stages) {
    stage_messages(scene, view_of(stage), sink);
  }
  return totals;
}

std::int64_t ranks_of_stage(const Layout& layout, const Shard& shard) {
  const bool twice = layout.schedule == describe::Schedule::kDualPipe && shard.pp > 1;
  return capped(capped(shard.tp, shard.cp), capped(shard.dp, twice ? 2 : 1));
}

}  // namespace sextant::workload
