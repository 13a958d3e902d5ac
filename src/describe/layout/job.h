// A Job: one training run to be predicted, checked or emitted. Model + cluster + layout + batch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/layout/layout.h"
#include "describe/model/model.h"
#include "describe/words.h"

namespace sextant::describe {

enum class Workload { kPretrain, kFineTune, kLora, kForward };
inline constexpr std::array<Word<Workload>, 5> kWorkloadWords{{{Workload::kPretrain, "pretrain"},
                                                               {Workload::kFineTune, "sft"},
                                                               {Workload::kFineTune, "finetune"},
                                                               {Workload::kLora, "lora"},
                                                               {Workload::kForward, "forward"}}};

enum class LoraModule { kQkv, kAttentionOutput, kFc1, kFc2, kRouter };
inline constexpr std::array<Word<LoraModule>, 8> kLoraModuleWords{
    {{LoraModule::kQkv, "linear_qkv"},
     {LoraModule::kQkv, "qkv"},
     {LoraModule::kAttentionOutput, "linear_proj"},
     {LoraModule::kAttentionOutput, "o_proj"},
     {LoraModule::kFc1, "linear_fc1"},
     {LoraModule::kFc2, "linear_fc2"},
     {LoraModule::kFc2, "down_proj"},
     {LoraModule::kRouter, "router"}}};

struct Lora {
  std::int64_t rank = 16;
  std::vector<LoraModule> modules{LoraModule::kQkv, LoraModule::kAttentionOutput};
};

// How documents fill a sequence of `length` tokens.
struct Sequences {
  enum class Kind { kFixed, kPacked, kVariable };
  Kind kind = Kind::kFixed;
  std::int64_t length = 0;  // tokens a sequence (packed: of the pack; variable: the longest)
  // Packed and variable: lengths of the documents and their shares (by count, summing to 1).
  std::vector<std::pair<std::int64_t, double>> lengths;

  // Mean document length, and mean of its square over its mean: what causal attention costs a
  // token.
  [[nodiscard]] double mean_length() const;
  [[nodiscard]] double attention_length() const;
};

// "4096", "packed:8192", "packed:8192:512*0.7,2048*0.3", "variable:4096:…".
Result<Sequences> parse_sequences(std::string_view text);

struct Job {
  Model model;
  Cluster cluster;
  Layout layout;
  Framework framework = Framework::kMegatronCore;
  Sequences sequences;
  std::int64_t global_batch = 0;  // sequences a step
  Workload workload = Workload::kPretrain;
  std::optional<Lora> lora;
  // Layout keys that somebody stated; the others have their defaults, which the machine may choose.
  std::set<std::string, std::less<>> stated;
  Assumptions assumed;

  [[nodiscard]] bool states(std::string_view key) const { return stated.contains(key); }
  // Data-parallel size: the layout's, or what is left of the world (0 where it does not divide).
  [[nodiscard]] std::int64_t dp() const;
  // Microbatches a step and pipeline; 0 where batch sizes do not divide. The last may be smaller
  // where the framework allows it.
  [[nodiscard]] std::int64_t microbatches() const;
};

}  // namespace sextant::describe
