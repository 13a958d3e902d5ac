#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/job_parameters.h"
#include "app/kb_command.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

constexpr std::array<std::string_view, 5> kActions{"search", "add", "list", "show", "export"};

// What a question or a new entry says of itself: a parameter each, '-' for the '_' of an entry's
// key.
std::vector<Parameter> feature_parameters() {
  using enum ParameterKind;
  return {
      {.name = "bottlenecks",
       .kind = kWords,
       .value = "WORDS",
       .help = "what holds the job up",
       .words = main_spellings(kb::kBottleneckWords),
       .example = "communication"},
      {.name = "axes",
       .kind = kWords,
       .value = "WORDS",
       .help = "the part of the job it is about",
       .words = main_spellings(kb::kThemeWords),
       .example = "tp,overlap"},
      {.name = "changes",
       .kind = kWords,
       .value = "WORDS",
       .help = "what the change is of",
       .words = {kb::kChangeWords.begin(), kb::kChangeWords.end()},
       .example = "recompute"},
      {.name = "devices", .value = "DEVICES", .help = "ids, or gpu and tpu", .example = "h100-sxm"},
      {.name = "topology",
       .value = "WORDS",
       .help = "node, nvlink-domain, cluster, slice, multi-slice, torus",
       .example = "node"},
      {.name = "frameworks", .value = "WORDS", .help = "who runs it", .example = "torchtitan"},
      {.name = "models",
       .kind = kWords,
       .value = "WORDS",
       .help = "classes of model",
       .words = main_spellings(kb::kModelClassWords),
       .example = "moe"},
      {.name = "model", .value = "NAME", .help = "of the model", .example = "Llama-3-70B"},
      {.name = "parameters-billion",
       .kind = kNumber,
       .value = "COUNT",
       .help = "size of the model",
       .example = "70"},
      {.name = "device-count",
       .kind = kCount,
       .value = "COUNT",
       .help = "of devices",
       .example = "256"},
      {.name = "layout",
       .value = "KEYS",
       .help = "layout keys: of the question's job, of an entry what stays the same",
       .example = "tp=8,pp=4"}};
}

// What a new entry says beside its features.
std::vector<Parameter> entry_parameters() {
  using enum ParameterKind;
  return {
      {.name = "title", .value = "TEXT", .help = "add: in a line", .example = "TP in the node"},
      {.name = "advice", .value = "TEXT", .help = "add: what to do", .example = "Keep tp in it."},
      {.name = "why", .value = "TEXT", .help = "add: the mechanism", .example = "Links."},
      {.name = "source", .value = "TEXT", .help = "add: who says so", .example = "our run of May"},
      {.name = "url", .value = "URL", .help = "add: of the source", .example = "https://a.example"},
      {.name = "trust",
       .kind = kWord,
       .value = "WORD",
       .help = "add: how whole the source's configuration is",
       .words = main_spellings(kb::kTrustWords),
       .example = "a"},
      {.name = "before", .value = "KEYS", .help = "add: before the change", .example = "tp=16"},
      {.name = "after", .value = "KEYS", .help = "add: after the change", .example = "tp=8"},
      {.name = "metric",
       .value = "NAME",
       .help = "add: what was measured",
       .example = "step_time_s"},
      {.name = "value-before",
       .kind = kNumber,
       .value = "NUMBER",
       .help = "add: measured before",
       .example = "12.5"},
      {.name = "value-after",
       .kind = kNumber,
       .value = "NUMBER",
       .help = "add: measured after",
       .example = "10"},
      {.name = "effect-percent",
       .kind = kNumber,
       .value = "PERCENT",
       .help = "add: faster by (mem_gib: memory saved)",
       .example = "25"},
      {.name = "fate",
       .kind = kWord,
       .value = "WORD",
       .help = "add: where one of the two does not run",
       .words = main_spellings(kb::kFateWords),
       .example = "fits-after"},
      {.name = "conditions",
       .value = "TEXT",
       .help = "add: what else it depends on",
       .example = "one node"}};
}

std::vector<Parameter> kb_parameters() {
  using enum ParameterKind;
  const std::vector<Parameter> first{
      {.name = "action",
       .kind = kWord,
       .value = "ACTION",
       .help = "what to do",
       .words = {kActions.begin(), kActions.end()},
       .example = "search",
       .required = true,
       .positional = true},
      {.name = "what",
       .value = "WHAT",
       .help = "search: words; show and export: ids; add: files of entries, TOML or JSON",
       .example = "pipeline bubble",
       .many = true,
       .positional = true},
      {.name = "kb",
       .kind = kFileToWrite,
       .value = "FILE",
       .help = "the file of one's own entries",
       .otherwise = "the setting, else sextant/kb.sqlite in XDG_DATA_HOME",
       .example = "team.sqlite"},
      {.name = "kind",
       .kind = kWord,
       .value = "KIND",
       .help = "of entries",
       .otherwise = "both; add: practice",
       .words = main_spellings(kb::kEntryKindWords),
       .example = "win"},
      {.name = "limit",
       .kind = kCount,
       .value = "COUNT",
       .help = "search: entries at most",
       .fallback = "10",
       .example = "5"},
      {.name = "own", .kind = kFlag, .help = "list: one's own entries alone"},
      {.name = "id",
       .value = "ID",
       .help = "add: of the entry",
       .otherwise = "made of its title",
       .example = "tp-in-the-node"},
      {.name = "replace", .kind = kFlag, .help = "add: also what is there under the id"},
      {.name = "by",
       .value = "NAME",
       .help = "add: who adds it",
       .otherwise = "the user",
       .example = "Ada"},
      {.name = "at",
       .value = "TIME",
       .help = "add: when",
       .otherwise = "now",
       .example = "2026-01-02T03:04:05Z"},
      {.name = "out",
       .kind = kFileToWrite,
       .value = "FILE.toml",
       .help = "export: where to",
       .otherwise = "the answer",
       .example = "ours.toml"}};
  return joined(joined(first, feature_parameters()), entry_parameters());
}

KbRequest kb_request(const Values& values) {
  KbRequest request{.file = values.one("kb"),
                    .what = values.all("what"),
                    .kind = values.one("kind"),
                    .limit = values.one("limit"),
                    .id = values.one("id"),
                    .own = values.has("own"),
                    .replace = values.has("replace"),
                    .by = values.one("by"),
                    .at = values.one("at"),
                    .out = values.one("out")};
  for (const Parameter& parameter : joined(feature_parameters(), entry_parameters())) {
    if (values.has(parameter.name)) {
      std::string key(parameter.name);
      std::replace(key.begin(), key.end(), '-', '_');
      request.given.push_back({key, values.one(parameter.name)});
    }
  }
  return request;
}

// What an action takes beside the file; features and what an entry says stand for themselves.
struct ActionParameters {
  std::string_view action;
  std::vector<std::string_view> names;
  bool features = false;
  bool entry = false;
};

const std::vector<ActionParameters>& action_parameters() {
  static const std::vector<ActionParameters> kTaken{
      {.action = "search", .names = {"what", "kind", "limit"}, .features = true},
      {.action = "add",
       .names = {"what", "kind", "id", "replace", "by", "at"},
       .features = true,
       .entry = true},
      {.action = "list", .names = {"kind", "own"}},
      {.action = "show", .names = {"what"}},
      {.action = "export", .names = {"what", "out"}}};
  return kTaken;
}

bool is_of(const std::vector<Parameter>& parameters, std::string_view name) {
  return std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
}

// Is everything that was given for this action?
Result<void> check_taken(const ActionParameters& taken, const Values& values) {
  for (const auto& [name, given] : values.given()) {
    const bool known = name == "action" || name == "kb" ||
                       std::ranges::find(taken.names, name) != taken.names.end() ||
                       (taken.features && is_of(feature_parameters(), name)) ||
                       (taken.entry && is_of(entry_parameters(), name));
    if (!known) {
      return invalid(fmt::format("‹{}› is not taken", name), fmt::format("«kb» {}", taken.action),
                     "what its help names for it");
    }
  }
  return {};
}

Result<Reply> run_kb(const Values& values, const Context& context, const Control&) {
  const std::string action = values.one("action");
  const auto taken = std::ranges::find(action_parameters(), action, &ActionParameters::action);
  if (taken == action_parameters().end()) {
    return describe::unknown_word(action, {kActions.begin(), kActions.end()}, "action", "«kb»");
  }
  SEXTANT_CHECK_OK(check_taken(*taken, values));
  const KbRequest request = kb_request(values);
  if (action == "search") {
    return reply_of(search_entries(request, context));
  }
  if (action == "add") {
    return reply_of(add_entries(request, context));
  }
  if (action == "list") {
    return reply_of(list_entries(request, context));
  }
  if (action == "show") {
    return reply_of(show_entries(request, context));
  }
  return reply_of(export_entries(request, context));
}

}  // namespace

UseCase kb_use_case() {
  return {
      .name = "kb",
      .summary = "What is known to work: best practices and past optimisations, with sources",
      .examples = {{{{"action", "search"}, {"what", "exposed tensor parallel all-reduce on H100"}}},
                   {{{"action", "search"},
                     {"bottlenecks", "hbm"},
                     {"models", "moe"},
                     {"devices", "h100-sxm"}}},
                   {{{"action", "show"}, {"what", "interleave-stages"}}},
                   {{{"action", "add"}, {"what", "ours.toml"}}},
                   {{{"action", "export"}, {"out", "ours.toml"}}}},
      .parameters = kb_parameters(),
      .run = run_kb};
}

}  // namespace sextant::app
