// Pasted terminal text line by line, cleaned and cut into words, for measured/nccl_tests.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::measured {

// A number as printed, and half of its last digit.
struct PrintedNumber {
  double value = 0.0;
  double rounding = 0.0;
  bool starred = false;  // "1e-03*": old nccl-tests marks what is over its threshold
};

// "12.50", "1.2e+06", "-1", "3e-08*"; nothing for any other word.
std::optional<PrintedNumber> printed_number(std::string_view word);

// A cell of a result line: a number or "N/A".
bool is_cell(std::string_view word);

// The data type's place in a result line: the first type word that two whole numbers precede
// (bytes, elements). Nothing in comments and all other lines.
std::optional<std::size_t> dtype_place(const std::vector<std::string_view>& words);

// The digits at the end of a word that a log prefix may be glued to: "0:1024" → "1024".
std::string_view glued_digits(std::string_view word);

// Lines of a text, one after the other. Colours and other terminal commands are removed, as are
// lines over 8 KiB; a result line or a device line ("# Rank …") that was broken is one line again,
// with the number of its first part.
class NcclLines {
 public:
  // REQUIRES: the text outlives this.
  explicit NcclLines(std::string_view text) : rest_(text) {}

  // Goes to the next line; false after the last.
  bool next();

  // Of the current line. Words are cut at blanks; both are valid until next().
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }

 private:
  bool read_ahead();  // whether there is a line ahead

  std::string_view rest_;
  bool ended_ = false;
  // The line after the current one, if there is one.
  bool has_ahead_ = false;
  std::int64_t ahead_number_ = 0;
  std::string ahead_;
  std::int64_t number_ = 0;
  std::string text_;
  std::vector<std::string_view> words_;
};

}  // namespace sextant::measured
