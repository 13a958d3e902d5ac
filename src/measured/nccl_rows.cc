#include "measured/nccl_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::measured {

namespace {

// Nothing that is measured in µs or GB/s is larger; keeps every product finite.
constexpr double kLargestCell = 1e15;
// Blanks in the place of an absent out-of-place group; between two columns, one of them empty,
// there are at most 16.
constexpr std::ptrdiff_t kBlankGroup = 24;
constexpr std::size_t kLongestWord = 32;

// A result line cut into its parts.
struct Parts {
  std::vector<std::string_view> numbers;
  std::ptrdiff_t blanks = 0;  // before the first number that is a time
};

Parts parts_of(const NcclLines& line, std::size_t first) {
  Parts parts;
  const std::vector<std::string_view>& words = line.words();
  for (std::size_t at = first; at < words.size() && is_cell(words[at]); ++at) {
    parts.numbers.push_back(words[at]);
  }
  for (std::size_t at = first; at < words.size() && at < first + 2; ++at) {
    parts.blanks =
        std::max(parts.blanks, words[at].data() - (words[at - 1].data() + words[at - 1].size()));
  }
  return parts;
}

// The header's layout where the line fits it, whole or its first group alone.
std::optional<NcclLayout> fitting_layout(const Parts& parts, const NcclHeader& header) {
  if (const auto& known = header.layout(); known) {
    NcclLayout layout = *known;
    if (parts.numbers.size() >= layout.groups.back().end && parts.numbers.size() <= layout.most) {
      return layout;
    }
    const bool first_alone = layout.groups.size() == 2 &&
                             parts.numbers.size() >= layout.groups[0].end &&
                             parts.numbers.size() <= layout.groups[1].time;
    if (first_alone) {
      layout.groups.pop_back();
      return layout;
    }
  }
  return layout_of_count(parts.numbers.size(),
                         !parts.numbers.empty() && parts.numbers[0].starts_with('-'));
}

PrintedNumber cell(const Parts& parts, std::size_t place) {
  return printed_number(parts.numbers[place]).value_or(PrintedNumber());
}

bool is_measured(const PrintedNumber& number) {
  return number.value >= 0.0 && number.value <= kLargestCell;
}

std::optional<NcclTiming> read_timing(const Parts& parts, const NcclLayout::Group& group,
                                      Bytes bytes, bool cpu_time) {
  const PrintedNumber time = cell(parts, group.time);
  const PrintedNumber algbw = cell(parts, group.algbw);
  const PrintedNumber busbw = cell(parts, group.busbw);
  if (!is_measured(time) || time.value == 0.0 || !is_measured(algbw) || !is_measured(busbw)) {
    return std::nullopt;
  }
  NcclTiming timing{.time = time.value * 1_us,
                    .algbw = algbw.value * 1_GBps,
                    .busbw = busbw.value * 1_GBps,
                    .time_rounding = time.rounding * 1_us,
                    .algbw_rounding = algbw.rounding * 1_GBps,
                    .busbw_rounding = busbw.rounding * 1_GBps,
                    .errors = {}};
  if (cpu_time) {  // the collective's own time is left in the bandwidth, if it has enough digits
    if (timing.algbw < 1_GBps) {
      return std::nullopt;
    }
    timing.time = bytes / timing.algbw;
    timing.time_rounding = timing.time * (timing.algbw_rounding / timing.algbw);
  }
  if (group.wrong && parts.numbers[*group.wrong] != "N/A") {
    timing.errors = cell(parts, *group.wrong).value;
  }
  return timing;
}

// What the #wrong column says where something was wrong; empty where nothing was.
std::string wrong_in(const Parts& parts, const NcclLayout::Group& group) {
  if (!group.wrong) {
    return {};
  }
  const PrintedNumber errors = cell(parts, *group.wrong);
  return errors.starred || errors.value >= 1.0
             ? printable(parts.numbers[*group.wrong], kLongestWord)
             : std::string();
}

// Reads the groups into the line's two places.
void take_groups(NcclReading& reading, NcclLine line, const Parts& parts, const NcclLayout& layout,
                 const NcclHeader& header) {
  const bool swapped =
      header.in_place_first() || (layout.groups.size() == 1 && parts.blanks >= kBlankGroup);
  for (std::size_t at = 0; at < layout.groups.size(); ++at) {
    const bool in_place = (at == 1) != swapped;
    auto timing = read_timing(parts, layout.groups[at], line.bytes, header.cpu_time());
    const std::string_view place = in_place ? "in-place" : "out-of-place";
    if (!timing) {
      reading.complaints.push_back(fmt::format("no usable {} time, skipped", place));
    } else if (const std::string wrong = wrong_in(parts, layout.groups[at]); !wrong.empty()) {
      line.wrong = true;
      reading.complaints.push_back(
          fmt::format("the {} result was wrong (#wrong is {})", place, wrong));
    }
    (in_place ? line.in_place : line.out_of_place) = timing;
  }
  if (line.in_place || line.out_of_place) {
    reading.line = std::move(line);
  }
}

}  // namespace

std::optional<NcclReading> read_nccl_row(const NcclLines& line, const NcclHeader& header) {
  const auto& words = line.words();
  const auto type = dtype_place(words);
  if (!type) {
    return std::nullopt;
  }
  NcclLine values;
  values.line = line.number();
  values.bytes = Bytes(static_cast<double>(to_integer(glued_digits(words[*type - 2])).value_or(0)));
  values.dtype = printable(words[*type], kLongestWord);
  std::size_t first = *type + 1;
  if (first < words.size() && !is_cell(words[first])) {
    values.redop = printable(words[first++], kLongestWord);
  }
  const Parts parts = parts_of(line, first);
  NcclReading reading;
  const auto layout = fitting_layout(parts, header);
  if (!layout) {
    reading.complaints.push_back(
        fmt::format("{} numbers after the type, expected 3 to 9, skipped", parts.numbers.size()));
    return reading;
  }
  if (values.bytes <= 0_B) {
    return reading;  // tests round small sizes down to nothing: no fault, and nothing to learn
  }
  if (layout->root) {
    values.root = to_integer(parts.numbers[*layout->root]);
  }
  take_groups(reading, std::move(values), parts, *layout, header);
  return reading;
}

}  // namespace sextant::measured
