#include "app/validate_command.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/predictor.h"
#include "base/file.h"
#include "base/sha256.h"
#include "explain/validation_view.h"
#include "measured/table.h"
#include "measured/validate.h"

namespace sextant::app {
namespace {

constexpr Bytes kMostTable = 64_MiB;
constexpr Bytes kMostLedger = 16_MiB;

Result<explain::ValidationAnswer> validated(const std::vector<std::string>& tables,
                                            const describe::DataStore& data) {
  const std::vector<std::filesystem::path> paths(tables.begin(), tables.end());
  SEXTANT_TRY(const std::vector<std::filesystem::path> files, measured::expand_tables(paths));
  explain::ValidationAnswer answer;
  answer.provenance.tool_version = std::string(explain::tool_version());
  std::vector<measured::Row> rows;
  for (const std::filesystem::path& file : files) {
    SEXTANT_TRY(std::string text, read_text(file, kMostTable));
    answer.provenance.inputs.emplace_back(file.string(), sha256_hex(text));
    SEXTANT_TRY(std::vector<measured::Row> more,
                measured::parse_table(std::move(text), file, data));
    rows.insert(rows.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  }
  answer.report = measured::validate(rows, predictor(data));
  return answer;
}

}  // namespace

Result<Output> validate_tables(const ValidateRequest& request, const Context& context) {
  SEXTANT_TRY(const explain::ValidationAnswer answer, validated(request.tables, context.data));
  Output output;
  if (!request.rows_file.empty()) {
    SEXTANT_CHECK_OK(write_file(request.rows_file, explain::rows_csv(answer.report)));
    output.notes.push_back(
        fmt::format("{} rows written to {}", answer.report.rows.size(), request.rows_file));
  }
  if (!request.ledger_file.empty()) {
    SEXTANT_CHECK_OK(write_file(request.ledger_file, explain::ledger(answer.report)));
    output.notes.push_back(fmt::format("ledger written to {}", request.ledger_file));
  }
  if (!request.check_file.empty()) {
    SEXTANT_TRY(const std::string stored, read_text(request.check_file, kMostLedger));
    const bool current = stored == explain::ledger(answer.report);
    output.notes.push_back(
        fmt::format("{} is {}", request.check_file,
                    current ? "current" : "not current: write it again with --ledger"));
    output.exit_code = current ? kExitFine : kExitNo;
  }
  output.text = explain::to_text(answer, context.style);
  return output;
}

}  // namespace sextant::app
