#include "explain/list_view.h"

#include "base/text.h"
#include "explain/text_table.h"

namespace sextant::explain {

std::string to_text(const WordsAnswer& answer, const Style& /*style*/) {
  std::string text;
  for (const std::string& word : answer.words) {
    text += word + "\n";
  }
  return text;
}

std::string to_text(const HardwareAnswer& answer, const Style& style) {
  Table table{{{"kind"}, {"id"}, {"name"}, {"also called"}}, {}};
  for (const HardwareAnswer::Entry& entry : answer.entries) {
    table.rows.push_back({entry.kind, entry.id, entry.name, join(entry.aliases, ", ")});
  }
  return to_text(table, style);
}

}  // namespace sextant::explain
