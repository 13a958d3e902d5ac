#include "kb/entry_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "kb/entry_fields.h"

namespace sextant::kb {
namespace {

constexpr std::size_t kLongestField = 1'000;
constexpr std::size_t kLongestFeature = 80;
constexpr std::int64_t kMostOfACount = 1'000'000'000'000;
constexpr double kLargestNumber = 1e15;

constexpr std::array<std::string_view, 20> kOtherKeys{
    "kind",         "do_not",      "trust",          "bottlenecks",
    "axes",         "changes",     "devices",        "topology",
    "frameworks",   "models",      "model",          "parameters_billion",
    "device_count", "sequence",    "global_batch",   "metric",
    "value_before", "value_after", "effect_percent", "fate"};

// Of these, and of a layout, a question is made too.
constexpr std::array<std::string_view, 11> kFeatureKeys{
    "bottlenecks", "axes",   "changes", "devices", "topology",
    "frameworks",  "models", "model",   "layout",  "parameters_billion",
    "device_count"};

std::vector<std::string> entry_keys() {
  std::vector<std::string> keys;
  for (const TextField& field : kTextFields) {
    keys.emplace_back(field.key);
  }
  keys.insert(keys.end(), kOtherKeys.begin(), kOtherKeys.end());
  return keys;
}

const EntryField* field_of(const EntryFields& fields, std::string_view key) {
  const auto found = fields.by_key.find(key);
  return found == fields.by_key.end() ? nullptr : &found->second;
}

// "" where the key is absent.
Result<std::string> text_field(const EntryFields& fields, std::string_view key,
                               std::size_t longest) {
  const EntryField* field = field_of(fields, key);
  if (field == nullptr) {
    return std::string();
  }
  if (field->values.size() != 1) {
    return invalid(fmt::format("{} is a list", key), field->where, "one text");
  }
  const std::string& text = field->values.front();
  if (text.size() > longest) {
    return invalid(fmt::format("{} has {} bytes", key, text.size()), field->where,
                   fmt::format("at most {}", longest));
  }
  if (const auto bad = first_invalid_utf8(text)) {
    return invalid(fmt::format("{} is not UTF-8 text", key), field->where);
  }
  return text;
}

Result<std::optional<double>> number_field(const EntryFields& fields, std::string_view key) {
  SEXTANT_TRY(const std::string text, text_field(fields, key, kLongestFeature));
  if (field_of(fields, key) == nullptr) {
    return std::optional<double>();
  }
  const auto number = to_double(text);
  if (!number || std::abs(*number) > kLargestNumber) {
    return invalid(fmt::format("{} is '{}'", key, printable(text)), field_of(fields, key)->where,
                   "a number");
  }
  return number;
}

// 0 where the key is absent.
Result<std::int64_t> count_field(const EntryFields& fields, std::string_view key) {
  SEXTANT_TRY(const std::string text, text_field(fields, key, kLongestFeature));
  if (field_of(fields, key) == nullptr) {
    return 0;
  }
  const auto count = to_integer(text);
  if (!count || *count < 1 || *count > kMostOfACount) {
    return invalid(fmt::format("{} is '{}'", key, printable(text)), field_of(fields, key)->where,
                   fmt::format("a whole number, 1 to {}", kMostOfACount));
  }
  return *count;
}

// Words of a list; commas part them too, as on a command line.
Result<std::vector<std::string>> list_field(const EntryFields& fields, std::string_view key) {
  std::vector<std::string> words;
  const EntryField* field = field_of(fields, key);
  if (field == nullptr) {
    return words;
  }
  for (const std::string& value : field->values) {
    for (const std::string_view part : split(value, ',')) {
      const std::string word = to_lower(trimmed(part));
      if (word.empty() || word.size() > kLongestFeature || first_invalid_utf8(word) ||
          words.size() == 16) {
        return invalid(fmt::format("{} has '{}'", key, printable(word)), field->where,
                       "at most 16 words of 1 to 80 bytes");
      }
      if (std::find(words.begin(), words.end(), word) == words.end()) {
        words.push_back(word);
      }
    }
  }
  return words;
}

template <typename E>
Result<std::vector<E>> enum_field(const EntryFields& fields,
                                  std::span<const describe::Word<E>> words, std::string_view key) {
  SEXTANT_TRY(const std::vector<std::string> texts, list_field(fields, key));
  std::vector<E> found;
  for (const std::string& text : texts) {
    SEXTANT_TRY(const E one,
                describe::parse_word<E>(words, text, key, field_of(fields, key)->where));
    if (std::find(found.begin(), found.end(), one) == found.end()) {
      found.push_back(one);
    }
  }
  return found;
}

template <typename E>
Result<E> word_field(const EntryFields& fields, std::span<const describe::Word<E>> words,
                     std::string_view key, E otherwise) {
  SEXTANT_TRY(const std::string text, text_field(fields, key, kLongestFeature));
  const EntryField* field = field_of(fields, key);
  return field == nullptr ? Result<E>(otherwise)
                          : describe::parse_word<E>(words, text, key, field->where);
}

Result<bool> flag_field(const EntryFields& fields, std::string_view key) {
  SEXTANT_TRY(const std::string text, text_field(fields, key, kLongestFeature));
  if (field_of(fields, key) == nullptr || text == "false") {
    return false;
  }
  if (text != "true") {
    return invalid(fmt::format("{} is '{}'", key, printable(text)), field_of(fields, key)->where,
                   "true or false");
  }
  return true;
}

Result<Features> read_features(const EntryFields& fields, const Entry& entry) {
  Features about;
  SEXTANT_TRY(about.bottlenecks, enum_field<Bottleneck>(fields, kBottleneckWords, "bottlenecks"));
  SEXTANT_TRY(about.axes, enum_field<Theme>(fields, kThemeWords, "axes"));
  SEXTANT_TRY(about.changes, list_field(fields, "changes"));
  for (const std::string& change : about.changes) {
    if (std::find(kChangeWords.begin(), kChangeWords.end(), change) == kChangeWords.end()) {
      return describe::unknown_word(change, {kChangeWords.begin(), kChangeWords.end()}, "changes",
                                    field_of(fields, "changes")->where);
    }
  }
  SEXTANT_TRY(about.devices, list_field(fields, "devices"));
  SEXTANT_TRY(about.topology, list_field(fields, "topology"));
  SEXTANT_TRY(about.frameworks,
              enum_field<describe::Framework>(fields, describe::kFrameworkWords, "frameworks"));
  SEXTANT_TRY(about.models, enum_field<ModelClass>(fields, kModelClassWords, "models"));
  SEXTANT_TRY(about.model, text_field(fields, "model", kLongestFeature));
  SEXTANT_TRY(const std::optional<double> parameters, number_field(fields, "parameters_billion"));
  about.parameters_billion = parameters.value_or(0.0);
  SEXTANT_TRY(about.device_count, count_field(fields, "device_count"));
  about.mesh = mesh_of(entry.layout.empty() ? entry.after : entry.layout + "," + entry.after);
  return about;
}

Result<Measurement> read_measurement(const EntryFields& fields) {
  Measurement measured;
  SEXTANT_TRY(measured.metric, text_field(fields, "metric", kLongestFeature));
  SEXTANT_TRY(measured.before, number_field(fields, "value_before"));
  SEXTANT_TRY(measured.after, number_field(fields, "value_after"));
  SEXTANT_TRY(measured.effect_percent, number_field(fields, "effect_percent"));
  SEXTANT_TRY(measured.fate, word_field<Fate>(fields, kFateWords, "fate", Fate::kNumber));
  return measured;
}

// What must be there, by kind.
Result<void> check_entry(const Entry& entry, const std::string& where) {
  const auto missing = [&](std::string_view key, std::string_view allowed) {
    return invalid(fmt::format("'{}' has no {}", entry.id, key), where, std::string(allowed));
  };
  if (entry.title.empty()) {
    return missing("title", "what it is, in a line");
  }
  if (entry.source.empty()) {
    return missing("source", "who says so: a page, a paper, a run of one's own");
  }
  if (entry.kind == EntryKind::kPractice && entry.advice.empty()) {
    return missing("advice", "what to do, in a sentence or three");
  }
  if (entry.kind == EntryKind::kWin && (entry.before.empty() || entry.after.empty())) {
    return missing("before and after", "the layout's keys, or words, on both sides of the change");
  }
  if (entry.kind == EntryKind::kWin && (entry.measured.metric.empty() || !is_measured(entry))) {
    return missing("measured effect",
                   "metric, and effect_percent or fate = \"fits-after\" or \"no-longer-fits\"");
  }
  return {};
}

Result<void> only_keys(const EntryFields& fields, const std::vector<std::string>& known) {
  for (const auto& [key, field] : fields.by_key) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return describe::unknown_word(key, known, "key", field.where);
    }
  }
  return {};
}

Result<Entry> read_entry(const EntryFields& fields) {
  Entry entry{.id = fields.id};
  if (!is_entry_id(fields.id)) {
    return invalid(fmt::format("'{}' is no id", printable(fields.id)), fields.where,
                   "lower-case letters and digits joined by '-', at most 80");
  }
  SEXTANT_CHECK_OK(only_keys(fields, entry_keys()));
  for (const TextField& field : kTextFields) {
    SEXTANT_TRY(entry.*field.text, text_field(fields, field.key, kLongestField));
  }
  SEXTANT_TRY(const std::string kind, text_field(fields, "kind", kLongestFeature));
  SEXTANT_TRY(entry.kind,
              describe::parse_word<EntryKind>(kEntryKindWords, kind, "kind", fields.where));
  SEXTANT_TRY(entry.do_not, flag_field(fields, "do_not"));
  SEXTANT_TRY(entry.trust, word_field<Trust>(fields, kTrustWords, "trust", Trust::kUnknown));
  SEXTANT_TRY(entry.about, read_features(fields, entry));
  SEXTANT_TRY(entry.sequence, count_field(fields, "sequence"));
  SEXTANT_TRY(entry.global_batch, count_field(fields, "global_batch"));
  SEXTANT_TRY(entry.measured, read_measurement(fields));
  SEXTANT_CHECK_OK(check_entry(entry, fields.where));
  return entry;
}

EntryFields given_fields(const std::string& id, std::span<const GivenField> fields,
                         std::string_view where) {
  EntryFields given{.id = id, .where = std::string(where), .by_key = {}};
  for (const GivenField& field : fields) {
    std::string name = field.key;
    std::replace(name.begin(), name.end(), '_', '-');
    given.by_key[field.key] = {{field.value}, fmt::format("‹{}›", name)};
  }
  return given;
}

}  // namespace

Result<std::vector<Entry>> parse_entries(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const std::vector<EntryFields> found,
              trimmed(text).starts_with('{') ? json_fields(text, where) : toml_fields(text, where));
  std::vector<Entry> entries;
  for (const EntryFields& fields : found) {
    SEXTANT_TRY(Entry entry, read_entry(fields));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<Entry> entry_from(const std::string& id, std::span<const GivenField> fields,
                         std::string_view where) {
  return read_entry(given_fields(id, fields, where));
}

Result<Features> features_from(std::span<const GivenField> fields) {
  const EntryFields given = given_fields({}, fields, {});
  SEXTANT_CHECK_OK(only_keys(given, {kFeatureKeys.begin(), kFeatureKeys.end()}));
  Entry question;
  SEXTANT_TRY(question.layout, text_field(given, "layout", kLongestField));
  return read_features(given, question);
}

}  // namespace sextant::kb
