#include "describe/model/load_model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/json_value.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kFolder = "models";
constexpr std::string_view kExtension = "json";
constexpr std::size_t kMostListed = 12;

bool is_path(std::string_view word) {
  return word == "-" || word.find('/') != std::string_view::npos || word.ends_with(".json");
}

// The first few, and how many more there are.
std::string listed(std::vector<std::string> names) {
  const std::size_t more = names.size() > kMostListed ? names.size() - kMostListed : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

// The catalogue entry that `word` means.
Result<std::string> catalogue_name(std::string_view word, const DataStore& data) {
  const std::vector<std::string> names = catalogue_names(data);
  const std::string lower = to_lower(word);
  std::vector<std::string> candidates;
  for (const std::string& name : names) {
    const std::string other = to_lower(name);
    if (other == lower) {
      return name;
    }
    if (!lower.empty() && starts_with_word(other, lower)) {
      candidates.push_back(name);
    }
  }
  if (candidates.size() == 1) {
    return candidates.front();
  }
  if (!candidates.empty()) {
    return invalid(
        fmt::format("'{}' is the beginning of {} models", printable(word), candidates.size()), {},
        listed(candidates));
  }
  const std::string hint = did_you_mean(lower, names);
  return not_found(
      fmt::format("no model '{}'{}{}", printable(word), hint.empty() ? "" : "; ", hint), {},
      "a catalogue name, the path of a config.json, or -");
}

}  // namespace

std::vector<std::string> catalogue_names(const DataStore& data) {
  return data.list(kFolder, kExtension);
}

Result<Model> load_model(std::string_view word, const DataStore& data) {
  std::string where = word == "-" ? "standard input" : std::string(word);
  std::string text;
  if (is_path(word)) {
    SEXTANT_TRY(text, read_file(std::filesystem::path(word), kMostJson));
  } else {
    SEXTANT_TRY(const std::string name, catalogue_name(word, data));
    const std::string file = fmt::format("{}/{}.{}", kFolder, name, kExtension);
    SEXTANT_TRY(text, data.read(file));
    where = data.where(file);
  }
  SEXTANT_TRY(Model model, parse_hf_config(text, where, data));
  model.config_file = std::move(where);
  model.config_sha256 = sha256_hex(text);
  return model;
}

}  // namespace sextant::describe
