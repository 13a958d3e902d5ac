#include "app/tune_llm.h"

#include <utility>

#include <fmt/format.h>

#include "agents/llm_masks.h"
#include "agents/llm_prompt.h"
#include "agents/llm_reasoner.h"
#include "app/llm_commands.h"
#include "app/llm_retrieval.h"
#include "base/read_fence.h"
#include "base/text.h"
#include "http/authorities.h"
#include "http/proxy.h"
#include "kb/secrets.h"

namespace sextant::app {
namespace {

constexpr std::string_view kUsualBudget = "300k";
constexpr std::size_t kLongestModelName = 200;

// Words that mean nothing without a model.
Result<void> check_llm_words(const LlmWords& words) {
  const std::pair<bool, const char*> given[]{{!words.model.empty(), "‹llm-model›"},
                                             {!words.protocol.empty(), "‹llm-protocol›"},
                                             {!words.budget.empty(), "‹llm-budget›"},
                                             {!words.price.empty(), "‹llm-price›"},
                                             {!words.root.empty(), "‹llm-root›"},
                                             {!words.embeddings.empty(), "‹llm-embeddings›"},
                                             {!words.questions.empty(), "‹ask›"},
                                             {words.is_dry_run, "‹dry-run-llm›"},
                                             {words.masks, "‹mask›"},
                                             {words.is_interactive, "‹interactive›"}};
  for (const auto& [is_given, name] : given) {
    if (is_given && words.url.empty()) {
      return invalid("it is about a language model, and none is named", name, "with ‹llm URL›");
    }
  }
  return {};
}

Result<void> check_root(const std::string& root) {
  std::error_code error;
  if (!root.empty() && !std::filesystem::is_directory(root, error)) {
    return not_found("is not a folder", root, "‹llm-root FOLDER›: files below it may be read");
  }
  return {};
}

// What the model's commands may read: what the user named, ‹llm-root›, and the data of ‹data›.
std::vector<std::filesystem::path> readable_of(const LlmScene& scene, const LlmWords& words,
                                               const Context& context) {
  std::vector<std::filesystem::path> readable = scene.files;
  if (!words.root.empty()) {
    readable.emplace_back(words.root);
  }
  if (const std::string& data = context.settings.at("data").value; !data.empty()) {
    readable.emplace_back(data);
  }
  return readable;
}

Result<void> check_model_name(const std::string& name, const char* parameter) {
  if (name.empty() || name.size() > kLongestModelName || first_invalid_utf8(name)) {
    return invalid(name.empty() ? "the model is not named" : "that is no model's name", parameter,
                   "as its server calls it (servers of one model take any name)");
  }
  return {};
}

Result<http::ClientOptions> client_options(const http::Url& base, const Context& context,
                                           const Control& control) {
  http::ClientOptions client{.stop = control.stop};
  SEXTANT_TRY(client.proxy, http::proxy_for(base, context.network.proxies));
  if (base.is_secure) {
    SEXTANT_TRY(client.authorities,
                http::authorities_file(context.network.certificates, http::usual_authorities()));
  }
  return client;
}

std::string model_place(const LlmChoice& choice) {
  return fmt::format("{} at {}", choice.endpoint.model, http::to_text(choice.endpoint.base));
}

agents::LlmMind mind_of(const LlmScene& scene, const LlmWords& words, const LlmChoice& choice,
                        const agents::LlmPrompt& prompt, llm::Spending& spending,
                        const Control& control) {
  agents::LlmMind mind;
  mind.prompt = &prompt;
  mind.model = choice.endpoint.model;
  mind.ask = [&choice, &spending, &control](const llm::Conversation& talk) {
    if (control.progress) {
      control.progress(fmt::format("asking {}: {}", choice.endpoint.model, spending.to_text()));
    }
    return llm::reply_from(choice.endpoint, talk, spending, llm::waiting_for_stop(control.stop));
  };
  mind.judge = scene.judge;
  if (words.masks) {
    mind.masks = agents::Masks(scene.names);
  }
  return mind;
}

// Null: the knowledge base is searched by words alone, or there is none.
std::unique_ptr<LlmRetrieval> retrieval_of(const LlmScene& scene, const LlmWords& words,
                                           const LlmChoice& choice, llm::Spending& spending,
                                           const Control& control) {
  if (words.embeddings.empty() || scene.index == nullptr) {
    return nullptr;
  }
  return std::make_unique<LlmRetrieval>(
      scene.index,
      LlmRetrieval::Asking{.endpoint = choice.endpoint,
                           .model = words.embeddings,
                           .spending = &spending,
                           .wait = llm::waiting_for_stop(control.stop),
                           .masks = words.masks ? agents::Masks(scene.names) : agents::Masks(),
                           .kept = scene.kept_vectors});
}

// A question after the report, and what is said to it; the Error is the answer where it fails.
explain::ModelQuestion asked_of_model(agents::LlmReasoner& reasoner, const std::string& question) {
  explain::ModelQuestion asked{.question = question};
  auto answer = reasoner.answered(question);
  if (answer) {
    asked.said = answer->summary;
    asked.added = std::move(answer->added);
  } else {
    asked.said = "no answer: " + to_text(answer.error());
  }
  return asked;
}

void ask_on(agents::LlmReasoner& reasoner, const LlmWords& words, const Control& control,
            explain::TuneAnswer& answer) {
  if (!answer.model) {
    return;
  }
  explain::ModelPart& part = *answer.model;
  for (const std::string& question : words.questions) {
    part.questions.push_back(asked_of_model(reasoner, question));
  }
  if (!words.is_interactive || !control.next_question) {
    return;
  }
  Answered<explain::TuneAnswer> shown{.answer = answer};
  while (const auto question = control.next_question(reply_of(shown))) {
    part.questions.push_back(asked_of_model(reasoner, *question));
    shown.answer = answer;
    shown.answer.only_last_question = true;
  }
}

}  // namespace

std::vector<Parameter> llm_parameters() {
  using enum ParameterKind;
  return {{.name = "llm",
           .value = "URL",
           .help = "a language model that reasons beside: the address of its server. Its key is "
                   "read from SEXTANT_LLM_KEY, of its makers from OPENAI_API_KEY or "
                   "ANTHROPIC_API_KEY",
           .otherwise = "none: nothing leaves this machine",
           .example = "http://127.0.0.1:8080"},
          {.name = "llm-model",
           .value = "NAME",
           .help = "which, as the server calls it",
           .example = "qwen3-32b"},
          {.name = "llm-protocol",
           .kind = kWord,
           .value = "WORD",
           .help = "what the server speaks",
           .otherwise = "its makers' own, else chat",
           .words = {"chat", "responses", "messages"},
           .example = "chat"},
          {.name = "llm-budget",
           .value = "BUDGET",
           .help = "tokens of all its requests (200k), dollars (0.50USD), or both with a comma",
           .fallback = kUsualBudget,
           .example = "200k"},
          {.name = "llm-price",
           .value = "IN/OUT",
           .help = "dollars for a million tokens in and out",
           .example = "3/15"},
          {.name = "llm-embeddings",
           .value = "NAME",
           .help = "its server's model of embeddings: the knowledge base is searched by meaning "
                   "too",
           .otherwise = "by words alone",
           .example = "nomic-embed-text"},
          {.name = "llm-root",
           .value = "FOLDER",
           .help = "its commands may read files below it",
           .otherwise = "the files that you name, no others",
           .example = "runs"},
          {.name = "ask",
           .value = "QUESTION",
           .help = "asks it, after its proposals",
           .example = "why not tp=2?",
           .many = true},
          {.name = "interactive",
           .kind = kFlag,
           .help = "takes questions to it, a line each, until an empty one"},
          {.name = "dry-run-llm",
           .kind = kFlag,
           .help = "shows the first request it would be sent, and sends nothing"},
          {.name = "mask",
           .kind = kFlag,
           .help = "sends it words in the place of names and paths, and puts them back"}};
}

LlmWords llm_words(const Values& values) {
  return {.url = values.one("llm"),
          .model = values.one("llm-model"),
          .protocol = values.one("llm-protocol"),
          .budget = values.one("llm-budget"),
          .price = values.one("llm-price"),
          .root = values.one("llm-root"),
          .embeddings = values.one("llm-embeddings"),
          .questions = values.all("ask"),
          .is_dry_run = values.has("dry-run-llm"),
          .masks = values.has("mask"),
          .is_interactive = values.has("interactive")};
}

Result<std::optional<LlmChoice>> llm_choice(const LlmWords& words, const Context& context,
                                            const Control& control) {
  SEXTANT_CHECK_OK(check_llm_words(words));
  if (words.url.empty()) {
    return std::nullopt;
  }
  LlmChoice choice;
  llm::Endpoint& endpoint = choice.endpoint;
  SEXTANT_TRY(endpoint.base, http::parse_url(words.url, "‹llm›"));
  if (!endpoint.base.login.empty()) {
    return invalid("a login in an address is seen by everybody who sees the command", "‹llm›",
                   "a key in SEXTANT_LLM_KEY");
  }
  if (kb::has_secret(endpoint.base.query)) {
    return invalid("a key in an address is seen by everybody who sees the command", "‹llm›",
                   "a key in SEXTANT_LLM_KEY");
  }
  SEXTANT_CHECK_OK(check_model_name(words.model, "‹llm-model›"));
  if (!words.embeddings.empty()) {
    SEXTANT_CHECK_OK(check_model_name(words.embeddings, "‹llm-embeddings›"));
  }
  SEXTANT_CHECK_OK(check_root(words.root));
  endpoint.model = words.model;
  endpoint.protocol = llm::usual_protocol(endpoint.base.host);
  if (!words.protocol.empty()) {
    SEXTANT_TRY(endpoint.protocol, llm::parse_protocol(words.protocol, "‹llm-protocol›"));
  }
  SEXTANT_TRY(
      choice.budget,
      llm::parse_budget({.budget = words.budget.empty() ? std::string(kUsualBudget) : words.budget,
                         .price = words.price,
                         .budget_name = "‹llm-budget›",
                         .price_name = "‹llm-price›"}));
  SEXTANT_TRY(endpoint.key, llm::key_for(endpoint.base, context.network.keys));
  if (!words.is_dry_run) {
    SEXTANT_TRY(endpoint.client, client_options(endpoint.base, context, control));
  }
  return choice;
}

Result<explain::TuneAnswer> with_model(explain::TuneAnswer answer, const LlmScene& scene,
                                       const LlmWords& words, const LlmChoice& choice,
                                       const Context& context, const Control& control) {
  SEXTANT_TRY(const agents::LlmPrompt prompt, agents::load_llm_prompt(context.data));
  llm::Spending spending(choice.budget);
  const agents::Report report = answer.report;
  agents::Tools tools = scene.tools;
  const auto retrieval = retrieval_of(scene, words, choice, spending, control);
  if (retrieval) {
    tools.search = [&retrieval](const kb::Question& question) {
      return retrieval->search(question);
    };
  }
  agents::LlmMind mind = mind_of(scene, words, choice, prompt, spending, control);
  mind.commands = llm_commands(context, control, "model " + choice.endpoint.model,
                               static_cast<bool>(scene.tools.search));
  agents::LlmReasoner reasoner(std::move(mind), tools, report);
  if (words.is_dry_run) {
    answer.would_send = llm::shown_request(choice.endpoint, reasoner.opening()) +
                        (retrieval ? retrieval->would_send() : "");
    return answer;
  }
  const ReadFence fence(readable_of(scene, words, context));
  agents::LlmOutcome outcome = reasoner.reasoned();
  if (outcome.fallback) {
    answer.fallback =
        fmt::format("model {}: {}", choice.endpoint.model, kb::redacted(*outcome.fallback));
    return answer;
  }
  answer.engine = "model " + model_place(choice);
  answer.model = explain::ModelPart{.added = std::move(outcome.added),
                                    .agreed = outcome.agreed,
                                    .summary = std::move(outcome.summary),
                                    .cut_short = std::move(outcome.cut_short)};
  ask_on(reasoner, words, control, answer);
  answer.model->retrieval = retrieval ? kb::redacted(retrieval->told()) : "";
  answer.model->cost = spending.to_text();
  return answer;
}

}  // namespace sextant::app
