// A small CSV reader (RFC 4180): a header line, then rows of as many fields.
//
// Quoted fields may hold commas, quotes ("") and line breaks. Lines end in LF or CRLF; an empty
// line at the end is allowed, and a UTF-8 byte-order mark is skipped. Fields are views into the
// text the table owns, so a table costs the text plus 16 bytes a field. Hostile input ends in an
// Error with its line; limits are stated in csv.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant {

class CsvTable {
 public:
  // Parses `text`; `where` is the file name used in errors.
  static Result<CsvTable> parse(std::string text, std::string where);

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::vector<std::string_view>& header() const { return header_; }
  [[nodiscard]] std::size_t rows() const { return lines_.size(); }
  // Column by name; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  // REQUIRES: row < rows(), column < header().size().
  [[nodiscard]] std::string_view at(std::size_t row, std::size_t column) const {
    return fields_[row * header_.size() + column];
  }
  // The named field of a row; "" where the table has no such column.
  [[nodiscard]] std::string_view field(std::size_t row, std::string_view name) const;
  // The line on which the row starts, and "file:line" for messages.
  [[nodiscard]] std::int64_t line(std::size_t row) const { return lines_[row]; }
  [[nodiscard]] std::string where(std::size_t row) const;

 private:
  std::string where_;
  std::unique_ptr<std::string> text_;  // fields point into it; quotes are undone in place
  std::vector<std::string_view> header_;
  std::vector<std::string_view> fields_;
  std::vector<std::int64_t> lines_;
};

// One field, quoted where it must be.
std::string csv_field(std::string_view value);

}  // namespace sextant
