// Recipes of NeMo in Python as Megatron-Bridge's settings. Nothing is run.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "emit/other_words.h"
#include "emit/python_recipe_module.h"
#include "emit/python_recipe_tokens.h"
#include "emit/python_recipe_values.h"

namespace sextant::emit {
namespace {

using python::Value;

struct NemoName {
  std::string_view name;  // of a keyword, or of the last part of an attribute
  std::string_view key;
};
constexpr std::array kNemoNames{
    NemoName{"tp_size", "model.tensor_model_parallel_size"},
    NemoName{"pp_size", "model.pipeline_model_parallel_size"},
    NemoName{"cp_size", "model.context_parallel_size"},
    NemoName{"vp_size", "model.virtual_pipeline_model_parallel_size"},
    NemoName{"ep_size", "model.expert_model_parallel_size"},
    NemoName{"etp_size", "model.expert_tensor_parallel_size"},
    NemoName{"mbs", "train.micro_batch_size"},
    NemoName{"gbs", "train.global_batch_size"},
    NemoName{"compute_dtype", "mixed_precision"},
    NemoName{"num_gpus_per_node", "devices_per_node"},
    NemoName{"num_nodes", "nodes"},
    NemoName{"trainer.devices", "devices_per_node"},
    NemoName{"tensor_model_parallel_size", "model.tensor_model_parallel_size"},
    NemoName{"pipeline_model_parallel_size", "model.pipeline_model_parallel_size"},
    NemoName{"virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size"},
    NemoName{"context_parallel_size", "model.context_parallel_size"},
    NemoName{"expert_model_parallel_size", "model.expert_model_parallel_size"},
    NemoName{"expert_tensor_parallel_size", "model.expert_tensor_parallel_size"},
    NemoName{"sequence_parallel", "model.sequence_parallel"},
    NemoName{"micro_batch_size", "train.micro_batch_size"},
    NemoName{"global_batch_size", "train.global_batch_size"},
    NemoName{"seq_length", "model.seq_length"}};

std::string_view nemo_key(std::string_view name) {
  const auto* const row = std::ranges::find(kNemoNames, name, &NemoName::name);
  return row == kNemoNames.end() ? std::string_view() : row->key;
}

class NemoFile {
 public:
  NemoFile(std::string_view text, std::string_view name) : text_(text), name_(name) {
    settings_.dialect = Dialect::kBridge;
    settings_.program = kNemo;
  }

  Settings read(const std::vector<python::Line>& lines) {
    std::optional<std::size_t> maybe;  // the indent of a block that may not run
    for (const python::Line& line : lines) {
      if (line.tokens.empty()) {
        continue;
      }
      maybe = maybe && line.indent > *maybe ? maybe : std::nullopt;
      const std::string_view word = line.tokens.front().text;
      if (is_one_of(word, {"if", "elif", "else", "for", "while", "try", "except", "with"})) {
        maybe = maybe ? maybe : std::optional(line.indent);
        continue;
      }
      if (word == "def") {
        names_.clear();
        continue;
      }
      statement(line.tokens, maybe.has_value());
    }
    return std::move(settings_);
  }

 private:
  void statement(python::Tokens tokens, bool maybe) {
    const std::size_t sets = python::find_outside(tokens, python::kSettingSymbols);
    const std::size_t first = sets < tokens.size() ? sets + 1 : 0;
    const bool returns = tokens.front().text == "return";
    const python::Scope scope{&names_, &none_, &budget_, text_};
    const Value value = python::value_of(tokens.subspan(returns ? 1 : first), scope);
    scan(value, maybe, 0);
    if (sets >= tokens.size()) {
      return;
    }
    const std::vector<std::string> target = python::target_of(tokens.first(sets));
    if (target.size() == 1) {
      names_[target[0]] = maybe
                              ? python::unknown(target[0], "it is set in a block that may not run",
                                                tokens.front().line)
                              : value;
    } else if (target.size() > 1) {
      const std::string_view whole = target.back();
      const std::string two = target[target.size() - 2] + '.' + target.back();
      const std::string_view key = nemo_key(two).empty() ? nemo_key(whole) : nemo_key(two);
      take(key, value, maybe);
    }
  }

  // Keywords of calls, and of calls in them.
  void scan(const Value& value, bool maybe, int depth) {
    constexpr int kDeepestCall = 8;
    if (depth > kDeepestCall) {
      return;
    }
    for (const python::Keyword& one : value.keywords) {
      take(nemo_key(one.first), one.second, maybe);
      const auto ranks =
          one.first == "tp_size" && !maybe ? to_integer(one.second.text) : std::nullopt;
      if (ranks) {  // set_primary_perf_configs switches it with tensor parallelism
        const Place place{std::string(name_), one.second.line, 0, 0};
        settings_.given.push_back(
            {"model.sequence_parallel", {*ranks > 1 ? "true" : "false"}, place});
      }
      scan(one.second, maybe, depth + 1);
    }
    for (const Value& item : value.items) {
      scan(item, maybe, depth + 1);
    }
  }

  void take(std::string_view key, const Value& value, bool maybe) {
    if (key.empty() || value.kind == Value::Kind::kNone) {
      return;
    }
    const Place place{std::string(name_), value.line, value.offset, value.length};
    const bool plain = value.kind == Value::Kind::kNumber || value.kind == Value::Kind::kText ||
                       value.kind == Value::Kind::kBool;
    const bool launch = is_one_of(key, {"nodes", "devices_per_node"});
    std::string text = key == "mixed_precision" && value.text == "bf16" ? "bf16_mixed" : value.text;
    const bool format = key == "mixed_precision" && text != "bf16_mixed";
    if (maybe || !plain || format) {
      settings_.unresolved.push_back({std::string(key) + " = " + printable(value.text, 60),
                                      maybe    ? "it stands in a block that may not run"
                                      : format ? "which recipe of that format is meant is not known"
                                               : "it is known only when the recipe runs",
                                      place, launch ? std::string() : std::string(key)});
      return;
    }
    (launch ? settings_.launch : settings_.given)
        .push_back({std::string(key), {std::move(text)}, place});
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t budget_ = 10'000;
  python::Names names_;
  python::Names none_;
  Settings settings_;
};

}  // namespace

Result<Settings> parse_nemo_recipe(std::string_view text, std::string_view name) {
  SEXTANT_TRY(const std::vector<python::Line> lines, python::lines_of(text, name));
  Settings settings = NemoFile(text, name).read(lines);
  const bool layout = std::ranges::any_of(settings.given, [](const Setting& one) {
    return one.key.find("parallel") != std::string::npos ||
           one.key.find("batch") != std::string::npos;
  });
  if (!layout) {
    return invalid("nothing of a layout is in this recipe of NeMo", std::string(name),
                   "tp_size=, ….tensor_model_parallel_size = and their like");
  }
  const Setting* nodes = find(settings.launch, "nodes");
  const Setting* each = find(settings.launch, "devices_per_node");
  if (nodes != nullptr && each != nullptr) {
    const auto count = to_integer(nodes->values.front());
    const auto a_node = to_integer(each->values.front());
    constexpr std::int64_t kMostNodes = 1'000'000;
    if (count && a_node && *count > 0 && *a_node > 0 && *count <= kMostNodes &&
        *a_node <= kMostNodes) {
      settings.launch.push_back({"devices", {std::to_string(*count * *a_node)}, nodes->place});
    }
  }
  settings.unresolved.push_back({"the recipe it starts from",
                                 "what NeMo's own recipe sets is not known here",
                                 {std::string(name), 0, 0, 0},
                                 {},
                                 true});
  return settings;
}

}  // namespace sextant::emit
