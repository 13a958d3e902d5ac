#include "app/tool_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "app/tune_llm.h"

namespace sextant::app {
namespace {

// What an entry or a question is about.
constexpr auto kFeatures = std::to_array<std::string_view>(
    {"bottlenecks", "axes", "changes", "devices", "topology", "frameworks", "models", "model",
     "parameters-billion", "device-count", "layout"});

std::vector<std::string_view> with_features(std::initializer_list<std::string_view> names) {
  std::vector<std::string_view> all(names);
  all.insert(all.end(), kFeatures.begin(), kFeatures.end());
  return all;
}

// Never an assistant's to choose: where the user's own state lies, what is logged there, and
// whether a language model is asked. With its address an assistant that was talked into it would
// send the job, and the user's key, to whom it likes.
constexpr auto kNever = std::to_array<std::string_view>({"kb", "session"});

bool is_about_a_model(std::string_view name) {
  static const std::vector<Parameter> kAll = llm_parameters();
  return std::ranges::find(kAll, name, &Parameter::name) != kAll.end();
}

// An entry that an assistant adds says nothing measured: no figures, no grade of trust. So it
// stands behind everything that was measured (kb/search.h). Nor does it replace another.
std::vector<std::string_view> added_entry() {
  return with_features(
      {"kind", "id", "title", "advice", "why", "source", "url", "before", "after", "conditions"});
}

std::vector<ToolRow> reading_rows() {
  return {
      {.name = "model",
       .use_case = "model",
       .hint = "Ask first what a name or config.json means. Milliseconds."},
      {.name = "cluster",
       .use_case = "cluster",
       .hint = "Peaks, memory and links that every prediction uses. Milliseconds."},
      {.name = "memory",
       .use_case = "memory",
       .hint = "Outcome no: it does not fit, and by how much. Milliseconds."},
      {.name = "plan",
       .use_case = "plan",
       .hint = "Searches every legal layout: seconds to minutes, sends progress, can be cancelled. "
               "`fix` keeps keys, `from` starts at the user's own files, `why-not` says why a "
               "layout is not the plan.",
       .hidden = {"threads", "proof", "baselines"}},
      {.name = "estimate",
       .use_case = "estimate",
       .hint = "One layout, with every term and its interval. Under a second."},
      {.name = "compare",
       .use_case = "compare",
       .hint = "Which of several layouts or clusters is faster, and by which term. Under a second "
               "a layout."},
      {.name = "explain",
       .use_case = "explain",
       .hint = "With `topic` a rule's id or a finding: what it asks and why. With `topic` step, "
               "memory, compute, traffic or work, and a job: how its figures are made."},
      {.name = "traffic",
       .use_case = "traffic",
       .hint = "Messages with their groups and links. Milliseconds."},
      {.name = "check",
       .use_case = "check",
       .hint = "Start here with somebody's launch script, configuration or log. Milliseconds.",
       .hidden = {"to-row"}},
      {.name = "emit",
       .use_case = "emit",
       .hint = "Nothing is written: the files are in the answer. Milliseconds."},
      {.name = "summarize",
       .use_case = "summarize",
       .hint = "Takes seconds a gigabyte of profile; can be cancelled."},
      {.name = "diagnose",
       .use_case = "diagnose",
       .hint = "Start here with a profile. Findings are ranked by what mending them is worth. "
               "Takes seconds a gigabyte of profile; sends progress, can be cancelled.",
       .hidden = {"hta-compatible", "fail-on"}},
      {.name = "diff",
       .use_case = "diff",
       .hint = "Takes seconds a gigabyte of profile.",
       .hidden = {"fail-on"}},
      {.name = "tune",
       .use_case = "tune",
       .hint = "What holds a job up and up to three changes worth making, each judged. Takes "
               "seconds to minutes; sends progress, can be cancelled.",
       .hidden = {"what", "no-log"},
       .fixed = {{"no-log", "1"}}},
      {.name = "validate",
       .use_case = "validate",
       .hint = "How far the models are from tables of measurements. Takes seconds.",
       .hidden = {"rows", "ledger", "plots", "check"}}};
}

std::vector<ToolRow> knowledge_rows() {
  return {{.name = "kb_search",
           .use_case = "kb",
           .hint = "Past optimisations and best practices, ranked, each with its source; cite an "
                   "entry by its id. What an entry says about another job is no prediction for "
                   "this one: have a change judged. Under a second.",
           .only = with_features({"what", "kind", "limit"}),
           .fixed = {{"action", "search"}}},
          {.name = "verify_proposal",
           .use_case = "verify",
           .hint = "Have every change judged before you advise it: is it legal, does it fit, is "
                   "what you claim of it so? A claim that the models refute is rejected, one they "
                   "cannot tell stays undecided. Under a second.",
           .hidden = {"author"},
           .author = "author"},
          {.name = "kb_add",
           .use_case = "kb",
           .hint = "Adds one entry to the user's knowledge base, marked with who adds it. It holds "
                   "no measurement and never outranks one.",
           .only = added_entry(),
           .fixed = {{"action", "add"}},
           .author = "by",
           .writes = true}};
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_offered(const ToolRow& row, std::string_view name) {
  if (is_among(kNever, name) || is_about_a_model(name) || is_among(row.hidden, name)) {
    return false;
  }
  return row.only.empty() || is_among(row.only, name);
}

}  // namespace

const std::vector<ToolRow>& tool_rows() {
  static const std::vector<ToolRow> kRows = [] {
    std::vector<ToolRow> rows = reading_rows();
    for (ToolRow& row : knowledge_rows()) {
      rows.push_back(std::move(row));
    }
    std::erase_if(rows, [](const ToolRow& row) { return find_use_case(row.use_case) == nullptr; });
    return rows;
  }();
  return kRows;
}

const ToolRow* find_tool_row(std::string_view name) {
  const auto found = std::ranges::find(tool_rows(), name, &ToolRow::name);
  return found == tool_rows().end() ? nullptr : &*found;
}

const UseCase& use_case_of(const ToolRow& row) {
  const UseCase* use_case = find_use_case(row.use_case);
  assert(use_case != nullptr);
  return *use_case;
}

std::vector<Parameter> parameters_of(const ToolRow& row) {
  std::vector<Parameter> parameters = use_case_of(row).parameters;
  std::erase_if(parameters,
                [&](const Parameter& parameter) { return !is_offered(row, parameter.name); });
  return parameters;
}

}  // namespace sextant::app
