// Findings of a check, and the two forms in which CI systems show them beside the code.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/check_view.h"
#include "explain/json.h"
#include "explain/violation_view.h"

namespace sextant::explain {
namespace {

using describe::Severity;
using describe::Word;

constexpr std::array<Word<Severity>, 3> kGithubWords{
    {{Severity::kIllegal, "error"}, {Severity::kRisk, "warning"}, {Severity::kNote, "notice"}}};
constexpr std::array<Word<Severity>, 3> kSarifWords{
    {{Severity::kIllegal, "error"}, {Severity::kRisk, "warning"}, {Severity::kNote, "note"}}};

const emit::Fact* fact_of(const emit::Reading& reading, std::string_view field) {
  const auto found = std::find_if(reading.facts.rbegin(), reading.facts.rend(),
                                  [&](const emit::Fact& fact) { return fact.field == field; });
  return found == reading.facts.rend() ? nullptr : &*found;
}

// Where the first value stands that the violation names: "tp=6" in its message, or in what would
// mend it.
emit::Place violation_place(const describe::Violation& violation, const CheckAnswer& answer) {
  std::vector<std::string> texts{violation.message};
  texts.insert(texts.end(), violation.nearest.begin(), violation.nearest.end());
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t first = text.find_first_of(kLetters, at);
      if (first == std::string::npos) {
        break;
      }
      const std::size_t last = std::min(text.find_first_not_of(kLetters, first), text.size());
      const emit::Fact* fact = fact_of(answer.reading, text.substr(first, last - first));
      if (fact != nullptr && fact->place.line > 0) {
        return fact->place;
      }
      at = last;
    }
  }
  return {answer.files.empty() ? std::string() : answer.files.front(), 1};
}

// As GitHub's workflow commands want it.
std::string github_escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

Json sarif_rule(const std::string& id) {
  Json rule{{"id", id}};
  if (const auto known = describe::find_rule(id)) {
    rule["shortDescription"]["text"] = known->title;
    rule["fullDescription"]["text"] = fmt::format("{}. {}", known->formula, known->why);
    rule["help"]["text"] = known->fix;
  }
  return rule;
}

}  // namespace

std::string unknown_text(const emit::UnknownSetting& setting) {
  return fmt::format("'{}' is no setting of this framework{}", printable(setting.key),
                     setting.nearest.empty()
                         ? std::string()
                         : fmt::format("; did you mean {}?", join(setting.nearest, " or ")));
}

std::vector<Finding> findings(const CheckAnswer& answer) {
  std::vector<Finding> list;
  for (const describe::Violation& violation : answer.violations) {
    list.push_back({violation.severity, std::string(violation.rule), message_text(violation),
                    violation_place(violation, answer)});
  }
  for (const emit::UnknownSetting& setting : answer.reading.unknown) {
    list.push_back({Severity::kRisk, "UNKNOWN-SETTING", unknown_text(setting), setting.place});
  }
  for (const emit::Unresolved& one : answer.reading.unresolved) {
    list.push_back({Severity::kNote, "UNRESOLVED",
                    fmt::format("{}: {}", printable(one.what), one.why), one.place});
  }
  for (const std::string& text : answer.open) {
    list.push_back({Severity::kNote,
                    "NOT-STATED",
                    text,
                    {answer.files.empty() ? std::string() : answer.files.front(), 1}});
  }
  return list;
}

std::string github_text(const std::vector<Finding>& list) {
  std::string text;
  for (const Finding& finding : list) {
    text += fmt::format("::{} file={},line={},title={}::{}\n",
                        describe::word_of<Severity>(kGithubWords, finding.severity),
                        github_escaped(finding.place.file, true),
                        std::max<std::int64_t>(finding.place.line, 1),
                        github_escaped(finding.rule, true), github_escaped(finding.message, false));
  }
  return text;
}

std::string sarif_text(const std::vector<Finding>& list) {
  Json rules = Json::array();
  Json results = Json::array();
  std::set<std::string> seen;
  for (const Finding& finding : list) {
    if (seen.insert(finding.rule).second) {
      rules.push_back(sarif_rule(finding.rule));
    }
    Json place;
    place["physicalLocation"]["artifactLocation"]["uri"] = finding.place.file;
    place["physicalLocation"]["region"]["startLine"] =
        std::max<std::int64_t>(finding.place.line, 1);
    Json result;
    result["ruleId"] = finding.rule;
    result["level"] = describe::word_of<Severity>(kSarifWords, finding.severity);
    result["message"]["text"] = finding.message;
    result["locations"] = Json::array({std::move(place)});
    results.push_back(std::move(result));
  }
  Json run;
  run["tool"]["driver"]["name"] = "sextant";
  run["tool"]["driver"]["version"] = tool_version();
  run["tool"]["driver"]["rules"] = std::move(rules);
  run["results"] = std::move(results);
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = Json::array({std::move(run)});
  return dumped(log);
}

}  // namespace sextant::explain
