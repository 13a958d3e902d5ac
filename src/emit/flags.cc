#include "emit/flags.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "emit/launch.h"

namespace sextant::emit {
namespace {

// "--flag" and "-n" open a setting; "-1" and "-0.5" are values.
bool opens(std::string_view word) {
  if (word.size() < 2 || word.front() != '-') {
    return false;
  }
  const char next = word[1];
  return next == '-' ? word.size() > 2 : std::isalpha(static_cast<unsigned char>(next)) != 0;
}

std::string key_of(std::string_view flag) {
  std::string key(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// The place of what follows the '=' of a word, where the word stands in the file as it is.
Place place_of_value(const WordAt& word, std::size_t equals) {
  Place place = word.place;
  if (place.length != word.text.size()) {
    place.length = 0;
    return place;
  }
  place.offset += equals + 1;
  place.length -= equals + 1;
  return place;
}

}  // namespace

std::vector<Setting> parse_flags(std::span<const WordAt> words) {
  std::vector<Setting> settings;
  for (const WordAt& word : words) {
    if (opens(word.text)) {
      const std::size_t equals = word.text.find('=');
      Setting setting{.key = key_of(std::string_view(word.text).substr(0, equals)),
                      .values = {},
                      .place = word.place};
      if (equals != std::string::npos) {
        setting.values.push_back(word.text.substr(equals + 1));
        setting.place = place_of_value(word, equals);
      }
      settings.push_back(std::move(setting));
      continue;
    }
    if (settings.empty()) {
      continue;
    }
    Setting& open = settings.back();
    open.values.push_back(word.text);
    if (open.values.size() == 1) {
      open.place = word.place;
    } else {
      open.place.length = 0;
    }
  }
  for (Setting& setting : settings) {
    if (setting.values.empty()) {
      setting.values.emplace_back("true");
    }
  }
  return settings;
}

std::vector<std::string> flag_words(const Setting& setting) {
  if (setting.values == std::vector<std::string>{"false"}) {
    return {};
  }
  std::string flag = "--" + setting.key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  std::vector<std::string> words{std::move(flag)};
  if (setting.values != std::vector<std::string>{"true"}) {
    words.insert(words.end(), setting.values.begin(), setting.values.end());
  }
  return words;
}

std::string render_flags(const Settings& settings) {
  std::string text;
  for (const Setting& setting : settings.given) {
    std::vector<std::string> words = flag_words(setting);
    if (words.empty()) {
      continue;
    }
    std::transform(words.begin(), words.end(), words.begin(), shell_quoted);
    text += join(words, " ") + "\n";
  }
  return text;
}

}  // namespace sextant::emit
