// What the readers of the small tables share.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "measured/cells.h"
#include "measured/readers.h"

namespace sextant::measured {

// A row of that line: its id, source and kind; everything else empty.
Row new_row(const Cells& cells, const TableContext& context, TableKind kind);

// The first of the columns that has a value becomes the row's quantity; a row with none is refused.
void take_quantity(Cells& cells, Row& row, std::initializer_list<std::string_view> columns);

// One copy of `row` for each of the columns that has a value; a refused one where none has.
std::vector<Row> rows_of_quantities(Cells& cells, const Row& row,
                                    std::initializer_list<std::string_view> columns);

// Whether `part` stands anywhere in `text`.
bool contains(std::string_view text, std::string_view part);

// Reads a table line by line with a function Cells, context → Result<Row>.
template <typename RowReader>
Result<std::vector<Row>> read_rows(const CsvTable& table, TableContext& context, RowReader reader) {
  std::vector<Row> rows;
  rows.reserve(table.rows());
  for (std::size_t line = 0; line < table.rows(); ++line) {
    SEXTANT_TRY(Row row, reader(Cells(table, line), context));
    rows.push_back(std::move(row));
  }
  return rows;
}

// The same where a line gives several rows.
template <typename RowsReader>
Result<std::vector<Row>> read_many_rows(const CsvTable& table, TableContext& context,
                                        RowsReader reader) {
  std::vector<Row> rows;
  for (std::size_t line = 0; line < table.rows(); ++line) {
    SEXTANT_TRY(std::vector<Row> found, reader(Cells(table, line), context));
    for (Row& row : found) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace sextant::measured
