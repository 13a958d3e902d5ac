#include "profile/json_skim.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include <emmintrin.h>

#include "base/text.h"

namespace sextant::profile {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

unsigned equal_mask(__m128i block, char c) {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(c))));
}

__m128i load_16(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// The closing quote of the string whose text begins at `at`; nullptr if it is not before `end`.
const char* closing_quote(const char* at, const char* end, bool& is_escaped) {
  while (at < end) {
    const __m128i block = load_16(at);
    const unsigned hits = equal_mask(block, '"') | equal_mask(block, '\\');
    if (hits == 0) {
      at += 16;
      continue;
    }
    at += std::countr_zero(hits);
    if (at >= end) {
      return nullptr;
    }
    if (*at == '"') {
      return at;
    }
    is_escaped = true;
    at += 2;
  }
  return nullptr;
}

// Bit i of the answer: an odd number of bits at or below i is set. That is, with quotes as bits,
// the text of strings and their opening quotes.
std::uint64_t parity(std::uint64_t bits) {
  bits ^= bits << 1U;
  bits ^= bits << 2U;
  bits ^= bits << 4U;
  bits ^= bits << 8U;
  bits ^= bits << 16U;
  return bits ^ (bits << 32U);
}

// What stands where in 64 bytes.
struct Block64 {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opening = 0;
  std::uint64_t closing = 0;
};

Block64 block_of(const char* at) {
  Block64 found;
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i block = load_16(at + std::size_t{16} * i);
    // '[' and ']' differ from '{' and '}' by one bit.
    const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));
    const unsigned shift = 16 * i;
    found.quotes |= std::uint64_t{equal_mask(block, '"')} << shift;
    found.backslashes |= std::uint64_t{equal_mask(block, '\\')} << shift;
    found.opening |= std::uint64_t{equal_mask(folded, '{')} << shift;
    found.closing |= std::uint64_t{equal_mask(folded, '}')} << shift;
  }
  return found;
}

// Behind the bracket that closes the one at `at`; nullptr if it is not before `end`.
const char* after_nested(const char* at, const char* end) {
  std::int64_t depth = 0;
  while (at < end) {
    const Block64 block = block_of(at);
    std::uint64_t in_string = parity(block.quotes);
    std::uint64_t looked_at = ~std::uint64_t{0};
    if (block.backslashes != 0) {
      // Up to the string with the first of them; that string is then walked by itself.
      const auto first = static_cast<unsigned>(std::countr_zero(block.backslashes));
      looked_at = (std::uint64_t{1} << first) - 1;
    }
    std::uint64_t brackets = (block.opening | block.closing) & ~in_string & looked_at;
    while (brackets != 0) {
      const auto bit = static_cast<unsigned>(std::countr_zero(brackets));
      depth += ((block.opening >> bit) & 1U) != 0 ? 1 : -1;
      if (depth <= 0) {
        at += bit + 1;
        return at <= end ? at : nullptr;
      }
      brackets &= brackets - 1;
    }
    // Where a string goes on behind what was looked at, walk to its end.
    const std::uint64_t quotes = block.quotes & looked_at;
    if ((std::popcount(quotes) & 1) != 0) {
      const auto opening = 63U - static_cast<unsigned>(std::countl_zero(quotes));
      bool ignored = false;
      const char* quote = closing_quote(at + opening + 1, end, ignored);
      if (quote == nullptr) {
        return nullptr;
      }
      at = quote + 1;
    } else {
      // A backslash outside of a string is no JSON; it is passed over like any byte.
      at += block.backslashes != 0 ? std::countr_zero(block.backslashes) + 1 : 64;
    }
  }
  return nullptr;
}

// Behind a number or a word (true, NaN).
const char* after_scalar(const char* at, const char* end) {
  while (at < end && *at != ',' && *at != '}' && *at != ']' && *at != ':' && *at != '"' &&
         *at != '{' && *at != '[' && !is_blank(*at)) {
    ++at;
  }
  return at;
}

struct EventField {
  std::string_view name;
  RawValue RawEvent::* place;
};
constexpr std::array<EventField, 9> kEventFields{{{"ph", &RawEvent::ph},
                                                  {"cat", &RawEvent::cat},
                                                  {"name", &RawEvent::name},
                                                  {"pid", &RawEvent::pid},
                                                  {"tid", &RawEvent::tid},
                                                  {"ts", &RawEvent::ts},
                                                  {"dur", &RawEvent::dur},
                                                  {"args", &RawEvent::args},
                                                  {"id", &RawEvent::id}}};

RawValue* field_of(RawEvent& event, std::string_view key) {
  for (const EventField& field : kEventFields) {
    if (field.name == key) {
      return &(event.*field.place);
    }
  }
  return nullptr;
}

// A key and its value. `key` and `value` are set if the answer is whole.
Skimmed skim_member(const char* at, const char* end, RawValue& key, RawValue& value) {
  if (*at != '"') {
    return {Skim::kBroken, at};
  }
  key.is_escaped = false;
  const char* quote = closing_quote(at + 1, end, key.is_escaped);
  if (quote == nullptr) {
    return {Skim::kCut, end};
  }
  key.type = RawValue::Type::kString;
  key.text = {at + 1, static_cast<std::size_t>(quote - at - 1)};
  at = skip_blanks(quote + 1, end);
  if (at >= end) {
    return {Skim::kCut, end};
  }
  if (*at != ':') {
    return {Skim::kBroken, at};
  }
  at = skip_blanks(at + 1, end);
  if (at >= end) {
    return {Skim::kCut, end};
  }
  return skim_value(at, end, value);
}

// Behind the ',' or at the '}' after a member.
Skimmed after_member(const char* at, const char* end) {
  at = skip_blanks(at, end);
  if (at >= end) {
    return {Skim::kCut, end};
  }
  if (*at == ',') {
    at = skip_blanks(at + 1, end);
    // A comma before the end is not JSON, though some writers leave one.
    return {at < end ? Skim::kWhole : Skim::kCut, at};
  }
  return {*at == '}' ? Skim::kWhole : Skim::kBroken, at};
}

std::optional<unsigned> hex_of(std::string_view four) {
  unsigned value = 0;
  const auto [at, error] = std::from_chars(four.data(), four.data() + four.size(), value, 16);
  return four.size() == 4 && error == std::errc() && at == four.data() + 4 ? std::optional(value)
                                                                           : std::nullopt;
}

void append_utf8(std::string& out, unsigned code) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code < 0x80) {
    out += byte(code);
  } else if (code < 0x800) {
    out += byte(0xc0U | code >> 6U);
    out += byte(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    out += byte(0xe0U | code >> 12U);
    out += byte(0x80U | (code >> 6U & 0x3fU));
    out += byte(0x80U | (code & 0x3fU));
  } else {
    out += byte(0xf0U | code >> 18U);
    out += byte(0x80U | (code >> 12U & 0x3fU));
    out += byte(0x80U | (code >> 6U & 0x3fU));
    out += byte(0x80U | (code & 0x3fU));
  }
}

// Decodes the four digits at `at`, and the low half of a pair behind them; how many were used.
std::size_t append_unicode(std::string& out, std::string_view text, std::size_t at) {
  const auto high = hex_of(text.substr(at, 4));
  if (!high) {
    out += "\\u";
    return 0;
  }
  if (*high >= 0xd800 && *high < 0xdc00 && text.substr(at + 4, 2) == "\\u") {
    const auto low = hex_of(text.substr(at + 6, 4));
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      append_utf8(out, 0x10000 + ((*high - 0xd800) << 10U) + (*low - 0xdc00));
      return 10;
    }
  }
  append_utf8(out, *high >= 0xd800 && *high < 0xe000 ? 0xfffd : *high);
  return 4;
}

}  // namespace

const char* skip_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) {
    ++at;
  }
  return at;
}

Skimmed skim_value(const char* at, const char* end, RawValue& value) {
  const char* begin = at;
  const auto found = [&](RawValue::Type type, const char* from, const char* to) {
    value.type = type;
    value.text = {from, static_cast<std::size_t>(to - from)};
  };
  value.is_escaped = false;
  if (*at == '"') {
    const char* quote = closing_quote(at + 1, end, value.is_escaped);
    if (quote == nullptr) {
      return {Skim::kCut, end};
    }
    found(RawValue::Type::kString, at + 1, quote);
    return {Skim::kWhole, quote + 1};
  }
  if (*at == '{' || *at == '[') {
    at = after_nested(at, end);
    if (at == nullptr) {
      return {Skim::kCut, end};
    }
    found(RawValue::Type::kNested, begin, at);
    // Brackets were only counted: one that is missing shows in the last.
    return {at[-1] == (*begin == '{' ? '}' : ']') ? Skim::kWhole : Skim::kBroken, at};
  }
  at = after_scalar(at, end);
  if (at == end) {
    return {Skim::kCut, end};  // what follows may belong to it
  }
  const bool is_number = *begin == '-' || is_digit(*begin);
  if (at == begin || (!is_number && (*begin < 'A' || *begin > 'z'))) {
    return {Skim::kBroken, at};
  }
  found(is_number ? RawValue::Type::kNumber : RawValue::Type::kWord, begin, at);
  return {Skim::kWhole, at};
}

Skimmed skim_event(const char* at, const char* end, RawEvent& event) {
  event = {};
  at = skip_blanks(at + 1, end);
  while (at < end && *at != '}') {
    RawValue key;
    RawValue value;
    const Skimmed member = skim_member(at, end, key, value);
    if (member.state != Skim::kWhole) {
      return member;
    }
    RawValue* field = key.is_escaped ? field_of(event, unescaped(key)) : field_of(event, key.text);
    if (field != nullptr) {
      *field = value;
    }
    const Skimmed next = after_member(member.at, end);
    if (next.state != Skim::kWhole) {
      return next;
    }
    at = next.at;
  }
  return at < end ? Skimmed{Skim::kWhole, at + 1} : Skimmed{Skim::kCut, end};
}

Members::Members(std::string_view object)
    : at_(object.data()), end_(object.data() + object.size()) {
  at_ = object.empty() || *at_ != '{' ? end_ : skip_blanks(at_ + 1, end_);
}

bool Members::next(RawValue& key, RawValue& value) {
  if (at_ >= end_ || *at_ == '}') {
    return false;
  }
  const Skimmed member = skim_member(at_, end_, key, value);
  if (member.state != Skim::kWhole) {
    at_ = end_;
    return false;
  }
  const Skimmed next = after_member(member.at, end_);
  at_ = next.state == Skim::kWhole ? next.at : end_;
  return true;
}

std::string unescaped(const RawValue& string) {
  if (!string.is_escaped) {
    return std::string(string.text);
  }
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::array<char, 5> kMeanings{'\b', '\f', '\n', '\r', '\t'};
  const std::string_view text = string.text;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char letter = text[++at];
    const std::size_t known = kLetters.find(letter);
    if (letter == 'u') {
      at += append_unicode(out, text, at + 1);
    } else {
      out += known == std::string_view::npos ? letter : kMeanings.at(known);
    }
  }
  return out;
}

std::optional<std::int64_t> integer_of(const RawValue& value) {
  if (!value.is_number() && !value.is_string()) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace sextant::profile
