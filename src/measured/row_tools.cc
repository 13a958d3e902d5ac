#include "measured/row_tools.h"

#include <string>

namespace sextant::measured {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Row new_row(const Cells& cells, const TableContext& context, TableKind kind) {
  Row row;
  row.id = cells.has("id") ? std::string(cells.text("id")) : cells.line_id();
  row.source = context.source;
  row.table = kind;
  return row;
}

void take_quantity(Cells& cells, Row& row, std::initializer_list<std::string_view> columns) {
  for (const std::string_view column : columns) {
    if (const auto value = cells.number(column)) {
      row.quantity = std::string(column);
      row.measured = *value;
      return;
    }
  }
  row.quantity = std::string(*columns.begin());
  row.refusal = "nothing was measured";
}

std::vector<Row> rows_of_quantities(Cells& cells, const Row& row,
                                    std::initializer_list<std::string_view> columns) {
  std::vector<Row> rows;
  for (const std::string_view column : columns) {
    if (const auto value = cells.number(column)) {
      rows.push_back(row);
      rows.back().quantity = std::string(column);
      rows.back().measured = *value;
    }
  }
  if (rows.empty()) {
    rows.push_back(row);
    take_quantity(cells, rows.back(), columns);
  }
  return rows;
}

}  // namespace sextant::measured
