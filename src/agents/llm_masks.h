// Names and paths that shall not leave the machine, each with a word in its place; and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::agents {

class Masks {
 public:
  Masks() = default;  // masks nothing
  // These names, wherever they stand as a whole word, whatever their case; and everything that
  // looks like a path (/a/b, ~/a, ./a, C:\a, scheme://a/b), as it is met.
  explicit Masks(const std::vector<std::string>& names);

  // Names become name_1, name_2, …, paths path_1, …: the same ones the same words, always.
  [[nodiscard]] std::string masked(std::string_view text);
  // The words back into what they stand for.
  [[nodiscard]] std::string plain(std::string_view text) const;

 private:
  std::pair<std::string, std::size_t> word_at(std::string_view text, std::string_view lower,
                                              std::size_t at);

  bool is_on_ = false;
  std::vector<std::pair<std::string, std::string>> names_;  // lower-case name, word; longest first
  std::vector<std::pair<std::string, std::string>> words_;  // word, what it stands for
  std::size_t paths_ = 0;
};

}  // namespace sextant::agents
