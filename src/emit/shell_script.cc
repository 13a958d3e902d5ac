#include "emit/shell_script.h"

#include "base/file.h"
#include "base/text.h"
#include "emit/shell_reader.h"

namespace sextant::emit {
Result<ShellScript> read_shell_script(std::string_view text, std::string_view name,
                                      const ShellInvocation& invocation) {
  SEXTANT_CHECK_OK(checked_text(text, 4_MiB, name));
  return ShellReader(text, name, invocation).read();
}

std::optional<ScriptWord> option_value(std::span<const ScriptWord> words,
                                       std::initializer_list<std::string_view> spellings) {
  std::optional<ScriptWord> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].at.text;
    for (const std::string_view spelling : spellings) {
      if (!text.starts_with(spelling)) {
        continue;
      }
      const std::string_view rest = text.substr(spelling.size());
      if (rest.empty() && i + 1 < words.size()) {
        value = words[i + 1];
      } else if (rest.starts_with('=')) {
        value = words[i];
        value->at.text = rest.substr(1);
      } else if (!rest.empty() && !spelling.starts_with("--") && rest[0] >= '0' && rest[0] <= '9') {
        value = words[i];
        value->at.text = rest;
        const std::size_t length = value->at.place.length;
        value->at.place.offset += spelling.size();
        value->at.place.length = length == text.size() ? rest.size() : 0;
      }
    }
  }
  return value;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace sextant::emit
