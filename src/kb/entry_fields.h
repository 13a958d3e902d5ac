// The fields of entries before anything is made of them, whatever file they stand in, and the table
// of those that are plain text. Only the .cc files of kb include this.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/entry.h"

namespace sextant::kb {

struct EntryField {
  std::vector<std::string> values;
  std::string where;  // "mine.toml:12"
};

struct EntryFields {
  std::string id;
  std::string where;
  std::map<std::string, EntryField, std::less<>> by_key;
};

inline constexpr std::size_t kMostEntries = 10'000;

// Fields that are plain text, in the order in which they are written.
struct TextField {
  std::string_view key;
  std::string Entry::* text;
};
inline constexpr std::array kTextFields{TextField{"title", &Entry::title},
                                        TextField{"advice", &Entry::advice},
                                        TextField{"why", &Entry::why},
                                        TextField{"source", &Entry::source},
                                        TextField{"url", &Entry::url},
                                        TextField{"section", &Entry::section},
                                        TextField{"software", &Entry::software},
                                        TextField{"network", &Entry::network},
                                        TextField{"shape", &Entry::shape},
                                        TextField{"layout", &Entry::layout},
                                        TextField{"before", &Entry::before},
                                        TextField{"after", &Entry::after},
                                        TextField{"setting", &Entry::setting},
                                        TextField{"expects", &Entry::expects},
                                        TextField{"conditions", &Entry::conditions},
                                        TextField{"date", &Entry::date},
                                        TextField{"added_by", &Entry::added_by},
                                        TextField{"added_at", &Entry::added_at}};
// In the order of the file; ids stand once.
Result<std::vector<EntryFields>> toml_fields(std::string_view text, std::string_view where);
Result<std::vector<EntryFields>> json_fields(std::string_view text, std::string_view where);

}  // namespace sextant::kb
