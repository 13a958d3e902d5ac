#include "measured/nccl_header.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace sextant::measured {

namespace {

constexpr std::size_t kMostColumns = 64;
// Lines between "out-of-place in-place" and "size count …": none, or a few of NCCL's log.
constexpr std::int64_t kNearestPlaces = 8;

// "time(us)" → "time", "#wrong" → "wrong", "error" → "wrong".
std::string column_name(std::string_view word) {
  word.remove_prefix(word.starts_with('#') ? 1 : 0);
  const std::string name = to_lower(word.substr(0, word.find('(')));
  return name == "error" || name == "errors" || name == "nwrong" ? "wrong" : name;
}

bool is_column(std::string_view word) {
  constexpr std::array<std::string_view, 10> kNames{"size",    "count", "type",  "redop", "root",
                                                    "cputime", "time",  "algbw", "busbw", "wrong"};
  return std::find(kNames.begin(), kNames.end(), column_name(word)) != kNames.end();
}

// Takes a column of a group that has its time; false where it belongs to no group.
bool take_in_group(NcclLayout& layout, const std::string& name, std::size_t place) {
  if (layout.groups.empty()) {
    return false;
  }
  NcclLayout::Group& group = layout.groups.back();
  if (name == "algbw") {
    group.algbw = place;
  } else if (name == "busbw") {
    group.busbw = place;
  } else if (name == "wrong") {
    group.wrong = place;
  } else {
    return false;
  }
  group.end = place + 1;
  return true;
}

std::optional<NcclLayout> layout_of(const std::vector<std::string>& columns) {
  NcclLayout layout;
  std::size_t place = 0;
  for (const std::string& name : columns) {
    if (name == "size" || name == "count" || name == "type" || name == "redop") {
      continue;
    }
    if (name == "root" && layout.groups.empty()) {
      layout.root = place;
    } else if (name == "time" || name == "cputime") {
      layout.groups.push_back({.time = place, .algbw = 0, .busbw = 0, .wrong = {}, .end = 0});
    } else {
      take_in_group(layout, name, place);
    }
    ++place;
  }
  layout.most = place;
  const bool whole =
      std::all_of(layout.groups.begin(), layout.groups.end(), [](const NcclLayout::Group& group) {
        return group.algbw > group.time && group.busbw > group.time;
      });
  return whole && !layout.groups.empty() && layout.groups.size() <= 2 ? std::optional(layout)
                                                                      : std::nullopt;
}

}  // namespace

std::optional<NcclLayout> layout_of_count(std::size_t numbers, bool begins_with_minus) {
  const bool bare_root = numbers == 4 && begins_with_minus;  // root, then a group without #wrong
  const std::size_t root = numbers == 9 || numbers == 5 || numbers == 7 || bare_root ? 1 : 0;
  const std::size_t rest = numbers - root;
  if (rest != 8 && rest != 4 && rest != 6 && rest != 3) {
    return std::nullopt;
  }
  const std::size_t width = rest % 4 == 0 ? 4 : 3;
  NcclLayout layout;
  layout.root = root == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  for (std::size_t at = root; at < numbers; at += width) {
    layout.groups.push_back({.time = at,
                             .algbw = at + 1,
                             .busbw = at + 2,
                             .wrong = width == 4 ? std::optional(at + 3) : std::nullopt,
                             .end = at + width});
  }
  layout.most = numbers;
  return layout;
}

void NcclHeader::take_places(const NcclLines& line) {
  const std::size_t in = line.text().find("in-place");
  const std::size_t out = line.text().find("out-of-place");
  if (in == std::string_view::npos && out == std::string_view::npos) {
    return;
  }
  const bool goes_on = places_line_ > 0 && line.number() == places_line_ + 1;
  places_in_first_ = goes_on ? places_in_first_ : in < out;
  places_line_ = line.number();
}

void NcclHeader::take_columns(const NcclLines& line, std::size_t first) {
  for (std::size_t at = first; at < line.words().size() && columns_.size() < kMostColumns; ++at) {
    if (line.words()[at] != "#") {
      columns_.push_back(column_name(line.words()[at]));
    }
  }
  last_columns_line_ = line.number();
  layout_ = layout_of(columns_);
  cpu_time_ = std::find(columns_.begin(), columns_.end(), "cputime") != columns_.end();
}

bool NcclHeader::take(const NcclLines& line) {
  take_places(line);
  const auto& words = line.words();
  const bool may_begin = line.text().find("size") != std::string_view::npos;
  for (std::size_t at = 0; may_begin && at + 1 < words.size(); ++at) {
    if (column_name(words[at]) == "size" && column_name(words[at + 1]) == "count") {
      columns_.clear();
      take_columns(line, at);
      in_place_first_ =
          places_in_first_ && places_line_ > 0 && line.number() - places_line_ <= kNearestPlaces;
      return true;
    }
  }
  if (last_columns_line_ > 0 && line.number() == last_columns_line_ + 1 && !words.empty() &&
      std::all_of(words.begin(), words.end(), is_column)) {
    take_columns(line, 0);
  }
  return false;
}

}  // namespace sextant::measured
