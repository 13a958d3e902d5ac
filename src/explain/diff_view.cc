#include "explain/diff_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_lines.h"
#include "explain/diagnose_words.h"
#include "explain/diff_json.h"
#include "explain/finding_view.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

using diagnose::Change;
using diagnose::Difference;
using diagnose::Makeup;
using sextant::to_text;

constexpr std::size_t kVerboseChanges = 30;
// Together with what stands above them, no more than a screen of 40 lines.
constexpr std::size_t kMadeOfRows = 5;
constexpr std::size_t kRangeRows = 4;
constexpr std::size_t kKindRows = 4;
constexpr std::size_t kSignalRows = 3;
constexpr std::size_t kFewest = 3;
constexpr std::size_t kCollectiveChanges = 2;
constexpr std::size_t kNameLetters = 46;

std::string change_cell(const std::optional<Seconds>& time) {
  return time ? to_text(*time) : "-";
}

std::string change_counts(const Change& change) {
  const std::string a = fmt::format("{:.4g}", change.count_a);
  const std::string b = fmt::format("{:.4g}", change.count_b);
  if (change.count_a == 0.0 && change.count_b == 0.0) {
    return {};
  }
  return a == b ? a : fmt::format("{} → {}", a, b);
}

// Where what grew and what shrank cancel out, shares of what is left say nothing: then shares are
// of the step.
bool cancels_out(const Difference& difference) {
  constexpr double kSlight = 0.01;
  return std::abs((difference.step_b - difference.step_a) / difference.step_a) < kSlight;
}

std::string share_of_change(const Change& change, const Difference& difference) {
  return cancels_out(difference)
             ? signed_percent(change.change() / difference.step_a)
             : percent(change.change() / (difference.step_b - difference.step_a));
}

std::size_t rows_of(const DiffAnswer& answer, std::size_t usual) {
  return answer.top       ? static_cast<std::size_t>(*answer.top)
         : answer.verbose ? kVerboseChanges
                          : usual;
}

std::size_t makeup_rows(const DiffAnswer& answer, const Makeup& makeup, std::size_t most) {
  return std::min(makeup.changes.size(),
                  rows_of(answer, std::clamp(makeup.needed, std::min(kFewest, most), most)));
}

std::string titled(const std::string& title, const Table& table, const Style& style) {
  if (table.rows.empty()) {
    return {};
  }
  return "\n" + (title.empty() ? title : bold(title, style) + "\n") + to_text(table, style);
}

std::string makeup_section(const DiffAnswer& answer, const Makeup& makeup, std::size_t most,
                           const Style& style) {
  if (makeup.changes.empty() || makeup.of == "parts") {
    return {};
  }
  const std::size_t rows = makeup_rows(answer, makeup, most);
  return titled(makeup_title(makeup, rows, answer.difference),
                change_table(makeup.changes, makeup.of, rows, answer.difference), style);
}

std::string diff_head(const DiffAnswer& answer, const Style& style) {
  const auto line = [&](std::string_view name, const std::string& text) {
    return style.format == Format::kMarkdown
               ? fmt::format("- {}: {}\n", name, text)
               : fmt::format("{} {}\n", bold(fmt::format("{:<6}", name), style), text);
  };
  std::string text = line("A", compared_run_text(answer.a));
  text += line("B", compared_run_text(answer.b));
  text += line("step", step_change_text(answer.difference));
  for (const std::string& finding : finding_change_lines(answer.difference)) {
    text += line("finds", finding);
  }
  for (const std::string& reason : answer.met) {
    text += bad("‹fail-on› is met: " + reason, style) + "\n";
  }
  return text;
}

std::string diff_losses(const DiffAnswer& answer) {
  const auto of = [](std::string_view name, const DiagnoseAnswer& run) {
    return run.unread.empty() ? std::string()
                              : fmt::format(
                                    "not read of {}: {} kinds of things («diagnose» says "
                                    "which)\n",
                                    name, run.unread.size());
  };
  const std::string text = of("A", answer.a) + of("B", answer.b);
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string compared_run_text(const DiagnoseAnswer& run) {
  const std::string file = run.files.size() == 1 ? short_file_name(run.files.front().name)
                                                 : fmt::format("{} files", run.files.size());
  std::string device =
      run.ranks.front().summary.has_device ? run.ranks.front().summary.device : "CPU";
  device = device.empty() ? "device not said" : printable(device, 40);
  const std::string ranks = run.ranks.size() == 1
                                ? fmt::format("rank {}", run.ranks.front().summary.rank.value)
                                : fmt::format("{} ranks", run.ranks.size());
  return fmt::format("{}: {}{}, {}, {} step{}", file, ranks,
                     run.world ? fmt::format(" of {}", *run.world) : std::string(), device,
                     with_thousands(run.totals.steps), run.totals.steps == 1 ? "" : "s");
}

std::string time_change(Seconds time) {
  return (time < 0_s ? "−" : "+") + to_text(time < 0_s ? 0_s - time : time);
}

std::string step_change_text(const Difference& difference) {
  const Seconds change = difference.step_b - difference.step_a;
  const std::string both =
      fmt::format("{} → {}", to_text(difference.step_a), to_text(difference.step_b));
  if (std::abs(change / 1_ns) < 1.0) {
    return both + ": the same";
  }
  return fmt::format("{}: {} ({}) {}", both, to_text(change < 0_s ? 0_s - change : change),
                     percent(std::abs(change / difference.step_a)),
                     change < 0_s ? "faster" : "slower");
}

std::string makeup_title(const Makeup& makeup, std::size_t shown,
                         const diagnose::Difference& difference) {
  const std::string of = makeup.of == "ranges"
                             ? "ranges of the host, with what they launched and the idle before it"
                             : fmt::format("{} and idle time", makeup.of);
  if (cancels_out(difference)) {
    return fmt::format("{}: {} of {}", of, shown, makeup.changes.size());
  }
  const std::string more = shown < makeup.needed
                               ? fmt::format(" ({} make up {})", makeup.needed,
                                             percent(makeup.share_of_first(makeup.needed)))
                               : std::string();
  return fmt::format("{}: {} of {} make up {} of the change{}", of, shown, makeup.changes.size(),
                     percent(makeup.share_of_first(shown)), more);
}

std::vector<std::string> finding_change_lines(const Difference& difference) {
  std::vector<std::string> lines;
  for (const diagnose::FindingChange& one : difference.findings) {
    if (one.a && one.b) {
      lines.push_back(
          fmt::format("in both: {} {} → {}", one.rule, to_text(*one.a), to_text(*one.b)));
    } else {
      lines.push_back(fmt::format("{}: {} {}", one.b ? "new in B" : "gone in B", one.rule,
                                  to_text(one.b ? *one.b : one.a.value_or(0_s))));
    }
  }
  return lines;
}

Table change_table(const std::vector<Change>& changes, std::string_view first, std::size_t rows,
                   const Difference& difference) {
  const auto shown = std::min(rows, changes.size());
  const bool has_details =
      std::ranges::any_of(changes, [](const Change& one) { return !one.detail.empty(); });
  const bool has_counts = std::ranges::any_of(
      changes, [](const Change& one) { return one.count_a > 0.0 || one.count_b > 0.0; });
  Table table{{{std::string(first)}}, {}};
  if (has_details) {
    table.columns.push_back({""});
  }
  const char* share = cancels_out(difference) ? "of the step" : "of it";
  for (const char* title : {"A", "B", "change", share}) {
    table.columns.push_back({title, true});
  }
  if (has_counts) {
    table.columns.push_back({"count", true});
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const Change& one = changes[i];
    std::vector<std::string> row{short_kernel_name(one.name, kNameLetters)};
    if (has_details) {
      row.push_back(printable(one.detail, 24));
    }
    row.insert(row.end(), {change_cell(one.a), change_cell(one.b), time_change(one.change()),
                           share_of_change(one, difference)});
    if (has_counts) {
      row.push_back(change_counts(one));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string to_text(const DiffAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return diff_json(answer);
  }
  const Difference& difference = answer.difference;
  if (style.format == Format::kCsv) {
    return diff_csv(answer);
  }
  std::string text = diff_head(answer, style);
  text += titled("", change_table(difference.parts, "where the step goes", 4, difference), style);
  text += makeup_section(answer, difference.makeup, kMadeOfRows, style);
  if (difference.makeup.of != "kernels" || answer.verbose) {
    text += titled(
        "", change_table(difference.kinds, "kind of work", rows_of(answer, kKindRows), difference),
        style);
  }
  text += makeup_section(answer, difference.ranges, kRangeRows, style);
  text += titled("",
                 change_table(difference.signals, "the host, device idle",
                              rows_of(answer, kSignalRows), difference),
                 style);
  text += titled("",
                 change_table(difference.collectives, "collective",
                              rows_of(answer, kCollectiveChanges), difference),
                 style);
  if (answer.verbose) {
    text += titled(
        "", change_table(difference.operators, "operator", rows_of(answer, kFewest), difference),
        style);
    text +=
        titled("", change_table(difference.kernels, "kernel", rows_of(answer, kFewest), difference),
               style);
  }
  return text + diff_losses(answer);
}

}  // namespace sextant::explain
