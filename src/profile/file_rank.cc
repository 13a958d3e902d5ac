#include "profile/file_rank.h"

#include <algorithm>
#include <array>
#include <string>

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

constexpr std::array<std::string_view, 27> kCounted{
    "step", "steps", "iter", "iteration", "epoch", "workers", "batch",   "bs",   "mbs",
    "gbs",  "tp",    "pp",   "dp",        "ep",    "cp",      "gpu",     "gpus", "nodes",
    "node", "world", "seq",  "seed",      "run",   "trial",   "version", "v",    "layers"};

std::string_view without_extensions(std::string_view name) {
  for (bool is_shorter = true; is_shorter;) {
    is_shorter = false;
    for (const std::string_view extension :
         {".gz", ".zst", ".json", ".pt", ".trace", ".chrome", ".txt", ".sqlite"}) {
      if (name.ends_with(extension)) {
        name.remove_suffix(extension.size());
        is_shorter = true;
      }
    }
  }
  return name;
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
  std::string_view stem = without_extensions(lower);
  std::size_t digits = 0;
  while (digits < stem.size() && is_digit(stem[stem.size() - digits - 1])) {
    digits += 1;
  }
  const auto rank = rank_from(stem.substr(stem.size() - digits));
  stem.remove_suffix(digits);
  if (stem.empty()) {
    return rank;
  }
  if (stem.back() != '_' && stem.back() != '-') {
    return std::nullopt;
  }
  stem.remove_suffix(1);
  const std::string_view word = stem.substr(stem.find_last_of("_-.") + 1);
  const bool counts = std::find(kCounted.begin(), kCounted.end(), word) != kCounted.end();
  return counts ? std::nullopt : rank;
}

}  // namespace sextant::profile
