// What a conversation may cost: tokens, money, or both. Asked before each request, so that no
// request begins that could not be paid for; what a server says afterwards is added up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "llm/conversation.h"

namespace sextant::llm {

// Of a million tokens, in and out.
struct Price {
  Dollars input;
  Dollars output;
};

struct Budget {
  std::optional<std::int64_t> tokens = {};  // in and out together, of all requests
  std::optional<Dollars> money = {};
  std::optional<Price> price = {};  // without one money cannot be held: parse_budget refuses it
};

// "200k", "2M", "150000", "0.50USD", or both with a comma; `price` is "3/15" (dollars for a million
// tokens in and out) or "". The Errors name the parameters that the words came from.
struct BudgetWords {
  std::string budget;
  std::string price;
  std::string budget_name;
  std::string price_name;
};
Result<Budget> parse_budget(const BudgetWords& words);

// A token of English or JSON is three to four bytes, of code and figures two to three; so a third
// of the bytes is what a text is taken for where nobody has counted.
std::int64_t estimated_tokens(std::size_t bytes);

class Spending {
 public:
  explicit Spending(const Budget& budget) : budget_(budget) {}

  // Tokens that a reply to so many may have: `most`, or as many as are left; nothing where fewer
  // than a sixteenth of `most` are.
  [[nodiscard]] std::optional<std::int64_t> most_output(std::int64_t input,
                                                        std::int64_t most) const;
  void add(const Usage& usage);

  [[nodiscard]] const Usage& used() const { return used_; }
  [[nodiscard]] int requests() const { return requests_; }
  // Nothing without a price.
  [[nodiscard]] std::optional<Dollars> money() const;
  // "12,345 tokens in and 678 out in 4 requests, 0.05 USD"
  [[nodiscard]] std::string to_text() const;

 private:
  Budget budget_;
  Usage used_;
  int requests_ = 0;
};

}  // namespace sextant::llm
