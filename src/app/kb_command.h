// kb: what is known of making jobs faster, and the user's own entries.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/kb_view.h"
#include "kb/entry_text.h"

namespace sextant::app {

struct KbRequest {
  std::string file = {};                   // "": the context's
  std::vector<std::string> what = {};      // words, ids or files
  std::vector<kb::GivenField> given = {};  // an entry's keys, of a question or of a new entry
  std::string kind = {};
  std::string limit = {};
  std::string id = {};
  bool own = false;
  bool replace = false;
  std::string by = {};
  std::string at = {};
  std::string out = {};
};

Result<Answered<explain::FoundEntriesAnswer>> search_entries(const KbRequest& request,
                                                             const Context& context);
Result<Answered<explain::ListedEntriesAnswer>> list_entries(const KbRequest& request,
                                                            const Context& context);
Result<Answered<explain::EntriesInFullAnswer>> show_entries(const KbRequest& request,
                                                            const Context& context);
// The named entries, or all of the user's own; into a file where one is named.
Result<Answered<explain::ExportedEntriesAnswer>> export_entries(const KbRequest& request,
                                                                const Context& context);
// Those of the files, or the one that the fields say. Who added it and when is kept where an entry
// says it already.
Result<Answered<explain::AddedEntriesAnswer>> add_entries(const KbRequest& request,
                                                          const Context& context);

}  // namespace sextant::app
