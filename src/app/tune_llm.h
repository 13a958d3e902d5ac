// A language model beside the built-in reasoner, of the parameters that name it: whom to ask and
// for how much, what would be sent, and what it adds to an answer.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/report.h"
#include "agents/tools.h"
#include "app/context.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/tune_view.h"
#include "kb/search.h"
#include "llm/budget.h"
#include "llm/endpoint.h"

namespace sextant::app {

// Words; "" where not given.
struct LlmWords {
  std::string url = {};
  std::string model = {};
  std::string protocol = {};
  std::string budget = {};
  std::string price = {};
  std::string root = {};
  std::string embeddings = {};
  std::vector<std::string> questions = {};
  bool is_dry_run = false;
  bool masks = false;
  bool is_interactive = false;
};
std::vector<Parameter> llm_parameters();
LlmWords llm_words(const Values& values);

struct LlmChoice {
  llm::Endpoint endpoint;
  llm::Budget budget;
};
// Nothing: no model is asked for. An Error where words about one make no sense, or its key would be
// sent in the clear.
Result<std::optional<LlmChoice>> llm_choice(const LlmWords& words, const Context& context,
                                            const Control& control);

// What a model's session needs of the use case's.
struct LlmScene {
  agents::Tools tools;
  std::function<agents::Judged(const verify::Proposal&)> judge;
  std::vector<std::string> names = {};      // that ‹mask› hides
  std::shared_ptr<kb::Index> index = {};    // of the knowledge base; null: none
  std::filesystem::path kept_vectors = {};  // where ‹llm-embeddings› keeps them; empty: nowhere
  // Files and folders that the user named: what the model's commands may read.
  std::vector<std::filesystem::path> files = {};
};
// The answer with what the model adds; with ‹dry-run-llm› with what would be sent to it. Where it
// fails the answer says so and is what it was.
Result<explain::TuneAnswer> with_model(explain::TuneAnswer answer, const LlmScene& scene,
                                       const LlmWords& words, const LlmChoice& choice,
                                       const Context& context, const Control& control);

}  // namespace sextant::app
