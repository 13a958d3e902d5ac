// Formats, optimizer, kernels and remat. What XLA decides by itself (compilation, overlap, how
// logits become a loss) has no words: it is read as what it does.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_defaults.h"
#include "emit/maxtext_parts.h"

namespace sextant::emit::maxtext {
namespace {

constexpr std::int64_t kMostTiles = 10'000'000;
constexpr std::string_view kRemat = "remat_policy";
constexpr std::string_view kLayerInput = "decoder_layer_input";
constexpr std::string_view kCompute = "dtype";
constexpr std::string_view kWeights = "weight_dtype";
constexpr std::string_view kGradients = "grad_dtype";
constexpr std::string_view kFirstMoment = "mu_dtype";
constexpr std::string_view kQuantization = "quantization";
constexpr std::string_view kOptType = "opt_type";
constexpr std::string_view kOptimizerOffload = "optimizer_memory_host_offload";
constexpr std::string_view kParameterOffload = "parameter_memory_host_offload";
constexpr std::string_view kAttention = "attention";
constexpr std::string_view kRing = "use_ring_of_experts";
constexpr std::string_view kVocabTiles = "num_vocab_tiling";

using Module = describe::RecomputeModule;

struct Policy {
  std::string_view word;
  describe::Recompute granularity;
  std::array<std::optional<Module>, 3> modules;  // sorted
  bool offload = false;
  bool written = true;  // others are read as the nearest of these
};
constexpr std::array<std::optional<Module>, 3> kNothing{};
constexpr std::array kPolicies{
    Policy{"full", describe::Recompute::kFull, kNothing},
    Policy{"minimal_with_context",
           describe::Recompute::kSelective,
           {Module::kLayerNorm, Module::kActivation}},
    Policy{"minimal",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kActivation}},
    Policy{"minimal_offloaded",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kActivation},
           true},
    Policy{"save_dot_with_context_except_mlp",
           describe::Recompute::kSelective,
           {Module::kLayerNorm, Module::kMlp}},
    Policy{"save_dot_except_mlp",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp}},
    Policy{"qkv_proj_offloaded",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           true},
    Policy{"save_dot_except_mlpwi",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           false,
           false},
    Policy{"save_qkv_proj",
           describe::Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           false,
           false},
    Policy{"save_out_proj", describe::Recompute::kFull, kNothing, false, false},
    Policy{"minimal_flash",
           describe::Recompute::kSelective,
           {Module::kLayerNorm, Module::kActivation},
           false,
           false},
};

describe::RecomputePolicy policy_of(const Policy& row) {
  describe::RecomputePolicy policy;
  policy.granularity = row.granularity;
  for (const auto& module : row.modules) {
    if (module) {
      policy.modules.push_back(*module);
    }
  }
  return policy;
}

constexpr std::array<describe::Word<describe::Storage>, 3> kTypeWords{
    {{describe::Storage::kBf16, "bfloat16"},
     {describe::Storage::kFp32, "float32"},
     {describe::Storage::kFp16, "float16"}}};
// The first word of a precision is written.
constexpr std::array<describe::Word<describe::Precision>, 10> kQuantizationWords{
    {{describe::Precision::kInt8, "int8"},
     {describe::Precision::kFp8, "fp8"},
     {describe::Precision::kFp8, "fp8_full"},
     {describe::Precision::kFp8, "fp8_gpu"},
     {describe::Precision::kFp8, "fp8_nanoo"},
     {describe::Precision::kFp8, "nanoo_fp8"},
     {describe::Precision::kFp8, "te_fp8_delayedscaling"},
     {describe::Precision::kFp8, "te_fp8_currentscaling"},
     {describe::Precision::kMxfp8, "te_mxfp8"},
     {describe::Precision::kNvfp4, "te_nvfp4"}}};
constexpr std::array<describe::Word<describe::OptimizerKind>, 4> kOptTypeWords{
    {{describe::OptimizerKind::kAdam, "adamw"},
     {describe::OptimizerKind::kAdam, "adam_pax"},
     {describe::OptimizerKind::kSgd, "sgd"},
     {describe::OptimizerKind::kMuon, "muon"}}};
constexpr std::string_view kAnyKernel = "autoselected";
constexpr std::array<describe::Word<describe::AttentionKernel>, 5> kAttentionWords{
    {{describe::AttentionKernel::kFlash, "flash"},
     {describe::AttentionKernel::kFlash, kAnyKernel},
     {describe::AttentionKernel::kCudnn, "cudnn_flash_te"},
     {describe::AttentionKernel::kCudnn, "cudnn_flash_jax"},
     {describe::AttentionKernel::kEager, "dot_product"}}};

template <typename E>
bool has_word(std::span<const describe::Word<E>> words, E value) {
  return describe::word_of<E>(words, value) != "?";
}

describe::Precision precision_of(describe::Storage type) {
  switch (type) {
    case describe::Storage::kFp32:
      return describe::Precision::kFp32;
    case describe::Storage::kFp16:
      return describe::Precision::kFp16;
    case describe::Storage::kNone:
    case describe::Storage::kBf16:
    case describe::Storage::kFp8:
    case describe::Storage::kInt8:
      break;
  }
  return describe::Precision::kBf16;
}

describe::Storage type_of(describe::Precision precision) {
  switch (precision) {
    case describe::Precision::kFp32:
    case describe::Precision::kTf32:
      return describe::Storage::kFp32;
    case describe::Precision::kFp16:
      return describe::Storage::kFp16;
    case describe::Precision::kBf16:
    case describe::Precision::kFp8:
    case describe::Precision::kMxfp8:
    case describe::Precision::kNvfp4:
    case describe::Precision::kInt8:
      break;
  }
  return describe::Storage::kBf16;
}

// The first moment has a format of its own, the second the parameters'; there is no master copy.
describe::Optimizer maxtext_optimizer(describe::OptimizerKind kind, describe::Storage first,
                                      describe::Storage parameters) {
  describe::Optimizer optimizer = describe::default_optimizer(kind);
  optimizer.master = describe::Storage::kNone;
  optimizer.first_moment =
      optimizer.first_moment == describe::Storage::kNone ? describe::Storage::kNone : first;
  optimizer.second_moment =
      optimizer.second_moment == describe::Storage::kNone ? describe::Storage::kNone : parameters;
  return optimizer;
}

void write_remat(const describe::Layout& at, SettingWriter& out) {
  const auto* const row = std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Policy& each) {
    return each.written && each.offload == at.activation_offload && policy_of(each) == at.recompute;
  });
  if (row != kPolicies.end()) {
    out.text(kRemat, row->word);
    return;
  }
  const bool feed_forward = std::find(at.recompute.modules.begin(), at.recompute.modules.end(),
                                      Module::kMlp) != at.recompute.modules.end();
  const bool full = at.recompute.granularity == describe::Recompute::kFull;
  if (full && at.activation_offload) {
    out.text(kRemat, "custom");
    out.text(kLayerInput, "offload");
  } else if (full) {
    out.text(kRemat, "full");
  } else if (at.activation_offload) {
    out.text(kRemat, feed_forward ? "qkv_proj_offloaded" : "minimal_offloaded");
  } else {
    out.text(kRemat, feed_forward ? "save_dot_except_mlp" : "minimal_with_context");
  }
}

void write_maxtext_formats(const describe::Layout& at, SettingWriter& out) {
  const auto type = [](describe::Storage wanted, describe::Storage otherwise) {
    return describe::word_of<describe::Storage>(
        kTypeWords, has_word<describe::Storage>(kTypeWords, wanted) ? wanted : otherwise);
  };
  out.text(kCompute, describe::word_of<describe::Storage>(kTypeWords, type_of(at.precision)));
  out.text(kQuantization,
           has_word<describe::Precision>(kQuantizationWords, at.precision)
               ? describe::word_of<describe::Precision>(kQuantizationWords, at.precision)
               : "");
  out.text(kWeights, type(at.parameters, describe::Storage::kBf16));
  out.text(kGradients, type(at.gradients, describe::Storage::kFp32));
  const bool known = has_word<describe::OptimizerKind>(kOptTypeWords, at.optimizer.kind);
  out.text(kOptType,
           describe::word_of<describe::OptimizerKind>(
               kOptTypeWords, known ? at.optimizer.kind : describe::OptimizerKind::kAdam));
  out.text(kFirstMoment, type(at.optimizer.first_moment, at.parameters == describe::Storage::kFp8
                                                             ? describe::Storage::kBf16
                                                             : at.parameters));
  out.flag(kOptimizerOffload, at.optimizer.offload);
}

// Tensors that a custom policy keeps, on the device or in host memory.
void read_custom(SettingReader& reader, describe::Layout& at) {
  const auto is = [&](std::string_view key, std::string_view word) {
    return reader.text(key).value_or("remat") == word;
  };
  const auto kept = [&](std::initializer_list<std::string_view> keys) {
    return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
      at.activation_offload = at.activation_offload || is(key, "offload");
      return is(key, "device") || is(key, "offload");
    });
  };
  at.activation_offload = is(kLayerInput, "offload");
  const bool projections = kept({"query_proj", "key_proj", "value_proj", "qkv_proj", "kv_proj",
                                 "mla_q", "mla_kv", "query_wa_proj", "kv_wa_proj"});
  const bool core = kept({"context", "attention_out"});
  const bool feed_forward = kept({"mlpwi", "mlpwi_0", "mlpwi_1", "moe_mlpwi_0", "moe_mlpwi_1"});
  if (!projections && !feed_forward) {
    at.recompute.granularity = describe::Recompute::kFull;
    return;
  }
  at.recompute.granularity = describe::Recompute::kSelective;
  at.recompute.modules = {Module::kLayerNorm, feed_forward ? Module::kActivation : Module::kMlp};
  if (!core) {
    at.recompute.modules.insert(at.recompute.modules.begin(), Module::kCoreAttention);
  }
}

void read_remat(SettingReader& reader, describe::Layout& at) {
  const std::string word = reader.text(kRemat).value_or("full");
  const auto* const row = std::find_if(kPolicies.begin(), kPolicies.end(),
                                       [&](const Policy& each) { return each.word == word; });
  if (word == "custom") {
    read_custom(reader, at);
  } else if (row == kPolicies.end()) {
    reader.unresolved(kRemat, "not one of MaxText's policies; read as full");
    at.recompute.granularity = describe::Recompute::kFull;
  } else {
    at.recompute = policy_of(*row);
    at.activation_offload = row->offload;
  }
  reader.fact("recompute",
              std::string(describe::word_of<describe::Recompute>(describe::kRecomputeWords,
                                                                 at.recompute.granularity)),
              kRemat);
}

void read_maxtext_formats(SettingReader& reader, describe::Layout& at) {
  const auto type = [&](std::string_view key, describe::Storage silent) {
    return reader.text(key).value_or("").empty()
               ? silent
               : reader.word<describe::Storage>(key, kTypeWords).value_or(silent);
  };
  at.precision = precision_of(type(kCompute, describe::Storage::kBf16));
  reader.fact(
      "precision",
      std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords, at.precision)),
      kCompute);
  if (!reader.text(kQuantization).value_or("").empty()) {
    if (const auto products = reader.word<describe::Precision>(kQuantization, kQuantizationWords)) {
      at.precision = *products;
      reader.fact("precision",
                  std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords,
                                                                     at.precision)),
                  kQuantization);
    }
  }
  at.parameters = type(kWeights, describe::Storage::kFp32);
  reader.fact(
      "parameters",
      std::string(describe::word_of<describe::Storage>(describe::kStorageWords, at.parameters)),
      kWeights);
  // Only fp32 gradients are converted.
  const describe::Storage asked = type(kGradients, describe::Storage::kFp32);
  at.gradients = at.parameters == describe::Storage::kFp32 ? asked : at.parameters;
  reader.fact(
      "gradients",
      std::string(describe::word_of<describe::Storage>(describe::kStorageWords, at.gradients)),
      kGradients);
  const auto kind = reader.word<describe::OptimizerKind>(kOptType, kOptTypeWords)
                        .value_or(describe::OptimizerKind::kAdam);
  at.optimizer = maxtext_optimizer(kind, type(kFirstMoment, at.parameters), at.parameters);
  at.optimizer.offload = reader.flag(kOptimizerOffload).value_or(false);
  for (const std::string_view key : {kOptType, kFirstMoment, kOptimizerOffload}) {
    reader.fact(
        "optimizer",
        std::string(describe::word_of<describe::OptimizerKind>(describe::kOptimizerWords, kind)),
        key);
  }
  if (reader.flag(kParameterOffload).value_or(false)) {
    reader.unresolved(kParameterOffload, "parameters in host memory have no description; left out");
  }
}

}  // namespace

void write_kernels(const describe::Job& job, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  write_maxtext_formats(at, out);
  write_remat(at, out);
  const bool open = at.attention == describe::AttentionKernel::kFlash && !job.states("attention");
  out.text(kAttention,
           open ? kAnyKernel
           : has_word<describe::AttentionKernel>(kAttentionWords, at.attention)
               ? describe::word_of<describe::AttentionKernel>(kAttentionWords, at.attention)
               : "flash");
  if (describe::has_experts(job.model)) {
    out.flag(kRing, at.dispatcher == describe::Dispatcher::kAllGather);
  }
}

void read_kernels(SettingReader& reader, Reading& reading, bool experts) {
  describe::Layout& at = reading.layout;
  read_maxtext_formats(reader, at);
  read_remat(reader, at);
  if (const auto kernel = reader.word<describe::AttentionKernel>(kAttention, kAttentionWords)) {
    at.attention = *kernel;
    reading.attention_stated = reader.text(kAttention) != kAnyKernel;
    reader.fact("attention",
                std::string(describe::word_of<describe::AttentionKernel>(
                    describe::kAttentionKernelWords, *kernel)),
                kAttention);
  }
  if (reader.flag(kRing).value_or(false)) {
    at.dispatcher = describe::Dispatcher::kAllGather;
    reader.fact("dispatcher", "allgather", kRing);
  }
  // The tensor axes divide experts too.
  at.etp = experts || at.ep > 1 ? at.tp : 1;
  at.launch = describe::Launch::kCompiled;
  at.loss = describe::LossKernel::kInPlace;
  if (reader.whole(kVocabTiles, 1, kMostTiles).value_or(1) > 1) {
    at.loss = describe::LossKernel::kChunked;
    reader.fact("loss", "chunked", kVocabTiles);
  }
  // XLA's latency-hiding scheduler. A dp of 0 is one not known yet.
  if (at.dp == 0 || saturating_product({at.dp, at.cp}) > 1) {
    at.overlap.push_back(describe::Overlap::kGradReduce);
    if (at.zero != describe::Zero::kNone) {
      at.overlap.push_back(describe::Overlap::kParamGather);
    }
  }
}

}  // namespace sextant::emit::maxtext
