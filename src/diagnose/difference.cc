#include "diagnose/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/work_kind.h"

namespace sextant::diagnose {
namespace {

// Kernels (or operators) that both runs name alike must be so much of each run's time for a
// comparison by name to say something: else most of it would be "gone" and "new".
constexpr double kComparableByName = 0.5;

Seconds mean_of_steps(std::int64_t total_ns, const ComparedRun& run) {
  return static_cast<double>(total_ns) / static_cast<double>(run.totals.steps) * 1_ns;
}

double count_of_steps(std::int64_t count, const ComparedRun& run) {
  return static_cast<double>(count) / static_cast<double>(run.totals.steps);
}

// Rows of both runs by what they are called.
class Rows {
 public:
  Rows(const ComparedRun& a, const ComparedRun& b) : a_(a), b_(b) {}

  void add(bool is_b, const std::string& name, const std::string& detail, std::int64_t time_ns,
           std::int64_t count) {
    Change& row = rows_[{name, detail}];
    row.name = name;
    row.detail = detail;
    const ComparedRun& run = is_b ? b_ : a_;
    std::optional<Seconds>& time = is_b ? row.b : row.a;
    time = time.value_or(0_s) + mean_of_steps(time_ns, run);
    (is_b ? row.count_b : row.count_a) += count_of_steps(count, run);
  }

  // Most change first; of equals by name.
  std::vector<Change> take() {
    std::vector<Change> changes;
    for (auto& [key, row] : rows_) {
      changes.push_back(std::move(row));
    }
    std::ranges::stable_sort(changes, std::greater<>(),
                             [](const Change& one) { return std::abs(one.change() / 1_s); });
    return changes;
  }

 private:
  const ComparedRun& a_;
  const ComparedRun& b_;
  std::map<std::pair<std::string, std::string>, Change> rows_;
};

// Calls `add(rows, is_b, row)` for the rows of both.
template <typename Row, typename Add>
std::vector<Change> changes_of(const ComparedRun& a, const ComparedRun& b,
                               std::span<const Row> ComparedRun::* which, const Add& add) {
  Rows rows(a, b);
  for (const Row& row : a.*which) {
    add(rows, false, row);
  }
  for (const Row& row : b.*which) {
    add(rows, true, row);
  }
  return rows.take();
}

std::vector<Change> kernel_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::kernels,
                    [](Rows& rows, bool is_b, const metrics::KernelRow& row) {
                      rows.add(is_b, row.name, std::string(timeline::name_of(row.kind)),
                               row.time.total_ns, row.time.count);
                    });
}

std::vector<Change> kind_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::kernels,
                    [](Rows& rows, bool is_b, const metrics::KernelRow& row) {
                      rows.add(is_b, std::string(name_of(work_kind(row.name, row.kind))), {},
                               row.time.total_ns, row.time.count);
                    });
}

std::vector<Change> operator_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::operators,
                    [](Rows& rows, bool is_b, const metrics::OperatorRow& row) {
                      rows.add(is_b, row.name, row.category, row.time.total_ns, row.time.count);
                    });
}

std::string collective_name(const metrics::CollectiveRow& row) {
  for (const auto& [op, word] : kCollectiveOpWords) {
    if (row.op == op) {
      return std::string(word);
    }
  }
  return row.word.empty() ? "unknown" : row.word;
}

std::string collective_detail(const metrics::CollectiveRow& row) {
  std::string text = row.ranks ? fmt::format("{} ranks", *row.ranks) : std::string();
  if (row.size_class) {
    text += fmt::format("{}up to {}", text.empty() ? "" : ", ",
                        to_text(static_cast<double>(*row.size_class) * 1_B));
  }
  return text;
}

std::vector<Change> collective_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::collectives,
                    [](Rows& rows, bool is_b, const metrics::CollectiveRow& row) {
                      rows.add(is_b, collective_name(row), collective_detail(row),
                               row.time.total_ns, row.time.count);
                    });
}

std::vector<Change> signal_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::signals,
                    [](Rows& rows, bool is_b, const metrics::SignalRow& row) {
                      rows.add(is_b, std::string(metrics::name_of(row.signal)), row.what,
                               row.exposed_ns(), row.time.count);
                    });
}

// Of a range what is its own: work, and idle time before it.
std::vector<Change> range_changes(const ComparedRun& a, const ComparedRun& b) {
  return changes_of(a, b, &ComparedRun::ranges,
                    [](Rows& rows, bool is_b, const metrics::RangeRow& row) {
                      const std::string name = row.name.empty() ? "(in no range)" : row.name;
                      if (row.own_work_ns > 0) {
                        rows.add(is_b, name, "its work", row.own_work_ns, row.count);
                      }
                      if (row.own_idle_ns > 0) {
                        rows.add(is_b, name, "idle before it", row.own_idle_ns, row.count);
                      }
                    });
}

Change plain_change(std::string_view name, std::int64_t metrics::Breakdown::* part,
                    const ComparedRun& a, const ComparedRun& b) {
  return {.name = std::string(name),
          .a = mean_of_steps(a.totals.time.*part, a),
          .b = mean_of_steps(b.totals.time.*part, b)};
}

std::vector<Change> part_changes(const ComparedRun& a, const ComparedRun& b) {
  using metrics::Breakdown;
  return {plain_change("compute", &Breakdown::compute_ns, a, b),
          plain_change("exposed communication", &Breakdown::exposed_communication_ns, a, b),
          plain_change("exposed copies", &Breakdown::exposed_copy_ns, a, b),
          plain_change("idle", &Breakdown::idle_ns, a, b)};
}

std::vector<Change> idle_changes(const ComparedRun& a, const ComparedRun& b) {
  using metrics::IdleCauses;
  constexpr std::array<std::pair<std::string_view, std::int64_t IdleCauses::*>, 6> kCauses{
      {{"idle: host late", &IdleCauses::host_late_ns},
       {"idle: host blocked", &IdleCauses::host_blocked_ns},
       {"idle: launching", &IdleCauses::launching_ns},
       {"idle: dependency", &IdleCauses::dependency_ns},
       {"idle: between kernels", &IdleCauses::other_ns},
       {"idle: unknown", &IdleCauses::unknown_ns}}};
  std::vector<Change> changes;
  for (const auto& [name, cause] : kCauses) {
    if (a.totals.idle.*cause != 0 || b.totals.idle.*cause != 0) {
      changes.push_back({.name = std::string(name),
                         .a = mean_of_steps(a.totals.idle.*cause, a),
                         .b = mean_of_steps(b.totals.idle.*cause, b)});
    }
  }
  return changes;
}

// Of the time of each run's rows, what both call alike: the lesser share.
double named_alike(const std::vector<Change>& changes) {
  Seconds all_a{};
  Seconds all_b{};
  Seconds both_a{};
  Seconds both_b{};
  for (const Change& one : changes) {
    all_a += one.a.value_or(0_s);
    all_b += one.b.value_or(0_s);
    if (one.a && one.b) {
      both_a += *one.a;
      both_b += *one.b;
    }
  }
  return std::min(all_a > 0_s ? both_a / all_a : 1.0, all_b > 0_s ? both_b / all_b : 1.0);
}

// What only one run has, put together by kind of work: under other names it may be the same.
std::vector<Change> by_kind_where_alone(const std::vector<Change>& operators) {
  std::vector<Change> changes;
  std::map<WorkKind, Change> alone;
  for (const Change& one : operators) {
    if (one.a && one.b) {
      changes.push_back(one);
      continue;
    }
    const WorkKind kind = work_kind(one.name, timeline::SpanKind::kCompute);
    Change& sum = alone[kind];
    sum.name = fmt::format("(in one alone: {})", name_of(kind));
    sum.a = sum.a.value_or(0_s) + one.a.value_or(0_s);
    sum.b = sum.b.value_or(0_s) + one.b.value_or(0_s);
    sum.count_a += one.count_a;
    sum.count_b += one.count_b;
  }
  for (auto& [kind, sum] : alone) {
    changes.push_back(std::move(sum));
  }
  return changes;
}

void add_all(const std::vector<Change>& from, std::vector<Change>& into) {
  into.insert(into.end(), from.begin(), from.end());
}

// What is left to the step: moments at which several things ran count once.
void add_rest(Makeup& makeup, const Difference& difference) {
  Seconds a{};
  Seconds b{};
  for (const Change& one : makeup.changes) {
    a += one.a.value_or(0_s);
    b += one.b.value_or(0_s);
  }
  const Change rest{.name = "(ran at once, counted once)",
                    .a = difference.step_a - a,
                    .b = difference.step_b - b};
  // Times are whole nanoseconds over at most some millions of steps: below this it is rounding.
  constexpr Seconds kRounding = 1e-6 * 1_ns;
  if (std::abs(*rest.a / kRounding) >= 1.0 || std::abs(*rest.b / kRounding) >= 1.0) {
    makeup.changes.push_back(rest);
  }
}

void finish(Makeup& makeup, const Difference& difference) {
  add_rest(makeup, difference);
  std::ranges::stable_sort(makeup.changes, std::greater<>(),
                           [](const Change& one) { return std::abs(one.change() / 1_s); });
  const double all = (difference.step_b - difference.step_a) / 1_s;
  double sum = 0.0;
  for (std::size_t i = 0; i < makeup.changes.size(); ++i) {
    if (std::abs(all - sum) > (1.0 - kMadeUp) * std::abs(all)) {
      makeup.needed = i + 1;
    }
    sum += makeup.changes[i].change() / 1_s;
  }
}

Makeup makeup_of(const ComparedRun& a, const ComparedRun& b, const Difference& difference) {
  Makeup makeup;
  if (!a.has_device || !b.has_device) {
    makeup.of = "parts";
    makeup.changes = difference.parts;
  } else if (named_alike(difference.kernels) >= kComparableByName) {
    makeup.of = "kernels";
    makeup.changes = difference.kernels;
  } else if (named_alike(difference.operators) >= kComparableByName) {
    makeup.of = "operators";
    makeup.changes = by_kind_where_alone(difference.operators);
  } else {
    makeup.of = "kinds of work";
    makeup.changes = difference.kinds;
  }
  if (makeup.of != "parts") {
    add_all(difference.idle, makeup.changes);
  }
  finish(makeup, difference);
  return makeup;
}

Makeup ranges_makeup(const ComparedRun& a, const ComparedRun& b, const Difference& difference) {
  Makeup makeup;
  makeup.of = "ranges";
  const auto has_named = [](const ComparedRun& run) {
    return std::ranges::any_of(run.ranges,
                               [](const metrics::RangeRow& row) { return !row.name.empty(); });
  };
  if (has_named(a) || has_named(b)) {
    makeup.changes = range_changes(a, b);
    finish(makeup, difference);
  }
  return makeup;
}

void add_largest(const Diagnosis* diagnosis, std::optional<Seconds> FindingChange::* side,
                 std::map<std::string, FindingChange>& changes) {
  if (diagnosis == nullptr) {
    return;
  }
  for (const Finding& finding : diagnosis->findings) {
    if (!finding.explained_by) {
      FindingChange& change = changes[finding.rule];
      change.rule = finding.rule;
      change.*side = std::max((change.*side).value_or(0_s), finding.per_step);
    }
  }
}

std::vector<FindingChange> finding_changes(const ComparedRun& a, const ComparedRun& b) {
  std::map<std::string, FindingChange> by_rule;
  add_largest(a.diagnosis, &FindingChange::a, by_rule);
  add_largest(b.diagnosis, &FindingChange::b, by_rule);
  std::vector<FindingChange> changes;
  for (auto& [rule, change] : by_rule) {
    changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(changes, std::greater<>(), [](const FindingChange& one) {
    return std::abs((one.b.value_or(0_s) - one.a.value_or(0_s)) / 1_s);
  });
  return changes;
}

}  // namespace

std::optional<double> Makeup::share_of_first(std::size_t count) const {
  Seconds all{};
  Seconds first{};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    all += changes[i].change();
    first += i < count ? changes[i].change() : 0_s;
  }
  return std::abs(all / 1_ns) < 1.0 ? std::nullopt : std::optional(first / all);
}

Difference difference_of(const ComparedRun& a, const ComparedRun& b) {
  Difference difference;
  difference.step_a = mean_of_steps(a.totals.time.total_ns(), a);
  difference.step_b = mean_of_steps(b.totals.time.total_ns(), b);
  difference.parts = part_changes(a, b);
  difference.idle = idle_changes(a, b);
  difference.kinds = kind_changes(a, b);
  difference.kernels = kernel_changes(a, b);
  difference.operators = operator_changes(a, b);
  difference.collectives = collective_changes(a, b);
  difference.signals = signal_changes(a, b);
  difference.makeup = makeup_of(a, b, difference);
  difference.ranges = ranges_makeup(a, b, difference);
  difference.findings = finding_changes(a, b);
  return difference;
}

std::vector<std::string> met(const Gate& gate, const Difference& difference) {
  std::vector<std::string> reasons;
  for (const FindingChange& one : difference.findings) {
    const bool is_asked = std::ranges::find(gate.rules, one.rule) != gate.rules.end();
    if (is_asked && one.b && !one.a) {
      reasons.push_back(one.rule + " is new");
    }
  }
  if (gate.slower && difference.step_b > difference.step_a * (1.0 + *gate.slower)) {
    reasons.push_back(fmt::format("a step is {:.1f} % slower, more than {:g} %",
                                  100.0 * (difference.step_b / difference.step_a - 1.0),
                                  100.0 * *gate.slower));
  }
  return reasons;
}

}  // namespace sextant::diagnose
