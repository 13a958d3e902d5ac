#include "app/describe_commands.h"

#include <string>
#include <utility>
#include <vector>

#include "app/job_request.h"
#include "base/text.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "diagnose/rule_book.h"

namespace sextant::app {
namespace {

explain::Provenance provenance(std::vector<std::pair<std::string, std::string>> inputs = {}) {
  return {std::string(explain::tool_version()), std::move(inputs)};
}

template <typename E, std::size_t N>
std::vector<std::string> spellings(const std::array<describe::Word<E>, N>& words) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    result.emplace_back(word.second);
  }
  return result;
}

}  // namespace

Result<Answered<explain::ModelAnswer>> model(std::string_view word, const Context& context) {
  explain::ModelAnswer answer;
  SEXTANT_TRY(answer.model, describe::load_model(word, context.data));
  answer.parameters = describe::model_parameters(answer.model);
  answer.provenance = provenance({{answer.model.config_file, answer.model.config_sha256}});
  return Answered<explain::ModelAnswer>{std::move(answer)};
}

Result<Answered<explain::WordsAnswer>> list_models(const Context& context) {
  return Answered<explain::WordsAnswer>{{describe::catalogue_names(context.data)}};
}

Result<Answered<explain::ClusterAnswer>> cluster(std::string_view word, const Context& context) {
  explain::ClusterAnswer answer;
  SEXTANT_TRY(answer.cluster, describe::load_cluster(word, context.data));
  answer.provenance = provenance(describe::cluster_inputs(answer.cluster, context.data));
  return Answered<explain::ClusterAnswer>{std::move(answer)};
}

Result<Answered<explain::HardwareAnswer>> list_hardware(const Context& context) {
  explain::HardwareAnswer answer;
  for (const std::string& id : context.data.list("devices", "toml")) {
    SEXTANT_TRY(const describe::Device device, describe::load_device(id, context.data));
    answer.entries.push_back({"device", id, device.name, device.aliases});
  }
  for (const std::string& id : context.data.list("systems", "toml")) {
    SEXTANT_TRY(const describe::System system, describe::load_system(id, context.data));
    answer.entries.push_back({"system", id, system.name, system.aliases});
  }
  for (const std::string& id : context.data.list("fabrics", "toml")) {
    SEXTANT_TRY(const describe::Fabric fabric, describe::load_fabric(id, context.data));
    answer.entries.push_back({"fabric", id, fabric.name, fabric.aliases});
  }
  return Answered<explain::HardwareAnswer>{std::move(answer)};
}

Result<Answered<RuleReply>> explain_rule(std::string_view id, const Context& context) {
  SEXTANT_TRY(const diagnose::RuleBook found, diagnose::RuleBook::load(context.data));
  if (id.empty()) {
    const auto book = describe::rule_book();
    return Answered<RuleReply>{
        explain::RuleBookAnswer{{book.begin(), book.end()}, found.rules(), provenance()}};
  }
  if (const diagnose::Rule* rule = found.find(to_lower(id))) {
    return Answered<RuleReply>{explain::DiagnosisRuleAnswer{*rule, provenance()}};
  }
  if (const auto rule = describe::find_rule(id)) {
    return Answered<RuleReply>{explain::RuleAnswer{*rule, provenance()}};
  }
  SEXTANT_TRY(const explain::WordsAnswer words, complete_words("rules", context));
  return describe::unknown_word(id, words.words, "rule", {});
}

Result<explain::WordsAnswer> complete_words(std::string_view kind, const Context& context) {
  if (kind == "models") {
    return explain::WordsAnswer{describe::catalogue_names(context.data)};
  }
  for (const std::string_view folder : {"devices", "systems", "fabrics"}) {
    if (kind == folder) {
      return explain::WordsAnswer{context.data.list(folder, "toml")};
    }
  }
  if (kind == "frameworks") {
    return explain::WordsAnswer{spellings(describe::kFrameworkWords)};
  }
  std::vector<std::string> words;
  if (kind == "rules") {
    for (const describe::Rule& rule : describe::rule_book()) {
      words.emplace_back(rule.id);
    }
    SEXTANT_TRY(const diagnose::RuleBook book, diagnose::RuleBook::load(context.data));
    for (const diagnose::Rule& rule : book.rules()) {
      words.push_back(rule.id);
    }
  } else if (kind == "layout-keys") {
    for (const describe::LayoutKey& key : describe::layout_keys()) {
      words.push_back(std::string(key.name) + "=");
    }
  } else {
    return describe::unknown_word(
        kind, {"models", "devices", "systems", "fabrics", "frameworks", "rules", "layout-keys"},
        "kind of word", {});
  }
  return explain::WordsAnswer{std::move(words)};
}

}  // namespace sextant::app
