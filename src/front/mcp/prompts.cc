// Two ways to begin: with a run that was recorded, with a job that is to run.
#include <array>

#include <fmt/format.h>

#include "app/describe_commands.h"
#include "base/text.h"
#include "front/mcp/sextant_offer.h"

namespace sextant::front::mcp {
namespace {

struct PromptArgument {
  std::string_view name;
  std::string_view description;
  bool required = false;
  std::string_view complete = {};  // kind of words (app::complete_words)
};

struct PromptRow {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::vector<PromptArgument> arguments;
  std::string_view before;  // what the arguments follow
  std::string_view after;
};

constexpr std::string_view kHowToAdvise =
    "Before you advise a change, have it judged by verify_proposal, with what you expect of it as "
    "claims and what you rest on as citations; leave out what it rejects, and say what it corrects "
    "or cannot tell. Give each figure as the tools gave it, with its interval; where they abstain, "
    "say so and say what would have to be measured.";

const std::vector<PromptRow>& prompt_rows() {
  static const std::vector<PromptRow> kRows{
      {.name = "analyse_run",
       .title = "Analyse this run",
       .description = "What is slow in a recorded training run, why, and what to change first",
       .arguments = {{"trace", "profile, folder or pattern of profiles", true},
                     {"model", "what was trained, where it is known", false, "models"},
                     {"on", "where it ran: 64xh100-sxm", false, "devices"},
                     {"layout", "how it ran: tp=8,pp=4,mbs=1", false, "layout-keys"},
                     {"files", "launch script, configuration or log of the run"}},
       .before = "Find out what holds this training run up, and what to change first.\n",
       .after = "First check its files where there are any, then diagnose the trace. Follow the "
                "findings of most worth into their evidence (detail), compare with what the models "
                "predict where the job is known, and search the knowledge base (kb_search) for "
                "what helped jobs like it."},
      {.name = "plan_job",
       .title = "Plan this job",
       .description = "The fastest layout for training a model on a cluster, and the files to run "
                      "it",
       .arguments = {{"model", "catalogue name or config.json", true, "models"},
                     {"on", "the cluster: 64xh100-sxm", true, "devices"},
                     {"gbs", "global batch in sequences"},
                     {"seq", "tokens a sequence"},
                     {"framework", "who runs it", false, "frameworks"},
                     {"wishes", "what must hold: keys to keep, memory to leave, a deadline"}},
       .before = "Plan this training job: the layout to run, why it and not another, and how sure "
                 "that is.\n",
       .after =
           "Look at the model and the cluster, then plan. Compare the first plans by their "
           "terms, explain what decides between them, and give the files of the best (emit)."}};
  return kRows;
}

Handled prompt_of(const PromptRow& row, const Call& call) {
  const Json& given = object_of(call.params, "arguments");
  std::string text(row.before);
  for (const PromptArgument& argument : row.arguments) {
    const std::string value = text_of(given, argument.name);
    if (value.empty() && argument.required) {
      return tl::unexpected(
          Failure{.message = fmt::format("the prompt's argument {} is missing", argument.name)});
    }
    if (!value.empty()) {
      // A value is data: on one line of its own, whatever it says.
      text += fmt::format("- {}: {}\n", argument.name, printable(value, 1'000));
    }
  }
  text += fmt::format("{}\n{}", row.after, kHowToAdvise);
  const Json message{{"role", "user"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}};
  return Json{{"description", row.description}, {"messages", Json::array({message})}};
}

Json listed_prompt(const PromptRow& row) {
  Json arguments = Json::array();
  for (const PromptArgument& argument : row.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"description", argument.description},
                         {"required", argument.required}});
  }
  return {{"name", row.name},
          {"title", row.title},
          {"description", row.description},
          {"arguments", std::move(arguments)}};
}

// The kind of words that complete an argument, of a prompt or of a resource's name.
std::string_view completing_words(const Json& reference, std::string_view argument) {
  const std::string prompt = text_of(reference, "name");
  for (const PromptRow& row : prompt_rows()) {
    for (const PromptArgument& one : row.arguments) {
      if (row.name == prompt && one.name == argument) {
        return one.complete;
      }
    }
  }
  const std::string uri = text_of(reference, "uri");
  return uri.starts_with("sextant://models/")     ? "models"
         : uri.starts_with("sextant://hardware/") ? "devices"
         : uri.starts_with("sextant://rules/")    ? "rules"
                                                  : "";
}

// The words of this kind that begin so, in whatever case; none where they cannot be had.
std::vector<std::string> words_begun(std::string_view kind, const std::string& begun,
                                     const Desk& desk) {
  std::vector<std::string> fitting;
  if (kind.empty()) {
    return fitting;
  }
  const auto words = app::complete_words(kind, desk.context);
  if (!words) {
    return fitting;
  }
  for (const std::string& word : words->words) {
    if (to_lower(word).starts_with(begun)) {
      fitting.push_back(word);
    }
  }
  return fitting;
}

}  // namespace

std::vector<Named> sextant_prompts() {
  std::vector<Named> prompts;
  for (const PromptRow& row : prompt_rows()) {
    prompts.push_back(
        {listed_prompt(row), [&row](const Call& call) { return prompt_of(row, call); }});
  }
  return prompts;
}

Handled completed_word(const Call& call, const Desk& desk) {
  constexpr std::size_t kMostWords = 100;
  const Json& argument = object_of(call.params, "argument");
  const std::string begun = to_lower(text_of(argument, "value"));
  const std::string_view kind =
      completing_words(object_of(call.params, "ref"), text_of(argument, "name"));
  std::vector<std::string> fitting = words_begun(kind, begun, desk);
  const std::size_t all = fitting.size();
  fitting.resize(std::min(all, kMostWords));
  return Json{
      {"completion", {{"values", fitting}, {"total", all}, {"hasMore", all > fitting.size()}}}};
}

}  // namespace sextant::front::mcp
