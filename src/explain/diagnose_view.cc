#include "explain/diagnose_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_json.h"
#include "explain/diagnose_lines.h"
#include "explain/diagnose_tables.h"
#include "explain/fabric_view.h"
#include "explain/finding_view.h"
#include "explain/laid_view.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

// The first screen: nothing is longer unless asked for.
constexpr std::size_t kScreenLines = 40;
constexpr std::size_t kVerboseRows = 20;
constexpr std::size_t kFabricRows = 6;
constexpr std::size_t kUnreadLines = 2;
constexpr std::size_t kAssumedLines = 2;

std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string lines_text(const std::vector<DiagnosisLine>& lines, const Style& style) {
  std::string text;
  for (const auto& [name, line] : lines) {
    text += style.format == Format::kMarkdown
                ? fmt::format("- {}: {}\n", name, line)
                : fmt::format("{} {}\n", bold(fmt::format("{:<6}", name), style), line);
  }
  return text;
}

std::string section(const Table& table, const Style& style) {
  return table.rows.empty() ? std::string() : "\n" + to_text(table, style);
}

// Losses of one kind as one, the first of a kind says where.
struct LossKind {
  std::string file;
  std::size_t files = 0;
  std::string what;
  std::int64_t count = 0;
};

std::vector<LossKind> loss_kinds(const std::vector<DiagnosedLoss>& unread) {
  std::vector<LossKind> kinds;
  for (const DiagnosedLoss& loss : unread) {
    auto known = std::ranges::find(kinds, loss.what, &LossKind::what);
    if (known == kinds.end()) {
      kinds.push_back({loss.file, 0, loss.what, 0});
      known = kinds.end() - 1;
    }
    ++known->files;
    known->count += loss.count;
  }
  return kinds;
}

std::string loss_text(const LossKind& kind) {
  std::string where;
  if (kind.files > 1) {
    where = fmt::format("{} files, {} …: ", kind.files, short_file_name(kind.file));
  } else if (!kind.file.empty()) {
    where = short_file_name(kind.file) + ": ";
  }
  const bool counts = kind.count > static_cast<std::int64_t>(kind.files);
  return fmt::format("not read: {}{}{}\n", where,
                     counts ? with_thousands(kind.count) + " " : std::string(),
                     printable(kind.what, 1000));
}

std::string unread_text(const DiagnoseAnswer& answer, const Style& style) {
  const std::vector<LossKind> kinds = loss_kinds(answer.unread);
  const std::size_t shown = answer.verbose ? kinds.size() : std::min(kUnreadLines, kinds.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += loss_text(kinds[i]);
  }
  if (shown < kinds.size()) {
    text += fmt::format("not read: {} more (‹verbose›)\n", kinds.size() - shown);
  }
  const std::size_t assumed =
      answer.verbose ? answer.assumed.size() : std::min(kAssumedLines, answer.assumed.size());
  for (std::size_t i = 0; i < assumed; ++i) {
    text += dim("assumed: " + describe::to_text(answer.assumed[i]), style) + "\n";
  }
  return text;
}

// Tables that share what room is left, in their order; those that give way first come first in
// kGivesWay.
enum SharedTable : std::size_t { kOperators, kKernels, kCollectives, kRanks, kSharedTables };
constexpr std::array<std::size_t, kSharedTables> kUsualRows{4, 4, 3, 3};
constexpr std::array<SharedTable, kSharedTables> kGivesWay{kKernels, kCollectives, kOperators,
                                                           kRanks};

using SharedRows = std::array<std::size_t, kSharedTables>;

std::string shared_tables(const DiagnoseAnswer& answer, const Style& style,
                          const SharedRows& rows) {
  const auto of = [&](SharedTable table) {
    return DiagnoseTableStyle{.rows = rows[table], .people = true};
  };
  std::string text = rows[kOperators] == 0
                         ? std::string()
                         : section(top_operators_table(answer, of(kOperators)), style);
  if (rows[kKernels] > 0) {
    text += section(top_kernels_table(answer, of(kKernels)), style);
  }
  if (rows[kCollectives] > 0) {
    text += section(collectives_table(answer, of(kCollectives)), style);
  }
  if (rows[kRanks] > 0 && answer.ranks.size() > 1) {
    text += section(worst_ranks_table(answer, of(kRanks)), style);
  }
  return text;
}

// Row by row less until it fits, from the longest table.
std::string tables_in(std::size_t room, const DiagnoseAnswer& answer, const Style& style) {
  SharedRows rows = kUsualRows;
  std::string text = shared_tables(answer, style, rows);
  while (line_count(text) > room) {
    // Ranks are compared by two rows at least.
    const auto* longest = std::ranges::max_element(kGivesWay, {}, [&](SharedTable table) {
      return table == kRanks && rows[table] > 0 ? rows[table] - 1 : rows[table];
    });
    if (rows[*longest] == 0) {
      return {};
    }
    rows[*longest] -= *longest == kRanks && rows[kRanks] == 2 ? std::size_t{2} : std::size_t{1};
    text = shared_tables(answer, style, rows);
  }
  return text;
}

std::string diagnose_tables(std::size_t room, const DiagnoseAnswer& answer, const Style& style) {
  if (!answer.verbose && !answer.top) {
    return style.format == Format::kTable ? tables_in(room, answer, style)
                                          : shared_tables(answer, style, kUsualRows);
  }
  const std::size_t most = static_cast<std::size_t>(answer.top.value_or(kVerboseRows));
  SharedRows rows{};
  rows.fill(most);
  std::string text = shared_tables(answer, style, rows);
  if (answer.verbose) {
    text += section(ranges_table(answer, {.rows = most}), style);
    text += section(steps_table(answer, {.rows = most}), style);
  }
  return text;
}

// Everything above the tables.
std::string told_first(const DiagnoseAnswer& answer, const Style& style) {
  std::string text = lines_text(diagnosis_head(answer, style), style);
  if (const std::string scope = scope_text(answer); !scope.empty()) {
    text += (style.format == Format::kMarkdown ? "- " : "") + bold(scope, style) + "\n";
  }
  if (answer.findings) {
    text += findings_text(answer, *answer.findings, style);
  }
  text += lines_text(diagnosis_state(answer), style);
  text += section(breakdown_table(answer, true, style.format == Format::kTable), style);
  if (answer.findings && answer.findings->laid) {
    text += section(laid_table(*answer.findings->laid), style);
  }
  if (answer.findings && answer.findings->fabric) {
    const diagnose::FabricView& fabric = *answer.findings->fabric;
    text += section(fabric_table(fabric, answer.verbose ? kVerboseRows : kFabricRows), style);
    if (const std::string left_out = fabric_left_out(fabric); !left_out.empty()) {
      text += lines_text({{"fabric", left_out}}, style);
    }
  }
  return text;
}

}  // namespace

std::string to_text(const DiagnoseAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return diagnose_json(answer);
  }
  if (style.format == Format::kCsv) {
    const auto rows = answer.top.value_or(kVerboseRows);
    return to_text(steps_table(answer, {.rows = static_cast<std::size_t>(rows), .people = false}),
                   style);
  }
  const std::string first = told_first(answer, style);
  std::string unread = unread_text(answer, style);
  unread = unread.empty() ? unread : "\n" + unread;
  const std::size_t taken = line_count(first) + line_count(unread);
  return first + diagnose_tables(kScreenLines - std::min(taken, kScreenLines), answer, style) +
         unread;
}

}  // namespace sextant::explain
