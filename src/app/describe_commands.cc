#include "app/describe_commands.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/job_request.h"
#include "base/text.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "explain/cluster_view.h"
#include "explain/model_view.h"
#include "explain/rule_view.h"
#include "explain/text_table.h"

namespace sextant::app {
namespace {

explain::Provenance provenance(std::vector<std::pair<std::string, std::string>> inputs = {}) {
  return {std::string(explain::tool_version()), std::move(inputs)};
}

Output lines(const std::vector<std::string>& words) {
  Output output;
  for (const std::string& word : words) {
    output.text += word + "\n";
  }
  return output;
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

Result<Output> show_model(std::string_view word, const Context& context) {
  explain::ModelAnswer answer;
  SEXTANT_TRY(answer.model, describe::load_model(word, context.data));
  answer.parameters = describe::model_parameters(answer.model);
  answer.provenance = provenance({{answer.model.config_file, answer.model.config_sha256}});
  return Output{explain::to_text(answer, context.style), {}, kExitFine};
}

Result<Output> list_models(const Context& context) {
  return lines(describe::catalogue_names(context.data));
}

Result<Output> show_cluster(std::string_view word, const Context& context) {
  explain::ClusterAnswer answer;
  SEXTANT_TRY(answer.cluster, describe::load_cluster(word, context.data));
  answer.provenance = provenance(describe::cluster_inputs(answer.cluster, context.data));
  return Output{explain::to_text(answer, context.style), {}, kExitFine};
}

Result<Output> list_hardware(const Context& context) {
  explain::Table table{{{"kind"}, {"id"}, {"name"}, {"also called"}}, {}};
  for (const std::string& id : context.data.list("devices", "toml")) {
    SEXTANT_TRY(const describe::Device device, describe::load_device(id, context.data));
    table.rows.push_back({"device", id, device.name, join(device.aliases, ", ")});
  }
  for (const std::string& id : context.data.list("systems", "toml")) {
    SEXTANT_TRY(const describe::System system, describe::load_system(id, context.data));
    table.rows.push_back({"system", id, system.name, join(system.aliases, ", ")});
  }
  for (const std::string& id : context.data.list("fabrics", "toml")) {
    SEXTANT_TRY(const describe::Fabric fabric, describe::load_fabric(id, context.data));
    table.rows.push_back({"fabric", id, fabric.name, join(fabric.aliases, ", ")});
  }
  return Output{explain::to_text(table, context.style), {}, kExitFine};
}

Result<Output> explain_rule(std::string_view id, const Context& context) {
  if (id.empty()) {
    return Output{explain::to_text(describe::rule_book(), provenance(), context.style), {}, 0};
  }
  SEXTANT_TRY(const describe::Rule rule, describe::find_rule(id));
  return Output{explain::to_text(rule, provenance(), context.style), {}, kExitFine};
}

Result<Output> complete_words(std::string_view kind, const Context& context) {
  if (kind == "models") {
    return list_models(context);
  }
  for (const std::string_view folder : {"devices", "systems", "fabrics"}) {
    if (kind == folder) {
      return lines(context.data.list(folder, "toml"));
    }
  }
  if (kind == "frameworks") {
    return lines(spellings(describe::kFrameworkWords));
  }
  std::vector<std::string> words;
  if (kind == "rules") {
    for (const describe::Rule& rule : describe::rule_book()) {
      words.emplace_back(rule.id);
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
  return lines(words);
}

}  // namespace sextant::app
