#include "app/number_ranges.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {
namespace {

tl::unexpected<Error> bad_range(std::string_view text, std::string_view where) {
  return invalid(fmt::format("'{}' is neither a number nor a range", printable(text)),
                 std::string(where), "3, 3-7");
}

}  // namespace

Result<NumberRange> number_range(std::string_view text, std::string_view where) {
  const std::string_view bare = trimmed(text);
  const std::size_t dash = bare.find('-');
  const auto first = to_integer(trimmed(bare.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos ? first : to_integer(trimmed(bare.substr(dash + 1)));
  if (!first || !last || *first < 0) {
    return bad_range(text, where);
  }
  if (*last < *first) {
    return invalid(fmt::format("the range '{}' ends before it begins", printable(text)),
                   std::string(where), fmt::format("{}-{}", *last, *first));
  }
  return NumberRange{*first, *last};
}

Result<std::vector<NumberRange>> number_ranges(std::string_view text, std::string_view where) {
  std::vector<NumberRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    SEXTANT_TRY(ranges.emplace_back(), number_range(part, where));
  }
  return ranges;
}

bool holds(const std::vector<NumberRange>& ranges, std::int64_t number) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const NumberRange& range) {
    return range.first <= number && number <= range.last;
  });
}

}  // namespace sextant::app
