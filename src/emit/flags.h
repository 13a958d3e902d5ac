// Command-line words and settings: "--flag value value", "--flag=value", and back. What the flags
// mean is not known here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/settings.h"

namespace sextant::emit {

// One word of a command line, quotes and variables already resolved.
struct WordAt {
  std::string text;
  Place place{};
};

// The settings of a word list: a word that starts with "--" (or with "-" and a letter) opens one,
// the words up to the next are its values; one without any is a switch, "true". Keys lose their
// dashes and have '_' for '-': "--no-x" is the key "no_x". A single place spans several values only
// where there is just one. Words before the first flag are dropped.
std::vector<Setting> parse_flags(std::span<const WordAt> words);

// A setting as Megatron's command line takes it: "--flag", "value", …; a switch is its flag alone,
// and one that is off ("false") is nothing at all. Words are not quoted.
std::vector<std::string> flag_words(const Setting& setting);

// Every given setting, one a line.
std::string render_flags(const Settings& settings);

}  // namespace sextant::emit
