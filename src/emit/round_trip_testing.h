// What is lost between a job and its files, for tests of the dialects. Only tests include this.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/dialects.h"
#include "emit/flags.h"
#include "emit/tree_file.h"

namespace sextant::emit {

inline const describe::DataStore& built_in_data() {
  static const describe::DataStore kData;
  return kData;
}

// The layout keys in which two layouts differ, in the order of the alphabet.
inline std::vector<std::string> differing_keys(const describe::Layout& a,
                                               const describe::Layout& b) {
  std::map<std::string, std::set<std::string>> values;
  for (const describe::Layout* layout : {&a, &b}) {
    std::map<std::string, std::string> said;
    const std::string text = describe::to_text(*layout);
    for (const std::string_view part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      if (equals != std::string_view::npos) {
        said.emplace(part.substr(0, equals), part.substr(equals + 1));
      }
    }
    for (const describe::LayoutKey& key : describe::layout_keys()) {
      const auto found = said.find(std::string(key.name));
      values[std::string(key.name)].insert(found == said.end() ? "plain" : found->second);
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, seen] : values) {
    if (seen.size() > 1) {
      keys.push_back(key);
    }
  }
  if (keys.empty() && a != b) {
    keys.emplace_back("a field that the text does not show");
  }
  return keys;
}

// The fields that were left out but `besides`, in the order of the alphabet.
inline std::vector<std::string> fields_of(const std::vector<Inexpressible>& left_out,
                                          std::initializer_list<std::string_view> besides = {}) {
  std::vector<std::string> fields;
  for (const Inexpressible& one : left_out) {
    if (std::find(besides.begin(), besides.end(), one.field) == besides.end()) {
      fields.push_back(one.field);
    }
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

// Those of a layout.
inline std::vector<std::string> layout_fields(const std::vector<Inexpressible>& left_out) {
  return fields_of(left_out, {"model", "gbs"});
}

// Through the words of a command line and back.
template <typename ToWords, typename Parse>
Settings through_words(const Settings& settings, ToWords to_words, Parse parse) {
  std::vector<WordAt> words;
  for (const Setting& setting : settings.given) {
    for (const std::string& word : to_words(setting)) {
      words.push_back({word, {}});
    }
  }
  Settings read = settings;
  read.given = parse(words);
  return read;
}

// Through a YAML file and back; the launcher's settings are not in it. Nothing, and a failure,
// where the file is not read.
inline std::optional<Settings> through_yaml(const Writing& writing, std::string_view name) {
  const Dialect dialect = writing.settings.dialect;
  auto settings = parse_yaml(render_yaml(writing.settings), name, dialect);
  if (!settings) {
    ADD_FAILURE() << to_text(settings.error());
    return std::nullopt;
  }
  EXPECT_EQ(dialect_of_tree(*settings), dialect);
  settings->launch = writing.settings.launch;
  return *settings;
}

}  // namespace sextant::emit
