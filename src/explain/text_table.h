// Rows of cells as an aligned text table, a Markdown table, or CSV.
#pragma once

#include <string>
#include <vector>

#include "explain/style.h"

namespace sextant::explain {

struct Column {
  std::string title;
  bool right = false;  // numbers align right
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
};

// kTable, kMarkdown or kCsv; kJson renders as kTable (JSON has its own shapes).
std::string to_text(const Table& table, const Style& style);
// Markdown after an empty line; "" of a table without rows.
std::string markdown_block(const Table& table);

// Characters a person sees: UTF-8 sequences count one.
std::size_t display_width(std::string_view text);

}  // namespace sextant::explain
