#include "explain/violation_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"

namespace sextant::explain {

std::string message_text(const describe::Violation& violation) {
  return violation.nearest.empty()
             ? violation.message
             : fmt::format("{}; nearest: {}", violation.message, join(violation.nearest, ", "));
}

std::string violation_text(const describe::Violation& violation) {
  return fmt::format("{}: {}", violation.rule, message_text(violation));
}

std::string to_text(const NotLegal& answer, const Style& style) {
  if (style.format == Format::kJson) {
    Json json = document(answer.use_case, answer.provenance);
    json["legal"] = false;
    Json& list = json["violations"] = Json::array();
    for (const describe::Violation& violation : answer.violations) {
      list.push_back({{"rule", violation.rule},
                      {"message", violation.message},
                      {"nearest", violation.nearest}});
    }
    return dumped(json);
  }
  std::string text = bad("not legal", style) + "\n";
  for (const describe::Violation& violation : answer.violations) {
    text += fmt::format("  {}\n", violation_text(violation));
  }
  return text;
}

}  // namespace sextant::explain
