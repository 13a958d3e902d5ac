#include "emit/vocabulary.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/data_store.h"
#include "describe/json_value.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kTokenizersFile = "frameworks/tokenizers.json";
constexpr std::int64_t kMostEntries = 100'000'000;

struct TokenizerRow {
  std::string match;
  std::string named;
  std::int64_t entries = 0;
  std::string of;
};

std::vector<TokenizerRow> read_tokenizers(const describe::DataStore& data) {
  std::vector<TokenizerRow> list;
  const auto text = data.read(kTokenizersFile);
  const auto json = text ? describe::JsonValue::parse(*text, data.where(kTokenizersFile))
                         : Result<describe::JsonValue>(invalid("no such file"));
  const auto rows = json ? json->member("rows") : std::nullopt;
  if (!rows) {
    return list;
  }
  for (const describe::JsonValue& row : rows->elements()) {
    const std::string line = row.text().value_or("");
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() == 4) {
      list.push_back({std::string(cells[0]), std::string(cells[1]),
                      to_integer(cells[2]).value_or(0), std::string(cells[3])});
    }
  }
  return list;
}

bool is_named(const TokenizerRow& row, std::string_view named) {
  return row.match == "file"     ? named.substr(named.rfind('/') + 1) == row.named
         : row.match == "starts" ? named.starts_with(row.named)
                                 : named == row.named;
}

// A number of entries; 0: the setting says none.
std::int64_t entries_given(const Setting* setting) {
  const auto value = setting == nullptr || setting->values.size() != 1
                         ? std::nullopt
                         : to_integer(setting->values.front());
  return value && *value > 0 && *value <= kMostEntries ? *value : 0;
}

void say_vocabulary(std::int64_t entries, std::string words, const Place& place, Reading& reading) {
  reading.facts.push_back({"vocab", std::to_string(entries), std::move(words), place});
  std::erase_if(reading.unresolved, [](const Unresolved& one) { return one.what == "vocab_size"; });
  std::erase_if(reading.unknown,
                [](const UnknownSetting& one) { return one.key == "pad_vocab_size_to"; });
  if (reading.model) {
    reading.model->vocab = entries;
    std::erase_if(reading.model->assumed,
                  [](const describe::Assumption& one) { return one.key == "vocab"; });
  }
}

}  // namespace

std::optional<KnownTokenizer> known_tokenizer(std::string_view named) {
  static const std::vector<TokenizerRow> kEmbedded = read_tokenizers(describe::DataStore{});
  const auto row = std::ranges::find_if(
      kEmbedded, [&](const TokenizerRow& each) { return is_named(each, named); });
  return row == kEmbedded.end() ? std::nullopt
                                : std::optional(KnownTokenizer{row->entries, row->of});
}

void add_vocabulary(const Settings& settings, Reading& reading) {
  const bool said =
      std::ranges::any_of(reading.facts, [](const Fact& fact) { return fact.field == "vocab"; });
  if (said || (settings.dialect != Dialect::kMegatron && settings.dialect != Dialect::kBridge)) {
    return;
  }
  for (const std::string_view key : {"pad_vocab_size_to", "padded_vocab_size"}) {
    const Setting* padded = find(settings.given, key);
    if (const std::int64_t entries = entries_given(padded); entries > 0) {
      say_vocabulary(entries, fmt::format("{} = {}", key, padded->values.front()), padded->place,
                     reading);
      return;
    }
  }
  for (const std::string_view key : {"vocab_file", "tokenizer_model", "tokenizer_name_or_path",
                                     "tokenizer.tokenizer_model", "tokenizer.vocab_file"}) {
    const Setting* named = find(settings.given, key);
    const auto known = named == nullptr || named->values.size() != 1
                           ? std::nullopt
                           : known_tokenizer(named->values.front());
    if (known) {
      say_vocabulary(known->entries,
                     fmt::format("{} = {}: {}'s tokenizer", key,
                                 printable(named->values.front(), 60), known->of),
                     named->place, reading);
      return;
    }
  }
}

}  // namespace sextant::emit
