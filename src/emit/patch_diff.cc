#include "emit/patch_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace sextant::emit {
namespace {

constexpr std::size_t kContextLines = 3;
// Lines compared with lines: beyond this the whole middle is one change.
constexpr std::size_t kMostComparisons = 4'000'000;

using Lines = std::vector<std::string_view>;  // with their line feeds

Lines lines_of(std::string_view text) {
  Lines lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    lines.push_back(text.substr(start, end - start));
    start = end;
  }
  return lines;
}

struct Step {
  char sign = ' ';  // ' ', '-' or '+'
  std::string_view line;
};

// The longest common subsequence of the two middles, as steps.
void add_middle(const Lines& a, const Lines& b, std::vector<Step>& steps) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::uint32_t> common;
  const bool compared = a.size() < kMostComparisons / columns;
  if (compared) {
    common.assign((a.size() + 1) * columns, 0);
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        common[i * columns + j] =
            a[i] == b[j] ? common[(i + 1) * columns + j + 1] + 1
                         : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
      }
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (compared && i < a.size() && j < b.size() && a[i] == b[j]) {
      steps.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() && (!compared || j == b.size() ||
                                common[(i + 1) * columns + j] >= common[i * columns + j + 1])) {
      steps.push_back({'-', a[i++]});
    } else {
      steps.push_back({'+', b[j++]});
    }
  }
}

std::vector<Step> steps_between(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) {
    steps.push_back({' ', a[i]});
  }
  const auto middle = [&](const Lines& all) {
    return Lines(all.begin() + static_cast<std::ptrdiff_t>(head),
                 all.end() - static_cast<std::ptrdiff_t>(tail));
  };
  add_middle(middle(a), middle(b), steps);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) {
    steps.push_back({' ', a[i]});
  }
  return steps;
}

// "12,3"; one line has no count, none is counted from the line before.
std::string range_text(std::size_t lines_before, std::size_t count) {
  const std::size_t first = count == 0 ? lines_before : lines_before + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

std::string hunk_text(const std::vector<Step>& steps, std::size_t first, std::size_t last,
                      std::size_t old_before, std::size_t new_before) {
  std::string body;
  std::size_t old_count = 0;
  std::size_t new_count = 0;
  for (std::size_t i = first; i < last; ++i) {
    old_count += steps[i].sign != '+' ? 1U : 0U;
    new_count += steps[i].sign != '-' ? 1U : 0U;
    body += steps[i].sign;
    body += steps[i].line;
    if (!steps[i].line.ends_with('\n')) {
      body += "\n\\ No newline at end of file\n";
    }
  }
  return fmt::format("@@ -{} +{} @@\n{}", range_text(old_before, old_count),
                     range_text(new_before, new_count), body);
}

}  // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  const std::vector<Step> steps = steps_between(lines_of(before), lines_of(after));
  const auto is_change = [](const Step& step) { return step.sign != ' '; };
  std::string text;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (std::size_t at = 0; at < steps.size();) {
    const auto change =
        std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end(), is_change);
    const auto next = static_cast<std::size_t>(change - steps.begin());
    const std::size_t first = std::max(at, next - std::min(next, kContextLines));
    old_line += first - at;
    new_line += first - at;
    if (next == steps.size()) {
      break;
    }
    // A hunk ends where more than two contexts of equal lines follow.
    std::size_t last_change = next;
    for (std::size_t i = next; i < steps.size() && i <= last_change + 2 * kContextLines + 1; ++i) {
      last_change = is_change(steps[i]) ? i : last_change;
    }
    const std::size_t end = std::min(last_change + kContextLines + 1, steps.size());
    text += hunk_text(steps, first, end, old_line, new_line);
    for (std::size_t i = first; i < end; ++i) {
      old_line += steps[i].sign != '+' ? 1U : 0U;
      new_line += steps[i].sign != '-' ? 1U : 0U;
    }
    at = end;
  }
  return text.empty() ? text : fmt::format("--- {0}\n+++ {0}\n{1}", name, text);
}

}  // namespace sextant::emit
