#include "describe/cluster/torus.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::describe {

std::optional<std::array<std::int64_t, 3>> torus_shape(std::int64_t chips, const System& system) {
  const bool flat = system.scale_up == ScaleUp::kIci2d;
  if (!flat && system.scale_up != ScaleUp::kIci3d) {
    return std::nullopt;
  }
  std::int64_t longest_allowed = 1;
  for (const auto& side : system.torus) {
    longest_allowed = std::max(longest_allowed, side ? side->value : 1);
  }
  std::optional<std::array<std::int64_t, 3>> best;
  // x ≤ y ≤ z, so x ≤ cube root and y ≤ square root of what is left.
  for (std::int64_t x = 1; x * x * x <= chips; ++x) {
    if (chips % x != 0 || (flat && x > 1)) {
      continue;
    }
    const std::int64_t rest = chips / x;
    for (std::int64_t y = x; y * y <= rest; ++y) {
      const std::int64_t z = rest / y;
      if (rest % y == 0 && z <= longest_allowed && (!best || z < (*best)[2])) {
        best = {x, y, z};
      }
    }
  }
  return best;
}

Result<std::array<std::int64_t, 3>> parse_torus(std::string_view text, std::string_view where) {
  constexpr std::int64_t kLongestSide = 4096;
  std::array<std::int64_t, 3> shape{1, 1, 1};
  const std::vector<std::string_view> sides = split(text, 'x');
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto side = to_integer(trimmed(sides[i]));
    if (sides.size() < 2 || sides.size() > shape.size() || !side || *side < 1 ||
        *side > kLongestSide) {
      return invalid(fmt::format("'{}' is not a torus", printable(text)), std::string(where),
                     "two or three sides such as 8x16 or 4x4x8");
    }
    shape[i] = *side;
  }
  return shape;
}

}  // namespace sextant::describe
