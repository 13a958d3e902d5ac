// One event: of what is JSON the skimmer finds the fields that RapidJSON's reader hands on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include <rapidjson/reader.h>

#include "profile/json_skim.h"

namespace {

using sextant::profile::RawEvent;
using sextant::profile::RawValue;
using sextant::profile::Skim;

// Of the outermost object: type and text of each member, the last of equal keys.
class Outer : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Outer> {
 public:
  bool Default() { return put('w', {}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return put('n', {text, size});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return put('s', {text, size});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    if (depth_ == 1) {
      key_.assign(text, size);
    }
    return true;
  }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(rapidjson::SizeType /*members*/) { return close(); }
  bool EndArray(rapidjson::SizeType /*values*/) { return close(); }
  std::map<std::string, std::pair<char, std::string>> members;

 private:
  bool put(char type, std::string text) {
    if (depth_ == 1) {
      members[key_] = {type, std::move(text)};
    }
    return true;
  }
  bool open() {
    put('o', {});
    depth_ += 1;
    return true;
  }
  bool close() {
    depth_ -= 1;
    return true;
  }
  int depth_ = 0;
  std::string key_;
};

void hold(bool is_so) {
  if (!is_so) {
    std::abort();
  }
}

// RapidJSON hands on a low surrogate that stands alone as three bytes that are no UTF-8, where the
// skimmer writes U+FFFD.
bool holds_surrogate(const std::string& text) {
  for (std::size_t at = text.find('\xED'); at != std::string::npos;
       at = text.find('\xED', at + 1)) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) {
      return true;
    }
  }
  return false;
}

void same(const RawValue& found, const Outer& parsed, const char* key) {
  const auto member = parsed.members.find(key);
  if (member == parsed.members.end()) {
    hold(found.type == RawValue::Type::kNone);
    return;
  }
  const auto& [type, text] = member->second;
  hold(found.is_string() == (type == 's') && found.is_number() == (type == 'n') &&
       found.is_nested() == (type == 'o'));
  hold(type != 's' || holds_surrogate(text) || sextant::profile::unescaped(found) == text);
  hold(type != 'n' || found.text == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string held = std::string(reinterpret_cast<const char*>(data), size) +
                           std::string(sextant::profile::kSkimPadding, '"');
  if (size == 0 || held[0] != '{') {
    return 0;
  }
  RawEvent event;
  const auto skimmed = sextant::profile::skim_event(held.data(), held.data() + size, event);
  Outer parsed;
  rapidjson::Reader reader;
  // In place and without its stack, which adds to a null pointer: UBSan does not let that pass. So
  // it recurses, and what is nested deeply is left to the skimmer alone.
  const auto opened = std::count_if(held.begin(), held.end() - sextant::profile::kSkimPadding,
                                    [](char c) { return c == '[' || c == '{'; });
  if (opened > 200 || std::memchr(held.data(), 0, size) != nullptr) {
    return 0;
  }
  // Half a character at the end makes it read up to three bytes past the text's own zero.
  std::string copy = held.substr(0, size) + std::string(4, '\0');
  rapidjson::InsituStringStream stream(copy.data());
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag |
                              rapidjson::kParseStopWhenDoneFlag |
                              rapidjson::kParseValidateEncodingFlag;
  if (reader.Parse<kFlags>(stream, parsed).IsError()) {
    return 0;
  }
  hold(skimmed.state == Skim::kWhole);
  same(event.ph, parsed, "ph");
  same(event.cat, parsed, "cat");
  same(event.name, parsed, "name");
  same(event.pid, parsed, "pid");
  same(event.tid, parsed, "tid");
  same(event.ts, parsed, "ts");
  same(event.dur, parsed, "dur");
  same(event.id, parsed, "id");
  same(event.args, parsed, "args");
  return 0;
}
