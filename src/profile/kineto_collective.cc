#include "profile/kineto_collective.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "profile/recognition.h"
#include "profile/tensor_words.h"

namespace sextant::profile {
namespace {

using timeline::ElementType;

constexpr std::int64_t kMostGroupRanks = 1'000'000;

std::optional<Bytes> buffer_of(const RawValue& elements, std::optional<ElementType> element) {
  const auto count = integer_of(elements);
  if (!count || *count < 0 || !element) {
    return std::nullopt;
  }
  return static_cast<double>(*count) * timeline::format_of(*element).size;
}

std::optional<RankId> rank_of(const RawValue& value) {
  const auto rank = integer_of(value);
  return rank && *rank >= 0 ? std::optional(RankId{*rank}) : std::nullopt;
}

// Long lists are written with their middle left out; where ranks are evenly apart, first and
// distance say them.
std::vector<RankId> ranks_of(const KinetoArguments& arguments, std::optional<std::int64_t> size) {
  if (auto listed = rank_list(arguments.group_ranks.text)) {
    return *std::move(listed);
  }
  const auto start = integer_of(arguments.rank_start);
  const auto stride = integer_of(arguments.rank_stride);
  std::vector<RankId> ranks;
  if (start && stride && size && *start >= 0 && *stride > 0 && *size <= kMostGroupRanks &&
      *start <= kMostGroupRanks && *stride <= kMostGroupRanks) {
    for (std::int64_t i = 0; i < *size; ++i) {
      ranks.push_back({*start + i * *stride});
    }
  }
  return ranks;
}

std::optional<timeline::GroupId> group_of(const KinetoArguments& arguments,
                                          timeline::Timeline& timeline) {
  timeline::Group group;
  const auto size = integer_of(arguments.group_size);
  group.size = size && *size > 0 ? size : std::nullopt;
  if (arguments.group_name.is_string() || arguments.group_name.is_number()) {
    group.name = unescaped(arguments.group_name);
  }
  if (arguments.group_description.is_string() && arguments.group_description.text != "undefined") {
    group.description = unescaped(arguments.group_description);
  }
  group.ranks = ranks_of(arguments, group.size);
  return group == timeline::Group{} ? std::nullopt : timeline.group(group);
}

// Shapes are lists of numbers, one for each input; a list of tensors is a list of shapes. Walks
// "[[4, 2048], [], [[2], [3]]]" and calls `visit(input, elements)` for each shape.
template <typename Visit>
void each_shape(std::string_view text, Visit visit) {
  std::size_t input = 0;
  int depth = 0;
  double elements = 1.0;
  bool has_numbers = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[') {
      depth += 1;
      elements = 1.0;
      has_numbers = false;
    } else if (c == ']') {
      if (has_numbers) {
        visit(input, elements);
      }
      has_numbers = false;
      depth -= 1;
    } else if (c == ',' && depth == 1) {
      input += 1;
    } else if (is_digit(c)) {
      double number = 0.0;
      for (; at < text.size() && is_digit(text[at]); ++at) {
        number = number * 10.0 + (text[at] - '0');
      }
      at -= 1;
      elements *= number;
      has_numbers = true;
    }
  }
}

}  // namespace

std::optional<std::vector<RankId>> rank_list(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with('[') || !text.ends_with(']')) {
    return std::nullopt;
  }
  text = text.substr(1, text.size() - 2);
  std::vector<RankId> ranks;
  if (trimmed(text).empty()) {
    return std::nullopt;
  }
  for (const std::string_view word : split(text, ',')) {
    const auto rank = to_integer(trimmed(word));
    if (!rank || *rank < 0) {
      return std::nullopt;
    }
    ranks.push_back({*rank});
  }
  return ranks;
}

bool says_collective(const KinetoArguments& arguments) {
  return arguments.collective_name.is_string();
}

timeline::Collective collective_of(const KinetoArguments& arguments, timeline::Timeline& timeline) {
  timeline::Collective collective;
  collective.word = unescaped(arguments.collective_name);
  collective.op = op_of_torch_word(collective.word);
  collective.element = element_of_torch_word(arguments.element.text);
  collective.group = group_of(arguments, timeline);
  collective.input = buffer_of(arguments.in_elements, collective.element);
  collective.output = buffer_of(arguments.out_elements, collective.element);
  collective.sender = rank_of(arguments.sender);
  collective.receiver = rank_of(arguments.receiver);
  return collective;
}

std::optional<Bytes> tensor_bytes(const KinetoArguments& arguments) {
  if (!arguments.input_dims.is_nested() || !arguments.input_types.is_nested()) {
    return std::nullopt;
  }
  const std::vector<std::string_view> types = listed_words(arguments.input_types.text);
  std::optional<Bytes> sum;
  bool is_known = true;
  each_shape(arguments.input_dims.text, [&](std::size_t input, double elements) {
    const auto element = input < types.size() ? element_of_torch_word(types[input]) : std::nullopt;
    is_known = is_known && element && std::isfinite(elements);
    if (is_known) {
      sum = sum.value_or(Bytes()) + elements * timeline::format_of(*element).size;
    }
  });
  return is_known ? sum : std::nullopt;
}

std::optional<ElementType> tensor_element(const KinetoArguments& arguments) {
  if (!arguments.input_types.is_nested()) {
    return std::nullopt;
  }
  const std::vector<std::string_view> types = listed_words(arguments.input_types.text);
  return types.empty() ? std::nullopt : element_of_torch_word(types.front());
}

}  // namespace sextant::profile
