#include "explain/comm_section.h"

#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/comm_limits.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using measured::CommCounts;
using measured::ErrorScore;
using measured::NamedScore;
using measured::SizedScore;

std::string limit_text(const std::optional<double>& limit) {
  return limit ? fmt::format("{:.0f} %", *limit * 100.0) : "-";
}

void add_count_cells(const ErrorScore& score, std::vector<std::string>& cells) {
  cells.push_back(part_of_all(score.rows, score.refused_rows));
  cells.push_back(part_of_all(score.systems, score.refused_systems));
}

// Rows, systems, both means and the bias.
void add_score_cells(const ErrorScore& score, std::vector<std::string>& cells) {
  add_count_cells(score, cells);
  cells.push_back(percent(score.mean));
  cells.push_back(percent(score.macro));
  cells.push_back(signed_percent(score.bias));
}

Table empty_score_table(const std::string& what) {
  return {{{what},
           {"rows", true},
           {"systems", true},
           {"mean error", true},
           {"by system", true},
           {"bias", true}},
          {}};
}

Table size_score_table(const SizedScore& total) {
  Table table = empty_score_table("size");
  table.columns.push_back({"must hold by system", true});
  const auto add = [&](std::string name, const ErrorScore& score, std::optional<double> limit) {
    std::vector<std::string> cells{std::move(name)};
    add_score_cells(score, cells);
    cells.push_back(limit_text(limit));
    table.rows.push_back(std::move(cells));
  };
  for (std::size_t i = 0; i < measured::kSizeBuckets; ++i) {
    add(std::string(measured::kSizeBucketWords[i].second), total.by_size[i], kSizeLimits[i]);
  }
  add("all sizes", total.all, kAllSizesLimit);
  return table;
}

// Means over systems by size; a line a class or operation.
Table line_table(const std::string& what, const std::vector<SizedScore>& lines) {
  Table table{{{what}, {"rows", true}, {"systems", true}}, {}};
  for (const auto& [bucket, words] : measured::kSizeBucketWords) {
    table.columns.push_back({std::string(words), true});
  }
  table.columns.push_back({"all by system", true});
  table.columns.push_back({"all by row", true});
  table.columns.push_back({"bias", true});
  for (const SizedScore& line : lines) {
    std::vector<std::string> cells{line.name};
    add_count_cells(line.all, cells);
    for (const ErrorScore& score : line.by_size) {
      cells.push_back(percent(score.macro));
    }
    cells.push_back(percent(line.all.macro));
    cells.push_back(percent(line.all.mean));
    cells.push_back(signed_percent(line.all.bias));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The systems furthest off.
Table worst_table(const std::vector<NamedScore>& systems) {
  constexpr std::size_t kMost = 10;
  Table table{{{"furthest off"}, {"rows", true}, {"mean error", true}, {"bias", true}}, {}};
  for (std::size_t i = 0; i < systems.size() && i < kMost && systems[i].score.rows > 0; ++i) {
    const ErrorScore& score = systems[i].score;
    table.rows.push_back({systems[i].name, with_thousands(score.rows), percent(score.mean),
                          signed_percent(score.bias)});
  }
  return table;
}

Table expert_table(const measured::ExpertScores& scores) {
  Table table = empty_score_table("what");
  const auto add = [&](const std::string& name, const ErrorScore& score) {
    std::vector<std::string> cells{name};
    add_score_cells(score, cells);
    table.rows.push_back(std::move(cells));
  };
  for (const NamedScore& line : scores.libraries) {
    add(line.name, line.score);
  }
  for (const NamedScore& line : scores.modes) {
    add("mode " + line.name, line.score);  // some are named like libraries
  }
  for (const NamedScore& line : scores.nodes) {
    add(line.name, line.score);
  }
  add("all", scores.total);
  return table;
}

Table reasons_table(const CommCounts& counts) {
  Table table{{{"refused because"}, {"rows", true}}, {}};
  for (const auto& [reason, rows] : counts.reasons) {
    table.rows.push_back({reason, with_thousands(rows)});
  }
  return table;
}

// The target of a line of that name.
std::optional<double> limit_of(std::string_view name) {
  for (const auto& [bucket, word] : measured::kSizeBucketWords) {
    if (name == word) {
      return kSizeLimits[static_cast<std::size_t>(bucket)];
    }
  }
  return name == "all sizes" ? std::optional(kAllSizesLimit) : std::nullopt;
}

Table left_out_table(std::span<const calibrate::LeaveOneOut> left_out) {
  Table table{{{"what"}, {"seen", true}, {"left out", true}, {"ratio", true}, {"must hold", true}},
              {}};
  for (const calibrate::LeaveOneOut& one : left_out) {
    const std::optional<double> limit = limit_of(one.name);
    table.rows.push_back({one.name, percent(one.seen), percent(one.unseen),
                          one.seen > 0.0 ? fmt::format("{:.2f}", one.unseen / one.seen) : "-",
                          limit ? percent(*limit * kLeaveOneOutLimit) : "-"});
  }
  return table;
}

std::string comm_counts_text(const CommCounts& counts) {
  return fmt::format("{} rows: {} scored, {} refused, {} of unhealthy systems, {} not trusted.",
                     with_thousands(counts.rows), with_thousands(counts.scored),
                     with_thousands(counts.refused), with_thousands(counts.unhealthy),
                     with_thousands(counts.untrusted));
}

std::string collectives_section(const measured::CollectiveScores& scores) {
  std::string text = fmt::format(
      "## Collectives\n\n{} \"By system\" is the mean over systems of each system's mean error; "
      "1 MB is 2^20 bytes; bias is of times; where some are refused, rows and systems are scored "
      "ones of all.\n",
      comm_counts_text(scores.counts));
  if (scores.counts.scored > 0) {
    text += markdown_block(size_score_table(scores.total));
    text += "\nBy class of system and by operation; columns of sizes are by system.\n";
    text += markdown_block(line_table("class", scores.classes));
    text += markdown_block(line_table("operation", scores.operations));
    text += markdown_block(worst_table(scores.systems));
  }
  return text + markdown_block(reasons_table(scores.counts));
}

std::string experts_section(const measured::ExpertScores& scores) {
  std::string text = fmt::format("## Expert all-to-all\n\n{} Must hold by system: {}.\n",
                                 comm_counts_text(scores.counts), limit_text(kExpertLimit));
  if (scores.counts.scored > 0) {
    text += markdown_block(expert_table(scores));
    text += markdown_block(worst_table(scores.systems));
  }
  return text + markdown_block(reasons_table(scores.counts));
}

}  // namespace

std::string comm_section(const measured::CommScores& scores,
                         std::span<const calibrate::LeaveOneOut> left_out) {
  std::string text;
  const auto add = [&text](const std::string& section) {
    text += (text.empty() ? "" : "\n") + section;
  };
  if (scores.collectives) {
    add(collectives_section(*scores.collectives));
  }
  if (scores.experts) {
    add(experts_section(*scores.experts));
  }
  if (!left_out.empty()) {
    add(
        fmt::format("### Systems left out of the fit\n\nMacro-averages with every system in the "
                    "fit, and with each system predicted by a fit on the others; must hold: {} "
                    "times what must hold above.\n\n{}",
                    kLeaveOneOutLimit, to_text(left_out_table(left_out), kMarkdown)));
  }
  return text;
}

std::string comm_tables(const measured::CommScores& scores, const Style& style) {
  std::string text;
  const auto add = [&](const Table& table) {
    text += (text.empty() ? "" : "\n") + to_text(table, style);
  };
  if (scores.collectives && scores.collectives->counts.scored > 0) {
    add(size_score_table(scores.collectives->total));
    add(line_table("class", scores.collectives->classes));
  }
  if (scores.experts && scores.experts->counts.scored > 0) {
    add(expert_table(*scores.experts));
  }
  return text;
}

}  // namespace sextant::explain
