// Closed sets of words: an enum and its spellings, in one table. The first spelling of a value is
// the one printed; further rows with the same value are accepted aliases.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sextant::describe {

template <typename E>
using Word = std::pair<E, std::string_view>;

template <typename E>
constexpr std::string_view word_of(std::span<const Word<E>> words, E value) {
  for (const Word<E>& word : words) {
    if (word.first == value) {
      return word.second;
    }
  }
  return "?";
}

// The error for a word that is not in its set: what was seen, the nearest words, and all of them.
tl::unexpected<Error> unknown_word(std::string_view text, std::vector<std::string> allowed,
                                   std::string_view what, std::string_view where);

// The value spelled `text` (case ignored); `what` names the set in the error ("precision").
template <typename E>
Result<E> parse_word(std::span<const Word<E>> words, std::string_view text, std::string_view what,
                     std::string_view where);

std::string lower_case(std::string_view text);

template <typename E>
Result<E> parse_word(std::span<const Word<E>> words, std::string_view text, std::string_view what,
                     std::string_view where) {
  const std::string lower = lower_case(text);
  std::vector<std::string> allowed;
  for (const Word<E>& word : words) {
    if (word.second == lower) {
      return word.first;
    }
    allowed.emplace_back(word.second);
  }
  return unknown_word(text, std::move(allowed), what, where);
}

}  // namespace sextant::describe
