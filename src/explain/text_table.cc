#include "explain/text_table.h"

#include <algorithm>
#include <string_view>

#include "base/csv.h"

namespace sextant::explain {
namespace {

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t seen = display_width(text);
  const std::string space(width > seen ? width - seen : 0, ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::size_t> widths(const Table& table) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = display_width(table.columns[i].title);
    for (const auto& row : table.rows) {
      width = std::max(width, display_width(row[i]));
    }
    result.push_back(width);
  }
  return result;
}

std::string plain(const Table& table, const Style& style) {
  const std::vector<std::size_t> width = widths(table);
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      text += (i == 0 ? "" : "  ") + padded(cell(i), width[i], table.columns[i].right);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text =
      bold(line([&](std::size_t i) -> std::string_view { return table.columns[i].title; }), style) +
      "\n";
  for (const auto& row : table.rows) {
    text += line([&](std::size_t i) -> std::string_view { return row[i]; }) + "\n";
  }
  return text;
}

std::string markdown(const Table& table) {
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
      text.insert(at, "\\");
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  };
  std::string text = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    text += " " + escaped(column.title) + " |";
    rule += column.right ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) {
      text += " " + escaped(cell) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + csv_field(table.columns[i].title);
  }
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + csv_field(row[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string to_text(const Table& table, const Style& style) {
  switch (style.format) {
    case Format::kMarkdown:
      return markdown(table);
    case Format::kCsv:
      return csv(table);
    case Format::kTable:
    case Format::kJson:
    case Format::kGithub:
    case Format::kSarif:
      break;
  }
  return plain(table, style);
}

std::string markdown_block(const Table& table) {
  return table.rows.empty() ? std::string() : "\n" + to_text(table, kMarkdown);
}

}  // namespace sextant::explain
