// The fields of a Summary in the order in which .sxs holds them: one list for writing and reading.
// `archive` is called with each, and says by the name of the call what values are allowed.
#pragma once

#include "metrics/summary.h"

namespace sextant::profile {

template <typename Archive, typename Spread>
void fields_of_spread(Archive& archive, Spread& spread) {
  archive.amount(spread.count);
  archive.amount(spread.total_ns);
  archive.amount(spread.min_ns);
  archive.amount(spread.max_ns);
  archive.wide(spread.squares);
}

template <typename Archive, typename Breakdown>
void fields_of_breakdown(Archive& archive, Breakdown& time) {
  archive.amount(time.compute_ns);
  archive.amount(time.exposed_communication_ns);
  archive.amount(time.exposed_copy_ns);
  archive.amount(time.idle_ns);
  archive.amount(time.communication_ns);
  archive.amount(time.copy_ns);
  archive.amount(time.overlap_ns);
}

template <typename Archive, typename Idle>
void fields_of_idle(Archive& archive, Idle& idle) {
  archive.amount(idle.host_late_ns);
  archive.amount(idle.host_blocked_ns);
  archive.amount(idle.launching_ns);
  archive.amount(idle.dependency_ns);
  archive.amount(idle.other_ns);
  archive.amount(idle.unknown_ns);
}

template <typename Archive, typename Queue>
void fields_of_queue(Archive& archive, Queue& queue) {
  for (auto& time : queue.at_depth_ns) {
    archive.amount(time);
  }
  archive.amount(queue.waited_ns);
  archive.amount(queue.deepest);
}

template <typename Archive, typename Launches>
void fields_of_launches(Archive& archive, Launches& launches) {
  fields_of_spread(archive, launches.delay);
  fields_of_spread(archive, launches.idle);
  fields_of_spread(archive, launches.call);
}

template <typename Archive, typename Peak>
void fields_of_peak(Archive& archive, Peak& peak) {
  archive.moment(peak.allocated_bytes);
  archive.moment(peak.reserved_bytes);
  archive.moment(peak.allocated_at_ns);
}

template <typename Archive, typename Step>
void fields_of_step(Archive& archive, Step& step) {
  archive.moment(step.number);
  archive.interval(step.host);
  archive.interval(step.window);
  fields_of_breakdown(archive, step.time);
  fields_of_idle(archive, step.idle);
  archive.optional(step.queue, [&](auto& queue) { fields_of_queue(archive, queue); });
  fields_of_launches(archive, step.launches);
  for (auto& time : step.path_ns) {
    archive.amount(time);
  }
  archive.amount(step.assumed_waits);
  for (auto& time : step.categories_ns) {
    archive.amount(time);
  }
  archive.optional(step.memory, [&](auto& peak) { fields_of_peak(archive, peak); });
  archive.wide(step.flops);
  for (auto& time : step.work_ns) {
    archive.amount(time);
  }
}

template <typename Archive, typename Totals>
void fields_of_totals(Archive& archive, Totals& totals) {
  archive.amount(totals.steps);
  fields_of_breakdown(archive, totals.time);
  fields_of_idle(archive, totals.idle);
  fields_of_queue(archive, totals.queue);
  fields_of_launches(archive, totals.launches);
  for (auto& time : totals.path_ns) {
    archive.amount(time);
  }
  archive.amount(totals.assumed_waits);
  for (auto& time : totals.categories_ns) {
    archive.amount(time);
  }
  archive.optional(totals.memory, [&](auto& peak) { fields_of_peak(archive, peak); });
  archive.wide(totals.flops);
  for (auto& time : totals.work_ns) {
    archive.amount(time);
  }
}

template <typename Archive, typename Row>
void fields_of_kernel(Archive& archive, Row& row) {
  archive.text(row.name);
  archive.choice(row.kind, timeline::kSpanKinds);
  fields_of_spread(archive, row.time);
  archive.wide(row.flops);
  archive.wide(row.bytes);
  archive.amount(row.stated);
}

template <typename Archive, typename Row>
void fields_of_operator(Archive& archive, Row& row) {
  archive.text(row.name);
  archive.text(row.category);
  archive.text(row.module);
  fields_of_spread(archive, row.time);
  archive.amount(row.kernels);
  archive.wide(row.flops);
  archive.wide(row.bytes);
  archive.amount(row.stated_flops);
  archive.amount(row.stated_bytes);
}

template <typename Archive, typename Tensor>
void fields_of_tensor(Archive& archive, Tensor& tensor) {
  archive.list(tensor.dims, [&](auto& dim) { archive.moment(dim); });
  archive.optional(tensor.element, [&](auto& element) {
    archive.choice(element, timeline::kElementFormats.size());
  });
}

template <typename Archive, typename Row>
void fields_of_work_row(Archive& archive, Row& row) {
  archive.choice(row.pass, metrics::kWorkPasses);
  archive.choice(row.part, metrics::kWorkParts);
  archive.text(row.name);
  archive.optional(row.use, [&](auto& use) { archive.choice(use, timeline::kOperatorUses); });
  archive.optional(row.unit, [&](auto& unit) { archive.choice(unit, timeline::kProductUnits); });
  archive.list(row.inputs, [&](auto& tensor) { fields_of_tensor(archive, tensor); });
  fields_of_spread(archive, row.time);
  archive.amount(row.kernels);
  archive.amount(row.idle_ns);
  archive.wide(row.flops);
  archive.wide(row.bytes);
  archive.amount(row.stated_flops);
  archive.amount(row.stated_bytes);
  archive.interval(row.longest);
}

template <typename Archive, typename Row>
void fields_of_chain(Archive& archive, Row& row) {
  archive.choice(row.pass, metrics::kWorkPasses);
  archive.text(row.names);
  fields_of_spread(archive, row.time);
  archive.amount(row.idle_ns);
  archive.amount(row.operators);
  archive.wide(row.bytes);
  archive.wide(row.least_bytes);
  archive.amount(row.stated);
  archive.amount(row.stated_ns);
  archive.interval(row.longest);
}

inline constexpr std::size_t kSxsOps = 6;  // of CollectiveOp

template <typename Archive, typename Row>
void fields_of_collective(Archive& archive, Row& row) {
  archive.optional(row.op, [&](auto& op) { archive.choice(op, kSxsOps); });
  archive.text(row.word);
  archive.optional(row.ranks, [&](auto& ranks) { archive.moment(ranks); });
  archive.optional(row.size_class, [&](auto& bytes) { archive.moment(bytes); });
  fields_of_spread(archive, row.time);
  archive.wide(row.bytes);
  archive.optional(row.fastest, [&](auto& rate) { archive.rate(rate); });
}

template <typename Archive, typename Row>
void fields_of_range(Archive& archive, Row& row) {
  archive.text(row.name);
  archive.amount(row.count);
  archive.amount(row.work_ns);
  archive.amount(row.own_work_ns);
  archive.amount(row.idle_ns);
  archive.amount(row.own_idle_ns);
}

template <typename Archive, typename Row>
void fields_of_signal(Archive& archive, Row& row) {
  archive.choice(row.signal, metrics::kSignals);
  archive.text(row.what);
  fields_of_spread(archive, row.time);
  archive.amount(row.idle_ns);
  archive.amount(row.copy_ns);
  archive.amount(row.after_ns);
  archive.amount(row.bytes);
  archive.list(row.longest, [&](auto& moment) { archive.interval(moment); });
}

template <typename Archive, typename Group>
void fields_of_group(Archive& archive, Group& group) {
  archive.text(group.name);
  archive.optional(group.size, [&](auto& size) { archive.moment(size); });
  archive.list(group.ranks, [&](auto& rank) { archive.moment(rank.value); });
}

// Times are near those before them: what they are later by takes half the bytes. `last_ns`: the
// start of the one before.
template <typename Archive, typename Instance>
void fields_of_instance(Archive& archive, Instance& one, std::int64_t& last_ns) {
  archive.moment(one.step);
  archive.number(one.group);
  archive.flag(one.is_counted);
  archive.moment(one.sequence);
  archive.optional(one.op, [&](auto& op) { archive.choice(op, kSxsOps); });
  archive.optional(one.bytes, [&](auto& bytes) { archive.moment(bytes); });
  archive.since(one.start_ns, last_ns);
  archive.since(one.end_ns, one.start_ns);
  archive.optional(one.asked_ns, [&](auto& asked) { archive.since(asked, one.start_ns); });
  archive.number(one.name);
  archive.moment(one.lane);
  archive.optional(one.sender, [&](auto& rank) { archive.moment(rank.value); });
  archive.optional(one.receiver, [&](auto& rank) { archive.moment(rank.value); });
  archive.amount(one.alone_ns);
  last_ns = one.start_ns;
}

template <typename Archive, typename Work>
void fields_of_work(Archive& archive, Work& one, std::int64_t& last_ns) {
  archive.moment(one.step);
  archive.since(one.start_ns, last_ns);
  archive.since(one.end_ns, one.start_ns);
  archive.moment(one.lane);
  archive.number(one.name);
  archive.amount(one.compute_ns);
  archive.amount(one.copy_ns);
  archive.amount(one.data_ns);
  archive.amount(one.host_ns);
  archive.amount(one.other_ns);
  archive.flag(one.goes_on);
  last_ns = one.start_ns;
}

template <typename Archive, typename Rank>
void fields_of_rank(Archive& archive, Rank& rank) {
  archive.moment(rank.rank.value);
  archive.optional(rank.world, [&](auto& world) { archive.moment(world); });
  archive.text(rank.host);
  archive.text(rank.device);
  archive.flag(rank.has_device);
  archive.flag(rank.has_shapes);
  archive.flag(rank.has_stacks);
  archive.flag(rank.has_memory);
  archive.flag(rank.has_sync_events);
  archive.choice(rank.basis, 3);
  archive.text(rank.found_by);
  archive.amount(rank.recorded);
  archive.moment(rank.base_ns);
  archive.list(rank.steps, [&](auto& step) { fields_of_step(archive, step); });
  fields_of_totals(archive, rank.folded);
  archive.list(rank.kernels, [&](auto& row) { fields_of_kernel(archive, row); });
  archive.list(rank.operators, [&](auto& row) { fields_of_operator(archive, row); });
  archive.list(rank.collectives, [&](auto& row) { fields_of_collective(archive, row); });
  archive.list(rank.device_work.rows, [&](auto& row) { fields_of_work_row(archive, row); });
  archive.list(rank.device_work.chains, [&](auto& row) { fields_of_chain(archive, row); });
  archive.list(rank.ranges, [&](auto& row) { fields_of_range(archive, row); });
  archive.list(rank.signals, [&](auto& row) { fields_of_signal(archive, row); });
  archive.list(rank.groups, [&](auto& group) { fields_of_group(archive, group); });
  std::int64_t last_ns = 0;
  archive.list(rank.instances, [&](auto& one) { fields_of_instance(archive, one, last_ns); });
  last_ns = 0;
  archive.list(rank.work, [&](auto& one) { fields_of_work(archive, one, last_ns); });
  archive.list(rank.names, [&](auto& name) { archive.text(name); });
  archive.flag(rank.is_whole_job);
  archive.list(rank.coordinates, [&](auto& at) {
    archive.text(at.first);
    archive.moment(at.second);
  });
}

template <typename Archive, typename Summary>
void fields_of_summary(Archive& archive, Summary& summary) {
  archive.list(summary.ranks, [&](auto& rank) { fields_of_rank(archive, rank); });
}

}  // namespace sextant::profile
