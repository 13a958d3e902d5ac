#include "road_words.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "describe/layout/layout_words.h"
#include "describe/model/load_model.h"
#include "emit/files.h"
#include "emit/launch.h"

namespace sextant::tests {
namespace {

using describe::Attention;
using describe::DenseFfn;
using describe::Framework;
using describe::LatentAttention;
using describe::Model;
using describe::MoeFfn;
using nlohmann::json;

// The parts of a model's blocks; a part that no block has is null.
struct Parts {
  const Attention* attention = nullptr;
  const LatentAttention* latent = nullptr;
  const DenseFfn* dense = nullptr;
  const MoeFfn* moe = nullptr;
  std::int64_t window = 0;
};

Parts parts_of(const Model& model) {
  Parts parts;
  for (const describe::Block& block : model.blocks) {
    if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
      parts.attention = attention;
      parts.window = std::max(parts.window, attention->window);
    }
    const auto* latent = std::get_if<LatentAttention>(&block.mixer);
    parts.latent = latent != nullptr ? latent : parts.latent;
    const auto* dense = std::get_if<DenseFfn>(&block.ffn);
    parts.dense = dense != nullptr ? dense : parts.dense;
    const auto* moe = std::get_if<MoeFfn>(&block.ffn);
    parts.moe = moe != nullptr ? moe : parts.moe;
  }
  return parts;
}

// A family of Hugging Face's that is built like the model.
std::string family_of(const Model& model, const Parts& parts) {
  if (parts.latent != nullptr) {
    return "deepseek_v3";
  }
  if (parts.attention != nullptr && parts.attention->sinks) {
    return "gpt_oss";
  }
  if (model.learned_positions > 0) {
    return "megatron_gpt";
  }
  if (parts.attention != nullptr && parts.attention->qk_norm != describe::QkNorm::kNone) {
    return parts.moe != nullptr ? "qwen3_moe" : "qwen3";
  }
  if (parts.moe != nullptr) {
    return "mixtral";
  }
  if (parts.dense != nullptr && !parts.dense->gated) {
    return "arcee";
  }
  return "mistral";
}

void add_attention(const Model& model, const Parts& parts, json& config) {
  if (const Attention* attention = parts.attention) {
    config["num_attention_heads"] = attention->heads;
    config["num_key_value_heads"] = attention->kv_heads;
    config["head_dim"] = attention->head_dim;
    config["attention_bias"] = attention->output_bias;
  }
  if (const LatentAttention* latent = parts.latent) {
    config["num_attention_heads"] = latent->heads;
    config["q_lora_rank"] = latent->q_lora_rank;
    config["kv_lora_rank"] = latent->kv_lora_rank;
    config["qk_nope_head_dim"] = latent->qk_nope_head_dim;
    config["qk_rope_head_dim"] = latent->qk_rope_head_dim;
    config["v_head_dim"] = latent->v_head_dim;
    config["attention_bias"] = false;
  }
  config["sliding_window"] = nullptr;
  config["use_sliding_window"] = false;
  if (parts.window == 0) {
    return;
  }
  config["sliding_window"] = parts.window;
  config["use_sliding_window"] = true;
  for (const int layer : model.layers) {
    const auto* attention =
        std::get_if<Attention>(&model.blocks[static_cast<std::size_t>(layer)].mixer);
    const bool local = attention != nullptr && attention->window > 0;
    config["layer_types"].push_back(local ? "sliding_attention" : "full_attention");
  }
}

void add_experts(const Model& model, const Parts& parts, json& config) {
  if (const DenseFfn* dense = parts.dense) {
    config["intermediate_size"] = dense->width;
    config["mlp_bias"] = dense->bias;
  }
  const MoeFfn* moe = parts.moe;
  if (moe == nullptr) {
    return;
  }
  config[parts.dense != nullptr ? "moe_intermediate_size" : "intermediate_size"] = moe->width;
  config["moe_intermediate_size"] = moe->width;
  config["num_experts"] = moe->experts;
  config["num_experts_per_tok"] = moe->topk;
  config["n_shared_experts"] = moe->shared_width / moe->width;
  config["n_group"] = moe->groups > 0 ? json(moe->groups) : json(nullptr);
  config["topk_group"] = moe->topk_groups > 0 ? json(moe->topk_groups) : json(nullptr);
  std::vector<std::int64_t> dense_layers;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const auto& ffn = model.blocks[static_cast<std::size_t>(model.layers[layer])].ffn;
    if (std::holds_alternative<DenseFfn>(ffn)) {
      dense_layers.push_back(static_cast<std::int64_t>(layer));
    }
  }
  config["first_k_dense_replace"] = dense_layers.size();
  config["moe_layer_freq"] = 1;
  config["mlp_only_layers"] = dense_layers;
  config["decoder_sparse_step"] = 1;
}

json config_of(const Model& model) {
  const Parts parts = parts_of(model);
  json config;
  config["model_type"] = family_of(model, parts);
  config["sextant_name"] = model.name;
  config["hidden_size"] = model.hidden;
  config["num_hidden_layers"] = model.layer_count();
  config["vocab_size"] = model.vocab;
  config["max_position_embeddings"] = nullptr;
  if (model.learned_positions > 0) {
    config["max_position_embeddings"] = model.learned_positions;
  }
  config["tie_word_embeddings"] = model.tied_head;
  config["num_nextn_predict_layers"] = model.mtp_layers;
  add_attention(model, parts, config);
  add_experts(model, parts, config);
  return config;
}

// Names and sources apart; a block that is repeated by nobody; how long sequences may get.
Model plain(Model model) {
  model.name = model.family = model.source = model.config_file = model.config_sha256 = "";
  model.assumed.clear();
  model.max_positions = 0;
  model.mtp_block = model.mtp_layers > 0 ? model.mtp_block : 0;
  return model;
}

// "key = { value = …, kind = …, source = … }", as data files and clusters state numbers.
std::string stated(std::string_view key, const std::string& value) {
  return fmt::format("{} = {{ value = \"{}\", kind = \"measured\", source = \"a test\" }}\n", key,
                     value);
}

// One step as the framework's log has it.
std::string step_line(const describe::Job& job, int step, double seconds) {
  const double sequences = as_double(job.global_batch);
  const double rate =
      sequences * as_double(job.sequences.length) / as_double(job.cluster.devices) / seconds;
  if (job.framework == Framework::kTorchtitan) {
    return fmt::format(
        "[titan] 2026-03-01 09:00:{:02},123 - root - INFO - step: {:2}  loss:  7.1  "
        "memory: 51.20GiB(64.7%)  tps: {:.6f}  tflops: 413.20  mfu: 41.80%\n",
        step, step, rate);
  }
  if (job.framework == Framework::kMaxtext) {
    return fmt::format(
        "completed step: {}, seconds: {:.9f}, TFLOP/s/device: 301.2, "
        "Tokens/s/device: {:.6f}, loss: 11.2\n",
        step, seconds, rate);
  }
  if (job.framework == Framework::kDeepspeed) {
    return fmt::format("steps: {} loss: 5.9 iter time (s): {:.9f} samples/sec: {:.6f}\n", step,
                       seconds, sequences / seconds);
  }
  return fmt::format(
      " [2026-03-02 10:01:{:02}.123456] iteration {:8}/     100 | elapsed time per "
      "iteration (ms): {:.6f} | global batch size: {:5} | lm loss: 8.9E+00 |\n",
      step, step, 1e3 * seconds, job.global_batch);
}

}  // namespace

std::optional<std::string> model_word(const Model& model, const ScratchFolder& folder,
                                      const describe::DataStore& data) {
  if (!model.config_file.empty()) {
    return std::filesystem::path(model.config_file).stem().string();
  }
  std::string path = folder.write("config.json", config_of(model).dump());
  const auto read = describe::load_model(path, data);
  return read && plain(*read) == plain(model) ? std::optional(std::move(path)) : std::nullopt;
}

std::string cluster_word(const describe::Cluster& cluster, const ScratchFolder& folder) {
  const describe::System& system = cluster.system;
  std::string text = fmt::format("name = \"{}\"\ndevices = {}\ndevice = \"{}\"\nsystem = \"{}\"\n",
                                 cluster.name, cluster.devices, cluster.device.id, system.id);
  text += fmt::format("fabric = \"{}\"\nslices = {}\n", cluster.fabric.id, cluster.slices);
  const auto& torus = cluster.torus;
  if (torus[0] * torus[1] * torus[2] * cluster.slices == cluster.devices) {
    text += fmt::format("torus = \"{}x{}x{}\"\n", torus[0], torus[1], torus[2]);
  }
  const auto count = [](const describe::Sourced<std::int64_t>& number) {
    return fmt::format("{} count", number.value);
  };
  text += stated("devices_per_node", count(system.devices_per_node));
  text += stated("domain_size", count(system.domain_size));
  if (system.nics_per_node) {
    text += stated("nics_per_node", count(*system.nics_per_node));
  }
  if (system.nic_rate) {
    text += stated("nic_rate", fmt::format("{} Gbit/s", system.nic_rate->value / 1_Gbitps));
  }
  return folder.write("cluster.toml", text);
}

std::string layout_word(const describe::Job& job) {
  std::string text = describe::layout_words(job.layout, job.framework, job.cluster.device);
  if (job.states("attention") && text.find("attention=") == std::string::npos) {
    text += fmt::format("{}attention={}", text.empty() ? "" : ",",
                        describe::value_of(job.layout, "attention"));
  }
  return text;
}

std::string workload_word(const describe::Job& job) {
  if (job.workload == describe::Workload::kPretrain) {
    return {};
  }
  std::string text(describe::word_of<describe::Workload>(describe::kWorkloadWords, job.workload));
  if (!job.lora) {
    return text;
  }
  std::string modules;
  for (const describe::LoraModule module : job.lora->modules) {
    modules +=
        fmt::format("{}{}", modules.empty() ? "" : "+",
                    describe::word_of<describe::LoraModule>(describe::kLoraModuleWords, module));
  }
  return fmt::format("{}:{}:{}", text, job.lora->rank, modules);
}

std::optional<emit::Writing> own_writing(const describe::Job& job) {
  using emit::Dialect;
  std::optional<emit::Writing> best;
  for (const Dialect dialect :
       {Dialect::kMegatron, Dialect::kBridge, Dialect::kTorchtitan, Dialect::kTorchtitanToml,
        Dialect::kDeepspeed, Dialect::kMaxtext, Dialect::kAccelerate, Dialect::kNanotron}) {
    if (emit::framework_of(dialect) != job.framework) {
      continue;
    }
    emit::Writing writing = emit::write(dialect, job);
    if (!best || writing.left_out.size() < best->left_out.size()) {
      best = std::move(writing);
    }
  }
  return best;
}

std::vector<std::string> own_files(const emit::Writing& writing, const describe::Job& job,
                                   const ScratchFolder& folder) {
  std::vector<emit::File> files = emit::render(writing.settings, {});
  files.push_back(emit::launch_script(writing, job, emit::Launcher::kTorchrun, {}));
  std::vector<std::string> paths;
  for (const emit::File& file : files) {
    paths.push_back(folder.write(file.name, file.text));
  }
  return paths;
}

std::string own_log(const describe::Job& job, double seconds, const ScratchFolder& folder) {
  std::string text;
  for (int step = 1; step <= 10; ++step) {
    text += step_line(job, step, seconds);
  }
  return folder.write("train.log", text);
}

}  // namespace sextant::tests
