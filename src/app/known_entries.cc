#include "app/known_entries.h"

#include "base/sha256.h"
#include "kb/entry_text.h"
#include "kb/library.h"
#include "kb/store.h"

namespace sextant::app {

std::filesystem::path kb_file(const std::string& word, const Context& context) {
  return word.empty() ? context.kb_file : std::filesystem::path(word);
}

explain::Provenance kb_provenance(const std::filesystem::path& file,
                                  const std::vector<kb::Entry>& own) {
  explain::Provenance provenance{std::string(explain::tool_version()), {}};
  if (!own.empty()) {
    provenance.inputs.emplace_back(file.string(), sha256_hex(kb::entries_toml(own)));
  }
  return provenance;
}

Result<KnownEntries> known_entries(const std::filesystem::path& file, const Context& context) {
  KnownEntries known;
  SEXTANT_TRY(kb::Store store, kb::Store::open(file, kb::Access::kRead));
  SEXTANT_TRY(known.own, store.entries());
  SEXTANT_TRY(std::vector<kb::Entry> built_in, kb::built_in_entries(context.data));
  auto joined = kb::joined_entries(std::move(built_in), known.own);
  if (!joined) {
    joined.error().where = file.string();
    return tl::unexpected(std::move(joined.error()));
  }
  known.entries = std::move(*joined);
  known.provenance = kb_provenance(file, known.own);
  return known;
}

}  // namespace sextant::app
