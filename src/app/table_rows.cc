#include "app/table_rows.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {
namespace {

// Beyond that a table is no table for people.
constexpr std::int64_t kMostRows = 100'000;

}  // namespace

Result<std::optional<std::int64_t>> rows_asked(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto rows = to_integer(word);
  if (!rows || *rows < 1 || *rows > kMostRows) {
    return invalid(fmt::format("'{}' is no number of rows", printable(word)), "‹top›",
                   fmt::format("1 to {}", with_thousands(kMostRows)));
  }
  return rows;
}

}  // namespace sextant::app
