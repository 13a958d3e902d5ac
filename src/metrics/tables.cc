#include "metrics/tables.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

std::size_t label_number(const View& view, const Span& span) {
  return static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
}

// What a label says of its amount, `count` times over. A number that is none, or negative, is not
// said.
bool add_amount(WideSum& sum, std::optional<double> amount, std::int64_t count) {
  if (!amount || !(*amount >= 0.0) || *amount >= 0x1p63) {
    return false;
  }
  sum.add_product(static_cast<std::uint64_t>(*amount), static_cast<std::uint64_t>(count));
  return true;
}

std::optional<double> flops_of(const Label& label) {
  return label.flops ? std::optional(label.flops->base()) : std::nullopt;
}

std::optional<double> bytes_of(const Label& label) {
  return label.bytes ? std::optional(label.bytes->base()) : std::nullopt;
}

template <typename Row>
void sort_by_total(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.time.total_ns > b.time.total_ns; });
}

// The kept work of a rank: `use(span, number)`.
template <typename Use>
void each_kept(const View& view, const std::vector<LaneId>& lanes, const Steps& steps,
               const RankSteps& of_rank, const Use& use) {
  for (const LaneId lane : lanes) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t number = view.number_of(span);
      const std::uint32_t step = steps.step_of[number];
      if (step != kNone && of_rank.steps[step].is_kept) {
        use(span, number);
      }
    }
  }
}

// A span of the device and what launched it.
struct Launched {
  std::uint32_t by = kNone;  // an operator's range on the host, or the span itself
  std::uint32_t work = kNone;
};

// In order of what launched them.
std::vector<Launched> launched_work(const View& view, const RankLanes& rank, const Steps& steps,
                                    const RankSteps& of_rank) {
  std::vector<Launched> launched;
  each_kept(view, rank.streams, steps, of_rank, [&](const Span& span, std::uint32_t number) {
    const std::size_t label = label_number(view, span);
    if (!view.traits[label].is_work) {
      return;
    }
    const std::uint32_t call = view.call_of[number];
    const bool is_named = view.timeline().labels()[label].operation.has_value();
    const std::uint32_t by = is_named || call == kNone ? kNone : view.operator_of[call];
    launched.push_back({by == kNone ? number : by, number});
  });
  std::sort(launched.begin(), launched.end(), [](const Launched& a, const Launched& b) {
    return std::tuple(a.by, a.work) < std::tuple(b.by, b.work);
  });
  return launched;
}

// One occurrence of an operator: [from, to) were launched by it.
void add_occurrence(const View& view, std::span<const Launched> works,
                    std::vector<OperatorRow>& by_label) {
  const std::span<const Span> spans = view.timeline().spans();
  const std::size_t label_at = label_number(view, spans[works.front().by]);
  const Label& label = view.timeline().labels()[label_at];
  OperatorRow& row = by_label[label_at];
  std::int64_t time = 0;
  bool says_flops = add_amount(row.flops, flops_of(label), 1);
  bool says_bytes = add_amount(row.bytes, bytes_of(label), 1);
  // What the operator itself says counts: its kernels' would count twice.
  const bool says_all_flops = says_flops;
  const bool says_all_bytes = says_bytes;
  const bool is_itself = works.front().by == works.front().work;
  for (const Launched& one : works) {
    const Label& work = view.timeline().label_of(spans[one.work]);
    time += spans[one.work].duration_ns;
    if (!is_itself && !says_all_flops) {
      says_flops |= add_amount(row.flops, flops_of(work), 1);
    }
    if (!is_itself && !says_all_bytes) {
      says_bytes |= add_amount(row.bytes, bytes_of(work), 1);
    }
  }
  row.time.add(time);
  row.kernels += static_cast<std::int64_t>(works.size());
  row.stated_flops += says_flops ? 1 : 0;
  row.stated_bytes += says_bytes ? 1 : 0;
}

void name_rows(const View& view, std::vector<OperatorRow>& by_label) {
  for (std::size_t i = 0; i < by_label.size(); ++i) {
    const Label& label = view.timeline().labels()[i];
    by_label[i].name = label.operation ? label.operation->name : label.name;
    if (label.operation) {
      by_label[i].category = label.operation->category;
      by_label[i].module = label.operation->module;
    }
  }
}

// What threads of CPUs did by themselves: the time of a range without those inside it.
void add_own_times(const View& view, const RankLanes& rank, const Steps& steps,
                   const RankSteps& of_rank, std::vector<OperatorRow>& by_label) {
  struct Open {
    const Span* span = nullptr;
    std::int64_t own_ns = 0;
    bool is_kept = false;
  };
  std::vector<Open> open;
  const auto close = [&] {
    if (open.back().is_kept) {
      OperatorRow& row = by_label[label_number(view, *open.back().span)];
      const Label& label = view.timeline().label_of(*open.back().span);
      row.time.add(std::max<std::int64_t>(0, open.back().own_ns));
      row.stated_flops += add_amount(row.flops, flops_of(label), 1) ? 1 : 0;
      row.stated_bytes += add_amount(row.bytes, bytes_of(label), 1) ? 1 : 0;
    }
    open.pop_back();
  };
  for (const LaneId lane : rank.threads) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const SpanKind kind = view.timeline().label_of(span).kind;
      if (kind == SpanKind::kMark || kind == SpanKind::kIdle) {
        continue;
      }
      while (!open.empty() && open.back().span->end_ns() <= span.start_ns) {
        close();
      }
      if (!open.empty()) {
        open.back().own_ns -= std::min(span.end_ns(), open.back().span->end_ns()) - span.start_ns;
      }
      const std::uint32_t step = steps.step_of[view.number_of(span)];
      open.push_back({&span, span.duration_ns, step != kNone && of_rank.steps[step].is_kept});
    }
    while (!open.empty()) {
      close();
    }
  }
}

auto key_of_operator(const OperatorRow& row) {
  return std::tuple(row.name, row.category, row.module);
}

}  // namespace

std::vector<std::uint32_t> operators_of_calls(const View& view, const RankLanes& rank) {
  std::vector<std::uint32_t> operator_of(view.call_of.size(), kNone);
  std::vector<const Span*> open;
  for (const LaneId lane : rank.threads) {
    open.clear();
    for (const Span& span : view.timeline().spans_of(lane)) {
      while (!open.empty() && open.back()->end_ns() <= span.start_ns) {
        open.pop_back();
      }
      const std::size_t label = label_number(view, span);
      if (view.traits[label].is_runtime) {
        // Ranges that only overlap are no nesting: the innermost that holds the call's start.
        operator_of[view.number_of(span)] = open.empty() ? kNone : view.number_of(*open.back());
      } else if (view.timeline().labels()[label].kind == SpanKind::kHost) {
        open.push_back(&span);
      }
    }
  }
  return operator_of;
}

KernelRow& KernelRow::operator+=(const KernelRow& other) {
  time += other.time;
  flops += other.flops;
  bytes += other.bytes;
  stated += other.stated;
  return *this;
}

OperatorRow& OperatorRow::operator+=(const OperatorRow& other) {
  time += other.time;
  kernels += other.kernels;
  flops += other.flops;
  bytes += other.bytes;
  stated_flops += other.stated_flops;
  stated_bytes += other.stated_bytes;
  return *this;
}

std::vector<KernelRow> folded(std::vector<KernelRow> rows) {
  std::map<std::pair<std::string, SpanKind>, KernelRow> by_name;
  for (KernelRow& row : rows) {
    const auto [at, is_new] = by_name.try_emplace({row.name, row.kind}, row);
    if (!is_new) {
      at->second += row;
    }
  }
  std::vector<KernelRow> table;
  for (auto& [key, row] : by_name) {
    table.push_back(std::move(row));
  }
  sort_by_total(table);
  return table;
}

std::vector<OperatorRow> folded(std::vector<OperatorRow> rows) {
  std::map<std::tuple<std::string, std::string, std::string>, OperatorRow> by_name;
  for (OperatorRow& row : rows) {
    const auto [at, is_new] = by_name.try_emplace(key_of_operator(row), row);
    if (!is_new) {
      at->second += row;
    }
  }
  std::vector<OperatorRow> table;
  for (auto& [key, row] : by_name) {
    table.push_back(std::move(row));
  }
  sort_by_total(table);
  return table;
}

std::vector<KernelRow> kernel_table(const View& view, const RankLanes& rank, const Steps& steps,
                                    std::size_t rank_number) {
  std::vector<Spread> times(view.traits.size());
  each_kept(view, rank.has_device() ? rank.streams : rank.threads, steps, steps.ranks[rank_number],
            [&](const Span& span, std::uint32_t) {
              times[label_number(view, span)].add(span.duration_ns);
            });
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].count == 0 || !view.traits[i].is_work) {
      continue;
    }
    const Label& label = view.timeline().labels()[i];
    KernelRow row{.name = label.name, .kind = label.kind, .time = times[i]};
    row.stated = add_amount(row.flops, flops_of(label), times[i].count) ? times[i].count : 0;
    add_amount(row.bytes, bytes_of(label), times[i].count);
    rows.push_back(std::move(row));
  }
  return folded(std::move(rows));
}

std::vector<OperatorRow> operator_table(const View& view, const RankLanes& rank, const Steps& steps,
                                        std::size_t rank_number) {
  std::vector<OperatorRow> by_label(view.traits.size());
  const RankSteps& of_rank = steps.ranks[rank_number];
  if (rank.has_device()) {
    const std::vector<Launched> launched = launched_work(view, rank, steps, of_rank);
    for (std::size_t from = 0; from < launched.size();) {
      std::size_t to = from;
      while (to < launched.size() && launched[to].by == launched[from].by) {
        ++to;
      }
      add_occurrence(view, std::span(launched).subspan(from, to - from), by_label);
      from = to;
    }
  } else {
    add_own_times(view, rank, steps, of_rank, by_label);
  }
  name_rows(view, by_label);
  std::erase_if(by_label, [](const OperatorRow& row) { return row.time.count == 0; });
  return folded(std::move(by_label));
}

}  // namespace sextant::metrics
