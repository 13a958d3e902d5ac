#include "app/kb_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/known_entries.h"
#include "base/file.h"
#include "base/text.h"
#include "kb/library.h"
#include "kb/search.h"
#include "kb/store.h"

namespace sextant::app {
namespace {

constexpr Bytes kMostEntryFile = 4_MiB;
constexpr std::int64_t kMostFound = 1'000;

Result<std::optional<kb::EntryKind>> kind_of(const KbRequest& request) {
  if (request.kind.empty()) {
    return std::optional<kb::EntryKind>();
  }
  SEXTANT_TRY(const kb::EntryKind kind, describe::parse_word<kb::EntryKind>(
                                            kb::kEntryKindWords, request.kind, "kind", "‹kind›"));
  return std::optional(kind);
}

Result<std::vector<kb::Entry>> named_entries(const KbRequest& request, const KnownEntries& known) {
  std::vector<kb::Entry> entries;
  for (const std::string& id : request.what) {
    SEXTANT_TRY(kb::Entry entry, kb::find_entry(known.entries, id));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<kb::Entry>> given_entries(const KbRequest& request) {
  std::vector<kb::Entry> entries;
  for (const std::string& file : request.what) {
    SEXTANT_TRY(const std::string text, read_text(file, kMostEntryFile));
    SEXTANT_TRY(std::vector<kb::Entry> read, kb::parse_entries(text, file));
    entries.insert(entries.end(), std::make_move_iterator(read.begin()),
                   std::make_move_iterator(read.end()));
  }
  if (!request.what.empty()) {
    return request.given.empty()
               ? Result<std::vector<kb::Entry>>(std::move(entries))
               : invalid("a file and an entry of parameters", "«kb» add", "one of the two");
  }
  std::vector<kb::GivenField> fields = request.given;
  fields.push_back({"kind", request.kind.empty() ? "practice" : request.kind});
  const auto title = std::ranges::find(fields, "title", &kb::GivenField::key);
  const std::string id = !request.id.empty()     ? request.id
                         : title == fields.end() ? std::string()
                                                 : kb::id_from(title->value);
  if (id.empty()) {
    return invalid("there is nothing to add", "«kb» add",
                   "a file of entries, or ‹title›, ‹source› and what else an entry says");
  }
  SEXTANT_TRY(kb::Entry entry, kb::entry_from(id, fields, "«kb» add"));
  entries.push_back(std::move(entry));
  return entries;
}

}  // namespace

Result<Answered<explain::FoundEntriesAnswer>> search_entries(const KbRequest& request,
                                                             const Context& context) {
  kb::Question question{.words = join(request.what, " ")};
  SEXTANT_TRY(question.kind, kind_of(request));
  SEXTANT_TRY(question.about, kb::features_from(request.given));
  if (question.words.empty() && request.given.empty()) {
    return invalid("nothing is asked", "«kb» search",
                   "words, or what the job is: ‹bottlenecks›, ‹axes›, ‹devices›, …");
  }
  const auto limit =
      request.limit.empty() ? std::optional<std::int64_t>(10) : to_integer(request.limit);
  if (!limit || *limit < 1 || *limit > kMostFound) {
    return invalid(fmt::format("'{}' entries", printable(request.limit)), "‹limit›",
                   fmt::format("1 to {}", kMostFound));
  }
  question.limit = static_cast<std::size_t>(*limit);
  SEXTANT_TRY(KnownEntries known, known_entries(kb_file(request.file, context), context));
  SEXTANT_TRY(kb::Index index, kb::Index::of(known.entries));
  SEXTANT_TRY(const std::vector<kb::Ranked> ranked, index.search(question));
  explain::FoundEntriesAnswer answer;
  for (const kb::Ranked& one : ranked) {
    answer.entries.push_back({known.entries[one.entry], one.score, one.terms});
  }
  answer.provenance = std::move(known.provenance);
  return Answered<explain::FoundEntriesAnswer>{std::move(answer)};
}

Result<Answered<explain::ListedEntriesAnswer>> list_entries(const KbRequest& request,
                                                            const Context& context) {
  SEXTANT_TRY(const std::optional<kb::EntryKind> kind, kind_of(request));
  SEXTANT_TRY(KnownEntries known, known_entries(kb_file(request.file, context), context));
  explain::ListedEntriesAnswer answer{
      .entries = request.own ? std::move(known.own) : std::move(known.entries),
      .provenance = std::move(known.provenance)};
  std::erase_if(answer.entries,
                [kind](const kb::Entry& entry) { return kind && entry.kind != *kind; });
  return Answered<explain::ListedEntriesAnswer>{std::move(answer)};
}

Result<Answered<explain::EntriesInFullAnswer>> show_entries(const KbRequest& request,
                                                            const Context& context) {
  if (request.what.empty()) {
    return invalid("no entry is named", "«kb» show", "ids that «kb» list shows");
  }
  SEXTANT_TRY(KnownEntries known, known_entries(kb_file(request.file, context), context));
  explain::EntriesInFullAnswer answer;
  SEXTANT_TRY(answer.entries, named_entries(request, known));
  answer.provenance = std::move(known.provenance);
  return Answered<explain::EntriesInFullAnswer>{std::move(answer)};
}

Result<Answered<explain::ExportedEntriesAnswer>> export_entries(const KbRequest& request,
                                                                const Context& context) {
  SEXTANT_TRY(KnownEntries known, known_entries(kb_file(request.file, context), context));
  explain::ExportedEntriesAnswer answer;
  answer.file = request.out;
  answer.provenance = std::move(known.provenance);
  if (request.what.empty()) {
    answer.entries = std::move(known.own);
  } else {
    SEXTANT_TRY(answer.entries, named_entries(request, known));
  }
  std::vector<Artifact> artifacts;
  if (!request.out.empty()) {
    artifacts.push_back({.path = request.out, .bytes = kb::entries_toml(answer.entries)});
  }
  return Answered<explain::ExportedEntriesAnswer>{.answer = std::move(answer),
                                                  .artifacts = std::move(artifacts)};
}

Result<Answered<explain::AddedEntriesAnswer>> add_entries(const KbRequest& request,
                                                          const Context& context) {
  const std::filesystem::path file = kb_file(request.file, context);
  if (file.empty()) {
    return invalid("nobody says where the knowledge base is", "‹kb›", "a file");
  }
  explain::AddedEntriesAnswer answer;
  SEXTANT_TRY(answer.entries, given_entries(request));
  const std::string by = request.by.empty() ? context.user : request.by;
  const std::string at = request.at.empty() ? context.now : request.at;
  for (kb::Entry& entry : answer.entries) {
    if (!entry.added_at.empty()) {
      continue;  // it comes of another knowledge base
    }
    entry.added_by = entry.added_by.empty() ? by : entry.added_by;
    entry.added_at = at;
    if (at.empty()) {
      return invalid("nobody says when it is added", "‹at›", "2026-01-02T03:04:05Z");
    }
  }
  SEXTANT_TRY(std::vector<kb::Entry> built_in, kb::built_in_entries(context.data));
  SEXTANT_CHECK_OK(kb::joined_entries(std::move(built_in), answer.entries));
  SEXTANT_TRY(kb::Store store, kb::Store::open(file, kb::Access::kWrite));
  SEXTANT_TRY(answer.added, store.add(answer.entries, request.replace));
  answer.file = file.string();
  answer.provenance = kb_provenance(file, answer.entries);
  std::vector<std::string> notes{fmt::format("{} has them", printable(answer.file, 200))};
  return Answered<explain::AddedEntriesAnswer>{.answer = std::move(answer),
                                               .notes = std::move(notes)};
}

}  // namespace sextant::app
