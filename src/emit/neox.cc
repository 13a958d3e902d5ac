// GPT-NeoX's keys as Megatron-DeepSpeed's flags.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "emit/other_words.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

// Theirs, and ours of the same meaning and value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kNeoxKeys{
    {{"model_parallel_size", "tensor_model_parallel_size"},
     {"num_layers", "num_layers"},
     {"hidden_size", "hidden_size"},
     {"num_attention_heads", "num_attention_heads"},
     {"num_kv_heads", "num_key_value_heads"},
     {"intermediate_size", "ffn_hidden_size"},
     {"feedforward_size", "ffn_hidden_size"},
     {"seq_length", "seq_length"},
     {"max_position_embeddings", "max_position_embeddings"},
     {"train_micro_batch_size_per_gpu", "micro_batch_size"},
     {"train_batch_size", "global_batch_size"},
     {"zero_optimization.stage", "zero_stage"},
     {"zero_stage", "zero_stage"},
     {"sequence_parallel", "sequence_parallel"},
     {"make_vocab_size_divisible_by", "make_vocab_size_divisible_by"},
     {"checkpoint_num_layers", "checkpoint_num_layers"}}};

bool is_true_switch(const Setting& setting) {
  return setting.values.size() == 1 && to_flag(setting.values.front()) == true;
}

// Switches, and words that mean one.
void add_neox_switch(const std::string& key, const Setting& setting, Settings& made) {
  const auto add = [&](std::string_view flag, std::string value) {
    made.given.push_back({std::string(flag), {std::move(value)}, setting.place});
  };
  const std::string word = setting.values.size() == 1 ? to_lower(setting.values.front()) : "";
  if (key == "pipe_parallel_size") {
    add("pipeline_model_parallel_size", word == "0" ? "1" : word);
  } else if (is_one_of(key, {"fp16.enabled", "fp16.fp16"}) && is_true_switch(setting)) {
    add("fp16", "true");
  } else if (is_one_of(key, {"bf16.enabled", "bf16.bf16"}) && is_true_switch(setting)) {
    add("bf16", "true");
  } else if (key == "precision" && is_one_of(word, {"bfloat16", "bf16", "fp16"})) {
    add(word == "fp16" ? "fp16" : "bf16", "true");
  } else if (key == "checkpoint_activations" && is_true_switch(setting)) {
    add("checkpoint_activations", "true");
  } else if (key == "no_weight_tying" && is_true_switch(setting)) {
    add("untie_embeddings_and_output_weights", "true");
  } else if (key == "norm" && word == "rmsnorm") {
    add("normalization", "RMSNorm");
  } else if (key == "pos_emb" && word == "rotary") {
    add("position_embedding_type", "rope");
  } else if (key == "activation" && word == "swiglu") {
    add("swiglu", "true");
  } else if (key == "optimizer.type" && is_one_of(word, {"adam", "sgd"})) {
    add("optimizer", word);
  }
}

}  // namespace

Settings megatron_of_neox(const Settings& settings) {
  Settings made = settings;
  made.dialect = Dialect::kMegatron;
  made.program = kNeox;
  made.given.clear();
  for (const Setting& setting : settings.given) {
    std::string key = setting.key;
    std::ranges::replace(key, '-', '_');
    const auto* const row = std::ranges::find(
        kNeoxKeys, std::string_view(key), &std::pair<std::string_view, std::string_view>::first);
    if (row != kNeoxKeys.end()) {
      made.given.push_back({std::string(row->second), setting.values, setting.place});
    } else {
      add_neox_switch(key, setting, made);
    }
  }
  made.given.push_back({"deepspeed", {"true"}, {}});
  // Its stages are cut by "type:transformer|mlp" where nothing else is said.
  const Setting* cut = find(settings.given, "pipe_partition_method");
  made.given.push_back(
      {"pp_partition_method", {"type:transformer|mlp"}, cut == nullptr ? Place{} : cut->place});
  return made;
}

}  // namespace sextant::emit
