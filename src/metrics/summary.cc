#include "metrics/summary.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/exposure.h"

namespace sextant::metrics {
namespace {

using timeline::Group;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

// A long name keeps its beginning and a number made of all of it: names that differ stay different.
std::string short_name(const std::string& name, std::size_t most = kMostSummaryName) {
  if (name.size() <= most) {
    return name;
  }
  // FNV-1a. Source: Fowler, Noll, Vo; RFC 9923.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : name) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  std::string digits;
  for (; digits.size() < 16; hash >>= 4U) {
    digits += "0123456789abcdef"[hash & 15U];
  }
  return name.substr(0, most - digits.size() - 1) + "~" + digits;
}

template <typename Row, typename Fold>
std::vector<Row> bounded_rows(std::vector<Row> rows, const Fold& fold) {
  for (std::size_t i = kMostSummaryRows; i < rows.size(); ++i) {
    fold(rows[i]);
  }
  return folded(std::move(rows));
}

std::vector<KernelRow> bounded(std::vector<KernelRow> rows) {
  for (KernelRow& row : rows) {
    row.name = short_name(row.name);
  }
  return bounded_rows(folded(std::move(rows)),
                      [](KernelRow& row) { row.name = std::string(kOthersName); });
}

std::vector<OperatorRow> bounded(std::vector<OperatorRow> rows) {
  for (OperatorRow& row : rows) {
    row.name = short_name(row.name);
    row.category = short_name(row.category);
    row.module = short_name(row.module);
  }
  return bounded_rows(folded(std::move(rows)), [](OperatorRow& row) {
    row.name = std::string(kOthersName);
    row.category.clear();
    row.module.clear();
  });
}

std::vector<CollectiveRow> bounded(std::vector<CollectiveRow> rows) {
  for (CollectiveRow& row : rows) {
    row.word = short_name(row.word);
  }
  return bounded_rows(folded(std::move(rows)), [](CollectiveRow& row) {
    row.op = std::nullopt;
    row.word = std::string(kOthersName);
    row.ranks = std::nullopt;
    row.size_class = std::nullopt;
  });
}

// Rows without a place of their own stand together, those of a pass and a part.
WorkTables bounded(WorkTables work, std::int64_t origin_ns) {
  for (WorkRow& row : work.rows) {
    row.name = short_name(row.name, kMostPartName);
    row.longest = {row.longest.start_ns + origin_ns, row.longest.end_ns + origin_ns};
  }
  for (ChainRow& row : work.chains) {
    row.names = short_name(row.names);
    row.longest = {row.longest.start_ns + origin_ns, row.longest.end_ns + origin_ns};
  }
  work.rows = folded(std::move(work.rows));
  for (std::size_t i = kMostSummaryParts; i < work.rows.size(); ++i) {
    work.rows[i].name = std::string(kOthersName);
    work.rows[i].use = std::nullopt;
    work.rows[i].unit = std::nullopt;
    work.rows[i].inputs.clear();
  }
  work.rows = folded(std::move(work.rows));
  work.chains = folded(std::move(work.chains));
  for (std::size_t i = kMostSummaryParts; i < work.chains.size(); ++i) {
    work.chains[i].names = std::string(kOthersName);
  }
  work.chains = folded(std::move(work.chains));
  return work;
}

std::vector<RangeRow> bounded(std::vector<RangeRow> rows) {
  for (RangeRow& row : rows) {
    row.name = short_name(row.name);
  }
  return bounded_rows(folded(std::move(rows)),
                      [](RangeRow& row) { row.name = std::string(kOthersName); });
}

std::vector<SignalRow> bounded(std::vector<SignalRow> rows, std::int64_t origin_ns) {
  for (SignalRow& row : rows) {
    row.what = short_name(row.what);
    for (Interval& moment : row.longest) {
      moment = {moment.start_ns + origin_ns, moment.end_ns + origin_ns};
    }
  }
  return bounded_rows(folded(std::move(rows)),
                      [](SignalRow& row) { row.what = std::string(kOthersName); });
}

StepMeasures shifted(StepMeasures step, std::int64_t by_ns) {
  for (Interval* time : {&step.host, &step.window}) {
    time->start_ns += by_ns;
    time->end_ns += by_ns;
  }
  if (step.memory) {
    step.memory->allocated_at_ns += by_ns;
  }
  return step;
}

// Groups as numbered by the Timeline → as the summary has them, in order.
class GroupTable {
 public:
  std::uint32_t number(const timeline::Timeline& timeline, std::optional<timeline::GroupId> id) {
    if (!id) {
      return kNone;
    }
    const auto known = known_.find(id->value);
    if (known != known_.end()) {
      return known->second;
    }
    if (groups_.size() == kMostSummaryGroups) {
      return kNone;
    }
    Group group = timeline.group_of(*id);
    group.name = short_name(group.name);
    if (group.ranks.size() > kMostSummaryGroupRanks) {
      group.size = group.size ? group.size : static_cast<std::int64_t>(group.ranks.size());
      group.ranks.clear();
    }
    const auto number = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(std::move(group));
    known_[id->value] = number;
    return number;
  }
  [[nodiscard]] std::vector<Group> take() { return std::move(groups_); }

 private:
  std::map<std::int64_t, std::uint32_t> known_;
  std::vector<Group> groups_;
};

// All communications of a rank, by start.
std::vector<std::uint32_t> communications_of(const View& view, const RankLanes& rank) {
  std::vector<std::uint32_t> found;
  for (const LaneId lane : rank.has_device() ? rank.streams : rank.threads) {
    if (view.timeline().sum(lane, SpanKind::kCommunication).spans == 0) {
      continue;
    }
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.timeline().label_of(span).kind == SpanKind::kCommunication) {
        found.push_back(view.number_of(span));
      }
    }
  }
  const std::span<const Span> spans = view.timeline().spans();
  std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(spans[a].start_ns, a) < std::tuple(spans[b].start_ns, b);
  });
  return found;
}

struct KeptCommunication {
  std::uint32_t step = 0;
  std::uint32_t span = 0;
  std::int64_t alone_ns = 0;
};

// Those of kept steps, by step, then start.
std::vector<KeptCommunication> kept_communications(const View& view, const RankLanes& rank,
                                                   const Steps& steps, const RankSteps& of_rank) {
  const std::vector<std::uint32_t> all = communications_of(view, rank);
  if (all.empty()) {
    return {};
  }
  const std::vector<std::int64_t> alone = times_alone(view, rank, activity_of(view, rank), all);
  std::vector<KeptCommunication> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t step = steps.step_of[all[i]];
    if (step != kNone && of_rank.steps[step].is_kept) {
      kept.push_back({step, all[i], alone[i]});
    }
  }
  std::ranges::stable_sort(kept, {}, &KeptCommunication::step);
  return kept;
}

// Whole steps as long as they fit, and of the first at least what fits.
template <typename OfStep>
void cut_to_steps(std::vector<OfStep>& all, std::size_t room) {
  if (all.size() <= room) {
    return;
  }
  std::size_t most = room;
  while (most > 0 && all[most - 1].step == all[most].step) {
    --most;
  }
  all.resize(most == 0 ? room : most);
}

// Names of labels → places in the summary, as they come.
class NameTable {
 public:
  std::uint32_t number(const std::string& name) {
    const auto known = known_.find(name);
    if (known != known_.end()) {
      return known->second;
    }
    if (names_.size() == kMostSummaryNames) {
      return kNone;
    }
    names_.push_back(short_name(name));
    return known_[name] = static_cast<std::uint32_t>(names_.size() - 1);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::map<std::string, std::uint32_t> known_;
  std::vector<std::string> names_;
};

// How many of those alike the step has had, where the source does not number them.
using CountKey =
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::optional<CollectiveOp>,
               std::optional<RankId>, std::optional<RankId>>;

CollectiveInstance instance_of(const View& view, std::uint32_t number) {
  const std::int64_t origin = view.recording->origin_ns;
  const Span& span = view.timeline().spans()[number];
  const timeline::Label& label = view.timeline().label_of(span);
  CollectiveInstance one;
  if (label.collective) {
    one.op = label.collective->op;
    one.sender = label.collective->sender;
    one.receiver = label.collective->receiver;
  }
  if (label.bytes && label.bytes->base() >= 0.0 && label.bytes->base() < 0x1p62) {
    one.bytes = static_cast<std::int64_t>(label.bytes->base());
  }
  one.start_ns = origin + span.start_ns;
  one.end_ns = origin + span.end_ns();
  one.lane = view.timeline().lane_of(span).stream.value;
  if (view.call_of[number] != kNone) {
    one.asked_ns = origin + view.timeline().spans()[view.call_of[number]].start_ns;
  }
  return one;
}

void add_instances(const View& view, const RankLanes& rank, const Steps& steps,
                   const RankSteps& of_rank, NameTable& names, RankSummary& summary) {
  GroupTable groups;
  std::map<CountKey, std::int64_t> counted;
  for (const KeptCommunication& kept : kept_communications(view, rank, steps, of_rank)) {
    const std::uint32_t number = kept.span;
    const Span& span = view.timeline().spans()[number];
    const timeline::Label& label = view.timeline().label_of(span);
    const auto sequence = view.timeline().occurrence_of(span).sequence;
    CollectiveInstance one = instance_of(view, number);
    one.step = of_rank.steps[steps.step_of[number]].number;
    one.group =
        groups.number(view.timeline(), label.collective ? label.collective->group : std::nullopt);
    one.alone_ns = kept.alone_ns;
    one.name = names.number(label.name);
    // Numbers of a whole job's trace begin anew in each step. Those of messages are each rank's
    // own: PyTorch counts what a rank sends and receives, whoever the other is
    // (ProcessGroupNCCL.cpp, seqP2P_). Between two ranks messages come in order.
    const bool is_message = one.sender && one.receiver;
    one.is_counted = !sequence || summary.is_whole_job || is_message;
    one.sequence =
        sequence && !is_message
            ? sequence->value
            : counted[{steps.step_of[number], one.group, one.group == kNone ? one.name : kNone,
                       one.op, one.sender, one.receiver}]++;
    summary.instances.push_back(one);
  }
  cut_to_steps(summary.instances, kMostSummaryInstances);
  summary.groups = groups.take();
}

std::vector<std::uint32_t> label_names(const View& view, const RankLanes& rank, NameTable& names) {
  std::vector<std::uint32_t> places(view.traits.size(), kNone);
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const auto label = static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
      if (places[label] == kNone) {
        places[label] = names.number(view.timeline().labels()[label].name);
      }
    }
  }
  return places;
}

void add_work(const View& view, const RankLanes& rank, const Steps& steps, const RankSteps& of_rank,
              NameTable& names, RankSummary& summary) {
  summary.work = summary.is_whole_job
                     ? own_operations(view, rank, steps, of_rank, label_names(view, rank, names))
                     : own_work(view, rank, of_rank);
  for (OwnWork& one : summary.work) {
    one.start_ns += view.recording->origin_ns;
    one.end_ns += view.recording->origin_ns;
  }
  std::stable_sort(summary.work.begin(), summary.work.end(),
                   [](const OwnWork& a, const OwnWork& b) { return a.step < b.step; });
  cut_to_steps(summary.work, kMostSummaryWork);
}

void add_facts(const timeline::Recording& recording, RankSummary& summary) {
  summary.has_shapes = recording.has_shapes;
  summary.has_stacks = recording.has_stacks;
  summary.has_memory = recording.has_memory;
  summary.has_sync_events = recording.has_sync_events;
  summary.base_ns = recording.base_ns;
  summary.is_whole_job = recording.recorder == timeline::Recorder::kChrome;
  for (const timeline::RecordedRank& rank : recording.ranks) {
    if (rank.rank == summary.rank) {
      summary.world = rank.world;
      summary.host = short_name(rank.host);
      summary.coordinates = rank.coordinates;
      summary.device = rank.device ? short_name(rank.device->name) : std::string();
    }
  }
}

}  // namespace

RankTotals RankSummary::total() const {
  RankTotals sum = folded;
  for (const StepMeasures& step : steps) {
    sum += step;
  }
  return sum;
}

Summary summarize(const View& view, const Steps& steps, const std::vector<RankMeasures>& ranks) {
  Summary summary;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankMeasures& measured = ranks[i];
    RankSummary rank{.rank = measured.rank,
                     .has_device = measured.has_device,
                     .basis = measured.steps.basis,
                     .found_by = short_name(measured.steps.found_by),
                     .recorded = measured.steps.kept() + measured.steps.left_out};
    add_facts(*view.recording, rank);
    for (const StepMeasures& step : measured.kept) {
      if (rank.steps.size() < kMostSummarySteps) {
        rank.steps.push_back(shifted(step, view.recording->origin_ns));
      } else {
        rank.folded += shifted(step, view.recording->origin_ns);
      }
    }
    rank.kernels = bounded(measured.kernels);
    rank.operators = bounded(measured.operators);
    rank.collectives = bounded(measured.collectives);
    rank.device_work =
        bounded(device_work(view, view.ranks[i], steps, i), view.recording->origin_ns);
    rank.ranges = bounded(measured.ranges);
    rank.signals = bounded(measured.signals, view.recording->origin_ns);
    NameTable names;
    add_instances(view, view.ranks[i], steps, measured.steps, names, rank);
    add_work(view, view.ranks[i], steps, measured.steps, names, rank);
    rank.names = names.take();
    summary = merge(std::move(summary), {{std::move(rank)}});
  }
  return summary;
}

Summary summarize(const timeline::Recording& recording, const MeasureOptions& options) {
  const View view = view_of(recording);
  const Steps steps = steps_of(view, options.steps);
  return summarize(view, steps, measure(view, steps));
}

}  // namespace sextant::metrics
