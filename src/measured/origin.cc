#include "measured/origin.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {
namespace {

constexpr std::size_t kMostOrigin = 48;
constexpr std::string_view kArxiv = "arxiv";

// Lower case, every run of other characters than letters and digits one hyphen.
std::string hyphened(std::string_view text) {
  std::string out;
  for (const char c : to_lower(text.substr(0, 4 * kMostOrigin))) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  out.resize(std::min(out.size(), kMostOrigin));
  while (!out.empty() && out.back() == '-') {
    out.pop_back();
  }
  return out;
}

// "2205.05198" where the text names a paper of arXiv.
std::string_view paper_of(std::string_view text, std::string_view lower) {
  const std::size_t named = lower.find(kArxiv);
  if (named == std::string_view::npos) {
    return {};
  }
  const std::size_t begin = lower.find_first_of("0123456789", named);
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(begin);
  const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789."));
  constexpr std::size_t kDot = 4;
  return number.size() > kDot && number[kDot] == '.' ? number.substr(0, number.find('.', kDot + 1))
                                                     : std::string_view();
}

std::string_view without_start(std::string_view text, std::string_view start) {
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

// "owner/name" of a repository.
std::string repository_of(std::string_view text) {
  std::string_view rest = text;
  for (const std::string_view start : {"https://", "github:", "github.com/"}) {
    rest = without_start(rest, start);
  }
  const std::string_view word = rest.substr(0, rest.find_first_of(" ,;:@"));
  const std::vector<std::string_view> parts = split(word, '/');
  return parts.size() < 2 ? std::string(word) : std::string(parts[0]) + "/" + std::string(parts[1]);
}

}  // namespace

std::string origin_of(std::string_view text) {
  const std::string_view plain = trimmed(text);
  const std::string lower = to_lower(plain);
  const std::size_t hub = lower.find("github");
  const std::string_view paper = paper_of(plain, lower);
  // "arXiv:2205.05198 as in github:…": whose number it is comes first.
  if (!paper.empty() && lower.find(kArxiv) < hub) {
    return std::string(kArxiv) + "-" + hyphened(paper);
  }
  if (lower.starts_with("github") || lower.starts_with("https://github.com/") ||
      contains(lower.substr(0, lower.find_first_of(" ,;:@")), "/")) {
    const std::string origin = hyphened(repository_of(plain));
    constexpr std::string_view kMlperf = "mlcommons-training-results";
    return origin.starts_with(kMlperf) ? std::string(kMlperf) : origin;
  }
  return hyphened(plain);
}

}  // namespace sextant::measured
