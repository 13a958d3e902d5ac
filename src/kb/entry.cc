#include "kb/entry.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "kb/entry_says.h"

namespace sextant::kb {
namespace {

constexpr std::size_t kLongestId = 80;
constexpr std::int64_t kMostOnAnAxis = 1'000'000;
// Spellings of an axis in layouts and meshes, as it is called here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kAxisNames{
    {{"tp", "tp"},
     {"tensor", "tp"},
     {"pp", "pp"},
     {"stage", "pp"},
     {"vpp", "vpp"},
     {"cp", "cp"},
     {"context", "cp"},
     {"ep", "ep"},
     {"expert", "ep"},
     {"etp", "etp"},
     {"dp", "dp"},
     {"data", "dp"},
     {"dp_shard", "fsdp"},
     {"fsdp", "fsdp"},
     {"mbs", "mbs"},
     {"zero", "zero"}}};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}

// "tp=8" at the key's start: the number, nothing where there is none.
std::optional<std::int64_t> number_after(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = to_integer(text.substr(0, digits));
  return value && *value <= kMostOnAnAxis ? value : std::nullopt;
}

// Names and the text behind their '='.
template <typename Take>
void for_each_key(std::string_view text, const Take& take) {
  for (std::size_t equals = text.find('='); equals != std::string_view::npos;
       equals = text.find('=', equals + 1)) {
    std::size_t begin = equals;
    while (begin > 0 && is_name_letter(text[begin - 1])) {
      begin -= 1;
    }
    take(text.substr(begin, equals - begin), text.substr(equals + 1));
  }
}

void add_once(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    words.emplace_back(word);
  }
}

}  // namespace

Mesh mesh_of(std::string_view layout) {
  Mesh mesh;
  for_each_key(layout, [&mesh](std::string_view key, std::string_view rest) {
    for (const auto& [spelling, name] : kAxisNames) {
      const auto number = key == spelling ? number_after(rest) : std::nullopt;
      if (number && *number > 1) {
        mesh[std::string(name)] = *number;
      }
    }
  });
  return mesh;
}

bool is_measured(const Entry& entry) {
  return entry.kind == EntryKind::kWin &&
         (entry.measured.effect_percent || entry.measured.fate != Fate::kNumber);
}

bool is_entry_id(std::string_view id) {
  const bool letters = std::all_of(id.begin(), id.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-';
  });
  return letters && !id.empty() && id.size() <= kLongestId && id.front() != '-' && id.back() != '-';
}

std::string id_from(std::string_view title) {
  std::string id;
  for (const char c : to_lower(title)) {
    const bool kept = is_digit(c) || (c >= 'a' && c <= 'z');
    if (kept) {
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
    if (id.size() == kLongestId) {
      break;
    }
  }
  while (!id.empty() && id.back() == '-') {
    id.pop_back();
  }
  return id;
}

Entry entry_of(const Practice& practice, const PracticeSource& source) {
  Entry entry{.id = practice.id,
              .kind = EntryKind::kPractice,
              .origin = Origin::kBuiltIn,
              .title = practice.title,
              .advice = practice.advice,
              .why = practice.why,
              .do_not = practice.do_not,
              .source = source.title,
              .url = source.url,
              .section = practice.section,
              .about = {.bottlenecks = practice.applies.bottlenecks,
                        .axes = practice.applies.axes,
                        .devices = practice.applies.devices,
                        .topology = practice.applies.topology,
                        .frameworks = practice.applies.frameworks,
                        .models = practice.applies.models,
                        .mesh = mesh_of(practice.change.after)},
              .software = practice.applies.versions,
              .before = practice.change.before,
              .after = practice.change.after,
              .setting = practice.change.setting,
              .expects = expectation_text(practice.expects),
              .conditions = practice.applies.conditions,
              .date = source.version};
  for_each_key(practice.change.after, [&entry](std::string_view key, std::string_view) {
    if (const std::string_view change = change_of_key(key); !change.empty()) {
      add_once(entry.about.changes, change);
    }
  });
  return entry;
}

}  // namespace sextant::kb
