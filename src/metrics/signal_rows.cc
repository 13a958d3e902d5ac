#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "metrics/signals.h"

namespace sextant::metrics {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 53U;

bool is_longer_moment(const Interval& a, const Interval& b) {
  return std::tuple(-a.length_ns(), a.start_ns) < std::tuple(-b.length_ns(), b.start_ns);
}

}  // namespace

void keep_longest(std::vector<Interval>& longest, const Interval& one) {
  if (longest.size() == kMostMoments && !is_longer_moment(one, longest.back())) {
    return;
  }
  longest.insert(std::upper_bound(longest.begin(), longest.end(), one, is_longer_moment), one);
  longest.resize(std::min(longest.size(), kMostMoments));
}

std::string_view name_of(Signal signal) {
  constexpr std::array<std::string_view, kSignals> kNames{
      "python_gc",     "profiler",    "data",    "compilation", "save",       "allocation_retry",
      "allocator",     "host_update", "copy_in", "copy_out",    "sync",       "held_up",
      "dispatch",      "python",      "latency", "host_code",   "step_start", "step_end",
      "pinned_copy_in"};
  return kNames[static_cast<std::size_t>(signal)];
}

void SignalRow::add_bytes(double more) {
  bytes = more < static_cast<double>(kMostBytes - bytes) ? bytes + static_cast<std::int64_t>(more)
                                                         : kMostBytes;
}

SignalRow& SignalRow::operator+=(const SignalRow& other) {
  time += other.time;
  idle_ns += other.idle_ns;
  copy_ns += other.copy_ns;
  after_ns += other.after_ns;
  bytes = std::min(bytes + other.bytes, kMostBytes);
  for (const Interval& one : other.longest) {
    keep_longest(longest, one);
  }
  return *this;
}

std::vector<SignalRow> folded(std::vector<SignalRow> rows) {
  std::map<std::pair<Signal, std::string>, SignalRow> by_name;
  for (SignalRow& row : rows) {
    const auto [at, is_new] = by_name.try_emplace({row.signal, row.what}, row);
    if (!is_new) {
      at->second += row;
    }
  }
  std::vector<SignalRow> table;
  for (auto& [key, row] : by_name) {
    table.push_back(std::move(row));
  }
  std::stable_sort(table.begin(), table.end(), [](const SignalRow& a, const SignalRow& b) {
    return a.exposed_ns() + a.after_ns > b.exposed_ns() + b.after_ns;
  });
  return table;
}

}  // namespace sextant::metrics
