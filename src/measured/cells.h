// The cells of one table row, read with their types. The first malformed cell is remembered with
// its file and line; a reader asks for all its cells first and for ok() once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/result.h"

namespace sextant::measured {

class Cells {
 public:
  // REQUIRES: row < table.rows(); the table outlives this.
  Cells(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  // The cell without surrounding blanks; "" where it is empty or there is no such column.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }

  // A whole number ≥ 0 ("8.0" is one), a finite number ≥ 0, a yes or no (1/0/true/false). Empty is
  // nothing; anything else is remembered as an Error and reads as nothing.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view column);
  [[nodiscard]] std::optional<double> number(std::string_view column);
  [[nodiscard]] std::optional<bool> flag(std::string_view column);

  // The same where an empty cell is an Error too; 0 then.
  [[nodiscard]] std::int64_t required_count(std::string_view column);
  [[nodiscard]] double required_number(std::string_view column);

  // The cell as one of a closed set of words; nothing where it is empty.
  [[nodiscard]] std::optional<std::string_view> word(std::string_view column,
                                                     const std::vector<std::string>& allowed);

  // Remembers an Error about a column unless there is one already.
  void reject(std::string_view column, std::string_view why, std::string allowed);
  [[nodiscard]] Result<void> ok() const;

  // "file:line", and the identifier of a row that has none of its own: "file.csv#12".
  [[nodiscard]] std::string where() const { return table_.where(row_); }
  [[nodiscard]] std::string line_id() const;

 private:
  const CsvTable& table_;
  std::size_t row_;
  std::optional<Error> error_;
};

}  // namespace sextant::measured
