#include "metrics/device_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "metrics/work_chains.h"
#include "metrics/work_parts.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;
using timeline::Tensor;

// A call of an operator, or work that no operator is known of, with all that it launched.
struct Occurrence {
  std::uint32_t label = 0;  // of the operator, else of the work
  LaneId lane;              // of the first that it launched
  WorkPass pass = WorkPass::kUnknown;
  std::int64_t time_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t kernels = 0;
  Interval span = {};
  std::optional<timeline::ProductUnit> unit = std::nullopt;
  std::optional<timeline::OperatorUse> use = std::nullopt;  // as kernels say it
  bool is_itself = true;                                    // the work, not an operator
  bool is_in_written_attention = false;
  double kernel_flops = 0.0;
  double kernel_bytes = 0.0;
  bool says_flops = false;
  bool says_bytes = false;
  bool is_communication = false;
  bool is_host_copy = false;
};

std::uint32_t number_of_label(const View& view, const Span& span) {
  return static_cast<std::uint32_t>(view.timeline().occurrence_of(span).label.value);
}

// All work of the rank's streams, by start.
std::vector<std::uint32_t> works_of(const View& view, const RankLanes& rank) {
  std::vector<std::uint32_t> works;
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.traits_of(span).is_work) {
        works.push_back(view.number_of(span));
      }
    }
  }
  const std::span<const Span> spans = view.timeline().spans();
  std::ranges::sort(works, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(spans[a].start_ns, a) < std::tuple(spans[b].start_ns, b);
  });
  return works;
}

void add_kernel(const View& view, std::uint32_t number, std::int64_t idle_ns, Occurrence& one) {
  const Span& span = view.timeline().spans()[number];
  const Label& label = view.timeline().label_of(span);
  one.time_ns += span.duration_ns;
  one.idle_ns += idle_ns;
  one.kernels += 1;
  one.span.end_ns = std::max(one.span.end_ns, span.end_ns());
  one.kernel_flops += label.flops ? label.flops->base() : 0.0;
  one.kernel_bytes += label.bytes ? label.bytes->base() : 0.0;
  one.says_flops |= label.flops.has_value();
  one.says_bytes |= label.bytes.has_value();
  one.is_communication |= label.kind == SpanKind::kCommunication;
  one.is_host_copy |= label.kind == SpanKind::kCopy &&
                      label.name.find("DtoD") == std::string::npos &&
                      !label.name.starts_with("Memset");
  if (label.call) {
    one.unit = one.unit ? one.unit : label.call->unit;
    one.use = one.use ? one.use : label.call->use;
  }
}

// Of the kept steps, by start.
std::vector<Occurrence> occurrences(const View& view, const RankLanes& rank, const Steps& steps,
                                    const RankSteps& of_rank) {
  const std::span<const Span> spans = view.timeline().spans();
  const std::vector<std::uint32_t> works = works_of(view, rank);
  const CallPlaces places = call_places(view, rank);
  std::vector<Occurrence> found;
  std::map<std::uint32_t, std::size_t> place_of;  // of an operator's range
  std::int64_t busy_until = works.empty() ? 0 : spans[works.front()].start_ns;
  for (const std::uint32_t number : works) {
    const Span& span = spans[number];
    const std::int64_t idle = std::max<std::int64_t>(0, span.start_ns - busy_until);
    busy_until = std::max(busy_until, span.end_ns());
    const std::uint32_t step = steps.step_of[number];
    if (step == kNone || !of_rank.steps[step].is_kept) {
      continue;
    }
    const std::uint32_t call = view.call_of[number];
    const bool is_named = view.timeline().label_of(span).operation.has_value();
    const std::uint32_t by = call == kNone || is_named ? kNone : places.operator_of[call];
    const auto [at, is_new] = place_of.try_emplace(by == kNone ? number : by, found.size());
    if (is_new) {
      found.push_back(
          {.label = number_of_label(view, spans[by == kNone ? number : by]),
           .lane = {span.lane},
           .pass = call == kNone ? WorkPass::kUnknown : places.pass_of[call],
           .span = {span.start_ns, span.end_ns()},
           .is_itself = by == kNone,
           .is_in_written_attention = call != kNone && places.is_in_written_attention[call]});
    }
    add_kernel(view, number, idle, found[at->second]);
  }
  return found;
}

std::vector<Tensor> row_inputs(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> kept = inputs;
  kept.resize(std::min(kept.size(), kMostRowInputs));
  return kept;
}

std::optional<double> stated(std::optional<double> by_label, const Occurrence& one, bool says,
                             double by_kernels) {
  if (by_label) {
    return by_label;
  }
  return !one.is_itself && says ? std::optional(by_kernels) : std::nullopt;
}

void add_stated(std::optional<double> amount, WideSum& sum, std::int64_t& count) {
  if (amount && *amount >= 0.0 && *amount < 0x1p63) {
    sum.add(*amount);
    count += 1;
  }
}

const std::vector<Tensor>& tensors_of(const Label& label,
                                      std::vector<Tensor> timeline::OperatorCall::* which) {
  static const std::vector<Tensor> kNoTensors;
  return label.call ? (*label.call).*which : kNoTensors;
}
const std::vector<Tensor>& inputs_of(const Label& label) {
  return tensors_of(label, &timeline::OperatorCall::inputs);
}
const std::vector<Tensor>& outputs_of(const Label& label) {
  return tensors_of(label, &timeline::OperatorCall::outputs);
}

// As a compiler's names tell it, else by the call.
WorkPass pass_of_work(const Occurrence& one, const Label& label) {
  if (!label.call || !label.call->pass) {
    return one.pass;
  }
  switch (*label.call->pass) {
    case timeline::CallPass::kForward:
      return WorkPass::kForward;
    case timeline::CallPass::kAgain:
      return WorkPass::kAgain;
    case timeline::CallPass::kBackward:
      return WorkPass::kBackward;
  }
  return one.pass;
}

WorkRow work_row_of(const Occurrence& one, const Label& label, const ModelShapes& shapes) {
  WorkRow row{.pass = pass_of_work(one, label)};
  // A compiler numbers its operators: those of a kind are told apart by what they are given.
  row.name = !label.operation                    ? label.name
             : label.operation->category.empty() ? label.operation->name
                                                 : label.operation->category;
  row.use = label.call && label.call->use ? label.call->use : one.use;
  row.unit = one.unit;
  row.inputs = row_inputs(inputs_of(label));
  row.part = part_of({.pass = row.pass,
                      .name = row.name,
                      .use = row.use,
                      .inputs = &inputs_of(label),
                      .outputs = &outputs_of(label),
                      .is_communication = one.is_communication,
                      .is_host_copy = one.is_host_copy,
                      .is_in_written_attention = one.is_in_written_attention},
                     shapes);
  row.time.add(one.time_ns);
  row.kernels = one.kernels;
  row.idle_ns = one.idle_ns;
  const auto flops = label.flops ? std::optional(label.flops->base()) : std::nullopt;
  const auto bytes = label.bytes ? std::optional(label.bytes->base()) : std::nullopt;
  add_stated(stated(flops, one, one.says_flops, one.kernel_flops), row.flops, row.stated_flops);
  add_stated(stated(bytes, one, one.says_bytes, one.kernel_bytes), row.bytes, row.stated_bytes);
  row.longest = one.span;
  return row;
}

auto key_of_work(const WorkRow& row) {
  return std::tie(row.pass, row.part, row.name, row.use, row.unit, row.inputs);
}
auto key_of_chain(const ChainRow& row) {
  return std::tie(row.pass, row.names);
}

// The longer_time; of equals the earlier.
Interval longer_time(const Interval& a, const Interval& b) {
  return std::tuple(-a.length_ns(), a.start_ns) <= std::tuple(-b.length_ns(), b.start_ns) ? a : b;
}

template <typename Row, typename Key>
std::vector<Row> folded_by(std::vector<Row> rows, const Key& key) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return key(a) < key(b); });
  std::vector<Row> table;
  for (Row& row : rows) {
    if (!table.empty() && key(table.back()) == key(row)) {
      table.back() += row;
    } else {
      table.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(
      table, [](const Row& a, const Row& b) { return a.time.total_ns > b.time.total_ns; });
  return table;
}

std::vector<ChainRow> all_chains(const View& view, const std::vector<Occurrence>& all,
                                 const std::vector<WorkRow>& rows) {
  std::map<LaneId, std::vector<StreamWork>> by_lane;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const WorkRow& row = rows[i];
    by_lane[all[i].lane].push_back(
        {.pass = row.pass,
         .part = row.part,
         .name = row.name,
         .use = row.use,
         .inputs = &inputs_of(view.timeline().labels()[all[i].label]),
         .outputs = &outputs_of(view.timeline().labels()[all[i].label]),
         .bytes = row.stated_bytes > 0 ? std::optional(row.bytes.value()) : std::nullopt,
         .time_ns = row.time.total_ns,
         .idle_ns = row.idle_ns,
         .span = all[i].span});
  }
  std::vector<ChainRow> chains;
  for (const auto& [lane, works] : by_lane) {
    std::ranges::move(chains_of(works), std::back_inserter(chains));
  }
  return folded(std::move(chains));
}

}  // namespace

std::string_view name_of(WorkPass pass) {
  constexpr std::array<std::string_view, kWorkPasses> kNames{"forward", "forward again", "backward",
                                                             "update", "unknown"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::string_view name_of(WorkPart part) {
  constexpr std::array<std::string_view, kWorkParts> kNames{
      "products", "head",      "attention", "attention scores", "norms",  "elementwise",
      "relayout", "embedding", "loss",      "update",           "copies", "communication",
      "other"};
  return kNames[static_cast<std::size_t>(part)];
}

WorkRow& WorkRow::operator+=(const WorkRow& other) {
  time += other.time;
  kernels += other.kernels;
  idle_ns += other.idle_ns;
  flops += other.flops;
  bytes += other.bytes;
  stated_flops += other.stated_flops;
  stated_bytes += other.stated_bytes;
  longest = longer_time(longest, other.longest);
  return *this;
}

ChainRow& ChainRow::operator+=(const ChainRow& other) {
  time += other.time;
  idle_ns += other.idle_ns;
  operators += other.operators;
  bytes += other.bytes;
  least_bytes += other.least_bytes;
  stated += other.stated;
  stated_ns += other.stated_ns;
  longest = longer_time(longest, other.longest);
  return *this;
}

std::vector<WorkRow> folded(std::vector<WorkRow> rows) {
  return folded_by(std::move(rows), key_of_work);
}

std::vector<ChainRow> folded(std::vector<ChainRow> rows) {
  return folded_by(std::move(rows), key_of_chain);
}

WorkTables device_work(const View& view, const RankLanes& rank, const Steps& steps,
                       std::size_t rank_number) {
  if (!rank.has_device()) {
    return {};
  }
  const std::span<const Label> labels = view.timeline().labels();
  const std::vector<Occurrence> all = occurrences(view, rank, steps, steps.ranks[rank_number]);
  const ModelShapes shapes = model_shapes(labels);
  std::vector<WorkRow> rows;
  rows.reserve(all.size());
  for (const Occurrence& one : all) {
    rows.push_back(work_row_of(one, labels[one.label], shapes));
  }
  WorkTables work;
  work.chains = all_chains(view, all, rows);
  work.rows = folded(std::move(rows));
  return work;
}

}  // namespace sextant::metrics
