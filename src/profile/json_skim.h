// Finds the fields of one event of a Chrome trace without making a document of it: slices of the
// text, nothing copied, nothing decoded, what isn't asked for passed over. Four times the pace of a
// parser that hands on every token, which is what a gigabyte in four seconds needs.
//
// Of what is JSON it finds what any parser finds (a test and a fuzz target hold it to RapidJSON).
// It takes more than that: raw control characters and bytes that are no UTF-8 inside strings, since
// profilers write them; and it does not look into what it passes over beyond quotes and brackets.
//
// It may look up to kSkimPadding bytes past the end of the text: whoever owns the text sees that
// these can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::profile {

inline constexpr std::size_t kSkimPadding = 64;

// A value as it stands in the text. Of a string what is between the quotes.
struct RawValue {
  enum class Type : std::uint8_t { kNone, kString, kNumber, kWord, kNested };
  Type type = Type::kNone;
  bool is_escaped = false;  // a string that holds a backslash
  std::string_view text = {};
  [[nodiscard]] bool is_string() const { return type == Type::kString; }
  [[nodiscard]] bool is_number() const { return type == Type::kNumber; }
  [[nodiscard]] bool is_nested() const { return type == Type::kNested; }
};

// The fields of an event. Source: Trace Event Format, Google, "Event Descriptions".
struct RawEvent {
  RawValue ph, cat, name, pid, tid, ts, dur, id, args;
};

enum class Skim : std::uint8_t {
  kWhole,  // read; the text may end here
  kCut,    // the text ends within it
  kBroken  // no JSON
};

// Where a step through the text ended: behind what it read if that was whole.
struct Skimmed {
  Skim state = Skim::kBroken;
  const char* at = nullptr;
};

// Past blanks.
const char* skip_blanks(const char* at, const char* end);
// One value of any kind, which begins at `at`.
Skimmed skim_value(const char* at, const char* end, RawValue& value);
// The event that begins with the '{' at `at`. Of keys that come twice the last counts.
Skimmed skim_event(const char* at, const char* end, RawEvent& event);

// Walks the members of an object's text, "{…}" as in RawEvent::args.
class Members {
 public:
  // REQUIRES: kSkimPadding bytes can be read behind the text.
  explicit Members(std::string_view object);
  // The next member; false after the last, or where the text is no JSON.
  bool next(RawValue& key, RawValue& value);

 private:
  const char* at_;
  const char* end_;
};

// A string's text with its escapes undone; what is no escape stays. Lone surrogates become U+FFFD.
std::string unescaped(const RawValue& string);
// A whole number, or a string that is one ("25738"); nothing for all else.
std::optional<std::int64_t> integer_of(const RawValue& value);

}  // namespace sextant::profile
