#include "measured/cells.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::measured {

namespace {

// Counts in these tables are devices, tokens, bytes: beyond 2^53 a double no longer holds them.
constexpr double kMostCount = 9007199254740992.0;

}  // namespace

std::string_view Cells::text(std::string_view column) const {
  return trimmed(table_.field(row_, column));
}

void Cells::reject(std::string_view column, std::string_view why, std::string allowed) {
  if (error_) {
    return;
  }
  error_ = Error{ErrorKind::kInvalid,
                 fmt::format("{} is \"{}\": {}", column, printable(text(column)), why), where(),
                 std::move(allowed)};
}

Result<void> Cells::ok() const {
  if (error_) {
    return tl::unexpected(*error_);
  }
  return {};
}

std::optional<double> Cells::number(std::string_view column) {
  const std::string_view cell = text(column);
  if (cell.empty()) {
    return std::nullopt;
  }
  const std::optional<double> value = to_double(cell);
  if (!value) {
    reject(column, "not a number", "a finite number of at least 0, or empty");
    return std::nullopt;
  }
  if (*value < 0.0) {
    reject(column, "negative", "a finite number of at least 0, or empty");
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Cells::count(std::string_view column) {
  const std::optional<double> value = number(column);
  if (!value) {
    return std::nullopt;
  }
  if (*value > kMostCount || std::trunc(*value) != *value) {
    reject(column, "not a whole number", "a whole number from 0 to 2^53, or empty");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> Cells::flag(std::string_view column) {
  const std::string cell = to_lower(text(column));
  if (cell.empty()) {
    return std::nullopt;
  }
  if (cell == "1" || cell == "true") {
    return true;
  }
  if (cell != "0" && cell != "false") {
    reject(column, "neither yes nor no", "0, 1, or empty");
    return std::nullopt;
  }
  return false;
}

std::int64_t Cells::required_count(std::string_view column) {
  if (!has(column)) {
    reject(column, "empty", "a whole number from 0 to 2^53");
  }
  return count(column).value_or(0);
}

double Cells::required_number(std::string_view column) {
  if (!has(column)) {
    reject(column, "empty", "a finite number of at least 0");
  }
  return number(column).value_or(0.0);
}

std::optional<std::string_view> Cells::word(std::string_view column,
                                            const std::vector<std::string>& allowed) {
  const std::string_view cell = text(column);
  if (cell.empty()) {
    return std::nullopt;
  }
  for (const std::string& candidate : allowed) {
    if (candidate == cell) {
      return cell;
    }
  }
  reject(column, "not a known word", join(allowed, ", ") + ", or empty");
  return std::nullopt;
}

std::string Cells::line_id() const {
  const std::filesystem::path file(table_.where());
  return fmt::format("{}#{}", file.filename().string(), table_.line(row_));
}

}  // namespace sextant::measured
