#include "explain/kb_view.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/kb_json.h"
#include "explain/shown_text.h"
#include "explain/text_table.h"
#include "kb/entry_text.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kLongestLine = 100;  // of a title in a table
constexpr std::size_t kLongestShown = 1'100;

std::string_view entry_kind_word(const kb::Entry& entry) {
  return describe::word_of<kb::EntryKind>(kb::kEntryKindWords, entry.kind);
}

// "+9.2 %", "fits-after", "step lower, x0.7 to x0.85".
std::string effect_of(const kb::Entry& entry) {
  if (entry.measured.fate != kb::Fate::kNumber) {
    return std::string(describe::word_of<kb::Fate>(kb::kFateWords, entry.measured.fate));
  }
  if (entry.measured.effect_percent) {
    return fmt::format("{:+.1f} % {}", *entry.measured.effect_percent,
                       entry.measured.metric == "mem_gib" ? "memory saved" : "speed");
  }
  return entry.expects;
}

std::string where_of(const kb::Entry& entry) {
  const std::string device = entry.about.devices.empty() ? "" : entry.about.devices.front();
  const std::string devices = entry.about.device_count > 0
                                  ? fmt::format("{}x{}", entry.about.device_count, device)
                                  : device;
  return entry.about.model.empty() ? devices
                                   : entry.about.model + (devices.empty() ? "" : " on " + devices);
}

Table found_table(const FoundEntriesAnswer& answer, const Style& style) {
  Table table{{{"score", true}, {"id"}, {"kind"}, {"what"}, {"effect"}, {"where"}, {"because of"}},
              {}};
  for (const ShownEntry& one : answer.entries) {
    std::vector<std::string> terms;
    for (const kb::RankTerm& term : one.terms) {
      terms.push_back(fmt::format("{} {:+.1f}", term.what, term.points));
    }
    const kb::Entry& entry = one.entry;
    table.rows.push_back({fmt::format("{:.2f}", one.score), entry.id,
                          std::string(entry_kind_word(entry)),
                          shown_text(entry.title, kLongestLine, style),
                          shown_text(effect_of(entry), kLongestLine, style),
                          shown_text(where_of(entry), kLongestLine, style),
                          shown_text(join(terms, "; "), 400, style)});
  }
  return table;
}

Table listed_table(const std::vector<kb::Entry>& entries, const Style& style) {
  Table table{{{"id"}, {"kind"}, {"origin"}, {"what"}, {"effect"}, {"where"}}, {}};
  for (const kb::Entry& entry : entries) {
    table.rows.push_back(
        {entry.id, std::string(entry_kind_word(entry)),
         std::string(describe::word_of<kb::Origin>(kb::kOriginWords, entry.origin)),
         shown_text(entry.title, kLongestLine, style),
         shown_text(effect_of(entry), kLongestLine, style),
         shown_text(where_of(entry), kLongestLine, style)});
  }
  return table;
}

std::string entries_document(const std::vector<kb::Entry>& entries, const Provenance& provenance) {
  Json json = document("kb", provenance);
  json["entries"] = Json::array();
  for (const kb::Entry& entry : entries) {
    json["entries"].push_back(entry_json(entry));
  }
  return dumped(json);
}

std::string found_document(const FoundEntriesAnswer& answer) {
  Json json = document("kb", answer.provenance);
  Json& list = json["entries"] = Json::array();
  for (const ShownEntry& one : answer.entries) {
    Json entry = entry_json(one.entry);
    entry["score"] = one.score;
    Json& terms = entry["terms"] = Json::array();
    for (const kb::RankTerm& term : one.terms) {
      terms.push_back({{"what", term.what}, {"points", term.points}});
    }
    list.push_back(std::move(entry));
  }
  return dumped(json);
}

std::string value_pair(const kb::Measurement& measured) {
  return measured.before && measured.after ? fmt::format("{}: {} before, {} after", measured.metric,
                                                         *measured.before, *measured.after)
                                           : measured.metric;
}

std::string in_full(const kb::Entry& entry, const Style& style) {
  const std::string warning = entry.do_not ? " (a change to stay away from)" : "";
  std::string text = fmt::format("{}: {}{}\n\n", bold(entry.id, style),
                                 shown_text(entry.title, kLongestShown, style), warning);
  const std::string trust(entry.trust == kb::Trust::kUnknown
                              ? std::string_view()
                              : describe::word_of<kb::Trust>(kb::kTrustWords, entry.trust));
  const std::array<std::pair<std::string_view, std::string>, 20> lines{
      {{"kind", fmt::format("{}, {}", entry_kind_word(entry),
                            describe::word_of<kb::Origin>(kb::kOriginWords, entry.origin))},
       {"advice", entry.advice},
       {"why", entry.why},
       {"effect", effect_of(entry)},
       {"measured", value_pair(entry.measured)},
       {"where", where_of(entry)},
       {"software", entry.software},
       {"network", entry.network},
       {"model", entry.shape},
       {"sequence", entry.sequence == 0 ? "" : fmt::format("{}", entry.sequence)},
       {"batch", entry.global_batch == 0 ? "" : fmt::format("{}", entry.global_batch)},
       {"layout", entry.layout},
       {"before", entry.before},
       {"after", entry.after},
       {"setting", entry.setting},
       {"conditions", entry.conditions},
       {"source", entry.source + (entry.section.empty() ? "" : ", " + entry.section)},
       {"url", entry.url},
       {"trust", trust},
       {"added", entry.added_by + (entry.added_at.empty() ? "" : " " + entry.added_at)}}};
  for (const auto& [name, value] : lines) {
    if (!value.empty()) {
      text += fmt::format("  {:<11} {}\n", name, shown_text(value, kLongestShown, style));
    }
  }
  return text;
}

}  // namespace

std::string to_text(const FoundEntriesAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return found_document(answer);
  }
  if (style.format == Format::kTable && answer.entries.empty()) {
    return "nothing is known about that\n";
  }
  return to_text(found_table(answer, style), style);
}

std::string to_text(const ListedEntriesAnswer& answer, const Style& style) {
  return style.format == Format::kJson ? entries_document(answer.entries, answer.provenance)
                                       : to_text(listed_table(answer.entries, style), style);
}

std::string to_text(const EntriesInFullAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return entries_document(answer.entries, answer.provenance);
  }
  if (style.format == Format::kCsv) {
    return to_text(listed_table(answer.entries, style), style);
  }
  std::string text;
  for (const kb::Entry& entry : answer.entries) {
    text += (text.empty() ? "" : "\n") + in_full(entry, style);
  }
  return text;
}

std::string to_text(const ExportedEntriesAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return entries_document(answer.entries, answer.provenance);
  }
  return answer.file.empty()
             ? kb::entries_toml(answer.entries)
             : fmt::format("{}: {} entries\n", printable(answer.file, 200), answer.entries.size());
}

std::string to_text(const AddedEntriesAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return entries_document(answer.entries, answer.provenance);
  }
  constexpr std::array<std::pair<kb::Added, std::string_view>, 3> kWords{
      {{kb::Added::kNew, "added"},
       {kb::Added::kAlreadyThere, "was there already"},
       {kb::Added::kReplaced, "replaced"}}};
  std::string text;
  for (std::size_t i = 0; i < answer.entries.size(); ++i) {
    for (const auto& [added, word] : kWords) {
      text += added == answer.added[i] ? fmt::format("{}: {}\n", answer.entries[i].id, word) : "";
    }
  }
  return text;
}

}  // namespace sextant::explain
