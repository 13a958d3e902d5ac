#include "profile/file_rank.h"

#include "base/text.h"

namespace sextant::profile {
namespace {

std::optional<RankId> rank_from(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) {
    count += 1;
  }
  const auto rank = count > 0 && count <= 6 ? to_integer(text.substr(0, count)) : std::nullopt;
  return rank ? std::optional(RankId{*rank}) : std::nullopt;
}

}  // namespace

std::optional<RankId> rank_of_file(std::string_view path) {
  const std::string lower = to_lower(path.substr(path.rfind('/') + 1));
  for (std::size_t at = lower.rfind("rank"); at != std::string::npos && at < lower.size();
       at = at == 0 ? std::string::npos : lower.rfind("rank", at - 1)) {
    std::string_view rest = std::string_view(lower).substr(at + 4);
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '_' || rest[0] == '=')) {
      rest.remove_prefix(1);
    }
    if (const auto rank = rank_from(rest)) {
      return rank;
    }
  }
  const std::string_view first = std::string_view(lower).substr(0, lower.find('.'));
  const std::size_t separator = first.find_last_of("_-");
  const std::string_view last =
      separator == std::string_view::npos ? first : first.substr(separator + 1);
  const bool is_number =
      !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? rank_from(last) : std::nullopt;
}

}  // namespace sextant::profile
