// What a Hugging Face configuration does not say because the architecture's code does: whether the
// feed-forward part is gated, which norms there are, which projections carry biases, which layers
// are local or routed. One row a model_type in data/hf/families.json; class defaults beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/json_value.h"
#include "describe/model/model.h"

namespace sextant::describe {

// Always, never, or as a field of the configuration says.
struct HfSwitch {
  bool always = false;
  std::string field;
};

enum class HfMixer { kAttention, kLatent };

// How the layers follow each other.
enum class HfLayers {
  kSame,            // attention and feed-forward in each
  kDeltaNet,        // every full_attention_interval-th is attention, the others Gated DeltaNet
  kBlocks,          // one part a layer, by hybrid_override_pattern (Nemotron-H)
  kMambaAttention,  // Mamba-2 or attention, each with a feed-forward part (Bamba, Granite 4)
  kMamba,           // Mamba-2 alone
};

// Which attention layers see a window only.
enum class HfWindow {
  kNone,
  kAll,        // all, where sliding_window is set
  kFromLayer,  // from max_window_layers on, where use_sliding_window is set
  kPattern,    // all but each sliding_window_pattern-th
  kChunked,    // those with rotary positions, in chunks of attention_chunk_size
  kGptNeo,     // by attention_types
};

// Which layers have experts, where the model has any.
enum class HfExperts {
  kNone,
  kAll,
  kFirstDense,  // all but the first first_k_dense_replace; moe_layer_freq, mlp_layer_types
  kSparseStep,  // each decoder_sparse_step-th that is not in mlp_only_layers
  kInterleave,  // moe_layers, or each interleave_moe_layer_step-th
  kInterval,    // moe_layer_start_index … end_index, each moe_layer_interval-th
};

// How wide the always-on expert is.
enum class HfShared {
  kNone,
  kCount,  // n_shared_experts × moe_intermediate_size
  kWidth,  // shared_expert_intermediate_size
  kOne,    // as wide as a routed one
};

struct HfFamily {
  std::string name;        // model_type
  std::string class_name;  // "LlamaConfig"; empty where no class defaults are known
  std::string source;
  std::vector<std::pair<std::string, std::string>> renamed;  // our field name → path in the config
  std::optional<JsonValue> class_defaults;
  std::optional<JsonValue> code_defaults;  // what the class computes where the field is absent

  Norm norm;
  int norms = 2;
  std::optional<int> norms_when_parallel;
  bool gated = true;
  HfSwitch qkv_bias;
  HfSwitch output_bias;
  HfSwitch mlp_bias;
  HfSwitch head_bias;
  HfSwitch parallel;
  HfSwitch output_gate;
  QkNorm qk_norm = QkNorm::kNone;
  HfSwitch qk_norm_when{.always = true, .field = {}};
  bool sinks = false;
  bool rotary = true;
  bool local_rotary_only = false;  // layers that see everything have no positions
  bool no_rope_layers = false;     // no_rope_layers / no_rope_layer_interval apply
  bool learned_positions = false;
  int position_offset = 0;  // rows the table has beyond max_position_embeddings
  bool embedding_norm = false;
  HfMixer mixer = HfMixer::kAttention;
  HfLayers layers = HfLayers::kSame;
  HfWindow window = HfWindow::kNone;
  HfExperts experts = HfExperts::kNone;
  std::string expert_width = "moe_intermediate_size";
  std::string dense_width = "intermediate_size";
  HfShared shared = HfShared::kNone;
  bool shared_gate = false;
  bool router_bias = false;
  bool expert_bias = false;
  bool correction_bias = false;
};

// The two tables, parsed once per configuration read.
struct HfTables {
  JsonValue families;  // of families.json: model_type → row
  JsonValue classes;   // of class_defaults.json: model_type → class and defaults
};

Result<HfTables> load_hf_tables(const DataStore& data);

// Whether the table has a row for the model_type (a refusal is a row too).
bool knows_family(const HfTables& tables, std::string_view model_type);
// The model_types that can be described, sorted.
std::vector<std::string> known_families(const HfTables& tables);
// The model_type whose class is named so: "Qwen3MoeConfig" → qwen3_moe.
std::optional<std::string> family_of_class(const HfTables& tables, std::string_view class_name);

// The row, with what it is `like` filled in. An Error for a family that can't be described, saying
// why. REQUIRES: knows_family(tables, model_type).
Result<HfFamily> load_family(const HfTables& tables, std::string_view model_type,
                             std::string_view where);

}  // namespace sextant::describe
