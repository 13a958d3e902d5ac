#include "metrics/intervals.h"

#include <algorithm>
#include <tuple>

namespace sextant::metrics {
namespace {

bool starts_before(const Interval& a, const Interval& b) {
  return std::tuple(a.start_ns, a.end_ns) < std::tuple(b.start_ns, b.end_ns);
}

// REQUIRES: comes no earlier than the last.
void append(Intervals& to, const Interval& next) {
  if (next.start_ns >= next.end_ns) {
    return;
  }
  if (!to.empty() && next.start_ns <= to.back().end_ns) {
    to.back().end_ns = std::max(to.back().end_ns, next.end_ns);
  } else {
    to.push_back(next);
  }
}

}  // namespace

Intervals united(std::vector<Interval> pieces) {
  if (!std::is_sorted(pieces.begin(), pieces.end(), starts_before)) {
    std::sort(pieces.begin(), pieces.end(), starts_before);
  }
  // In place: what is kept never passes what is read.
  std::size_t kept = 0;
  for (const Interval next : pieces) {
    if (next.start_ns >= next.end_ns) {
      continue;
    }
    if (kept > 0 && next.start_ns <= pieces[kept - 1].end_ns) {
      pieces[kept - 1].end_ns = std::max(pieces[kept - 1].end_ns, next.end_ns);
    } else {
      pieces[kept++] = next;
    }
  }
  pieces.resize(kept);
  return pieces;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals both;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    append(both,
           {std::max(left->start_ns, right->start_ns), std::min(left->end_ns, right->end_ns)});
    if (left->end_ns < right->end_ns) {
      ++left;
    } else {
      ++right;
    }
  }
  return both;
}

Intervals united(const Intervals& a, const Intervals& b) {
  Intervals either;
  either.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    const bool take_left =
        right == b.end() || (left != a.end() && left->start_ns <= right->start_ns);
    append(either, take_left ? *left++ : *right++);
  }
  return either;
}

Intervals difference(const Intervals& a, const Intervals& b) {
  Intervals left_over;
  auto cut = b.begin();
  for (const Interval& piece : a) {
    std::int64_t from = piece.start_ns;
    while (cut != b.end() && cut->end_ns <= from) {
      ++cut;
    }
    for (auto next = cut; next != b.end() && next->start_ns < piece.end_ns; ++next) {
      append(left_over, {from, next->start_ns});
      from = next->end_ns;
    }
    append(left_over, {from, piece.end_ns});
  }
  return left_over;
}

Intervals clipped(const Intervals& of, std::int64_t from_ns, std::int64_t to_ns) {
  return intersection(of, {{from_ns, to_ns}});
}

std::int64_t length_ns(const Intervals& of) {
  std::int64_t sum = 0;
  for (const Interval& one : of) {
    sum += one.length_ns();
  }
  return sum;
}

}  // namespace sextant::metrics
