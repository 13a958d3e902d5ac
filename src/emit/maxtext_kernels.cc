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

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kMost = 10'000'000;
constexpr std::string_view kRemat = "remat_policy";
constexpr std::string_view kLayerInput = "decoder_layer_input";
constexpr std::string_view kCompute = "dtype";
constexpr std::string_view kWeights = "weight_dtype";
constexpr std::string_view kGradients = "grad_dtype";
constexpr std::string_view kFirstMoment = "mu_dtype";
constexpr std::string_view kQuantization = "quantization";
constexpr std::string_view kOptimizer = "opt_type";
constexpr std::string_view kOptimizerOffload = "optimizer_memory_host_offload";
constexpr std::string_view kParameterOffload = "parameter_memory_host_offload";
constexpr std::string_view kAttention = "attention";
constexpr std::string_view kRing = "use_ring_of_experts";
constexpr std::string_view kVocabTiles = "num_vocab_tiling";

using Module = RecomputeModule;

struct Policy {
  std::string_view word;
  Recompute granularity;
  std::array<std::optional<Module>, 3> modules;  // sorted
  bool offload = false;
  bool written = true;  // others are read as the nearest of these
};
constexpr std::array<std::optional<Module>, 3> kNothing{};
constexpr std::array kPolicies{
    Policy{"full", Recompute::kFull, kNothing},
    Policy{
        "minimal_with_context", Recompute::kSelective, {Module::kLayerNorm, Module::kActivation}},
    Policy{"minimal",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kActivation}},
    Policy{"minimal_offloaded",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kActivation},
           true},
    Policy{"save_dot_with_context_except_mlp",
           Recompute::kSelective,
           {Module::kLayerNorm, Module::kMlp}},
    Policy{"save_dot_except_mlp",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp}},
    Policy{"qkv_proj_offloaded",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           true},
    Policy{"save_dot_except_mlpwi",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           false,
           false},
    Policy{"save_qkv_proj",
           Recompute::kSelective,
           {Module::kCoreAttention, Module::kLayerNorm, Module::kMlp},
           false,
           false},
    Policy{"save_out_proj", Recompute::kFull, kNothing, false, false},
    Policy{"minimal_flash",
           Recompute::kSelective,
           {Module::kLayerNorm, Module::kActivation},
           false,
           false},
};

RecomputePolicy policy_of(const Policy& row) {
  RecomputePolicy policy;
  policy.granularity = row.granularity;
  for (const auto& module : row.modules) {
    if (module) {
      policy.modules.push_back(*module);
    }
  }
  return policy;
}

constexpr std::array<Word<Storage>, 3> kTypeWords{
    {{Storage::kBf16, "bfloat16"}, {Storage::kFp32, "float32"}, {Storage::kFp16, "float16"}}};
// The first word of a precision is written.
constexpr std::array<Word<Precision>, 10> kQuantizationWords{
    {{Precision::kInt8, "int8"},
     {Precision::kFp8, "fp8"},
     {Precision::kFp8, "fp8_full"},
     {Precision::kFp8, "fp8_gpu"},
     {Precision::kFp8, "fp8_nanoo"},
     {Precision::kFp8, "nanoo_fp8"},
     {Precision::kFp8, "te_fp8_delayedscaling"},
     {Precision::kFp8, "te_fp8_currentscaling"},
     {Precision::kMxfp8, "te_mxfp8"},
     {Precision::kNvfp4, "te_nvfp4"}}};
constexpr std::array<Word<OptimizerKind>, 4> kOptimizerNames{{{OptimizerKind::kAdam, "adamw"},
                                                              {OptimizerKind::kAdam, "adam_pax"},
                                                              {OptimizerKind::kSgd, "sgd"},
                                                              {OptimizerKind::kMuon, "muon"}}};
constexpr std::string_view kAnyKernel = "autoselected";
constexpr std::array<Word<AttentionKernel>, 5> kAttentionWords{
    {{AttentionKernel::kFlash, "flash"},
     {AttentionKernel::kFlash, kAnyKernel},
     {AttentionKernel::kCudnn, "cudnn_flash_te"},
     {AttentionKernel::kCudnn, "cudnn_flash_jax"},
     {AttentionKernel::kEager, "dot_product"}}};

template <typename E>
bool has_word(std::span<const Word<E>> words, E value) {
  return word_of<E>(words, value) != "?";
}

Precision precision_of(Storage type) {
  switch (type) {
    case Storage::kFp32:
      return Precision::kFp32;
    case Storage::kFp16:
      return Precision::kFp16;
    case Storage::kNone:
    case Storage::kBf16:
    case Storage::kFp8:
    case Storage::kInt8:
      break;
  }
  return Precision::kBf16;
}

Storage type_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return Storage::kFp32;
    case Precision::kFp16:
      return Storage::kFp16;
    case Precision::kBf16:
    case Precision::kFp8:
    case Precision::kMxfp8:
    case Precision::kNvfp4:
    case Precision::kInt8:
      break;
  }
  return Storage::kBf16;
}

// The first moment has a format of its own, the second the parameters'; there is no master copy.
Optimizer states(OptimizerKind kind, Storage first, Storage parameters) {
  Optimizer optimizer = default_optimizer(kind);
  optimizer.master = Storage::kNone;
  optimizer.first_moment = optimizer.first_moment == Storage::kNone ? Storage::kNone : first;
  optimizer.second_moment = optimizer.second_moment == Storage::kNone ? Storage::kNone : parameters;
  return optimizer;
}

void write_remat(const Layout& at, SettingWriter& out) {
  const auto* const row = std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Policy& each) {
    return each.written && each.offload == at.activation_offload && policy_of(each) == at.recompute;
  });
  if (row != kPolicies.end()) {
    out.text(kRemat, row->word);
    return;
  }
  const bool feed_forward = std::find(at.recompute.modules.begin(), at.recompute.modules.end(),
                                      Module::kMlp) != at.recompute.modules.end();
  const bool full = at.recompute.granularity == Recompute::kFull;
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

void write_formats(const Layout& at, SettingWriter& out) {
  const auto type = [](Storage wanted, Storage otherwise) {
    return word_of<Storage>(kTypeWords, has_word<Storage>(kTypeWords, wanted) ? wanted : otherwise);
  };
  out.text(kCompute, word_of<Storage>(kTypeWords, type_of(at.precision)));
  out.text(kQuantization, has_word<Precision>(kQuantizationWords, at.precision)
                              ? word_of<Precision>(kQuantizationWords, at.precision)
                              : "");
  out.text(kWeights, type(at.parameters, Storage::kBf16));
  out.text(kGradients, type(at.gradients, Storage::kFp32));
  const bool known = has_word<OptimizerKind>(kOptimizerNames, at.optimizer.kind);
  out.text(kOptimizer, word_of<OptimizerKind>(kOptimizerNames,
                                              known ? at.optimizer.kind : OptimizerKind::kAdam));
  out.text(kFirstMoment, type(at.optimizer.first_moment,
                              at.parameters == Storage::kFp8 ? Storage::kBf16 : at.parameters));
  out.flag(kOptimizerOffload, at.optimizer.offload);
}

// Tensors that a custom policy keeps, on the device or in host memory.
void read_custom(SettingReader& reader, Layout& at) {
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
    at.recompute.granularity = Recompute::kFull;
    return;
  }
  at.recompute.granularity = Recompute::kSelective;
  at.recompute.modules = {Module::kLayerNorm, feed_forward ? Module::kActivation : Module::kMlp};
  if (!core) {
    at.recompute.modules.insert(at.recompute.modules.begin(), Module::kCoreAttention);
  }
}

void read_remat(SettingReader& reader, Layout& at) {
  const std::string word = reader.text(kRemat).value_or("full");
  const auto* const row = std::find_if(kPolicies.begin(), kPolicies.end(),
                                       [&](const Policy& each) { return each.word == word; });
  if (word == "custom") {
    read_custom(reader, at);
  } else if (row == kPolicies.end()) {
    reader.unresolved(kRemat, "not one of MaxText's policies; read as full");
    at.recompute.granularity = Recompute::kFull;
  } else {
    at.recompute = policy_of(*row);
    at.activation_offload = row->offload;
  }
  reader.fact("recompute",
              std::string(word_of<Recompute>(kRecomputeWords, at.recompute.granularity)), kRemat);
}

void read_formats(SettingReader& reader, Layout& at) {
  const auto type = [&](std::string_view key, Storage silent) {
    return reader.text(key).value_or("").empty()
               ? silent
               : reader.word<Storage>(key, kTypeWords).value_or(silent);
  };
  at.precision = precision_of(type(kCompute, Storage::kBf16));
  reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)),
              kCompute);
  if (!reader.text(kQuantization).value_or("").empty()) {
    if (const auto products = reader.word<Precision>(kQuantization, kQuantizationWords)) {
      at.precision = *products;
      reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)),
                  kQuantization);
    }
  }
  at.parameters = type(kWeights, Storage::kFp32);
  reader.fact("parameters", std::string(word_of<Storage>(kStorageWords, at.parameters)), kWeights);
  // Only fp32 gradients are converted.
  const Storage asked = type(kGradients, Storage::kFp32);
  at.gradients = at.parameters == Storage::kFp32 ? asked : at.parameters;
  reader.fact("gradients", std::string(word_of<Storage>(kStorageWords, at.gradients)), kGradients);
  const auto kind =
      reader.word<OptimizerKind>(kOptimizer, kOptimizerNames).value_or(OptimizerKind::kAdam);
  at.optimizer = states(kind, type(kFirstMoment, at.parameters), at.parameters);
  at.optimizer.offload = reader.flag(kOptimizerOffload).value_or(false);
  for (const std::string_view key : {kOptimizer, kFirstMoment, kOptimizerOffload}) {
    reader.fact("optimizer", std::string(word_of<OptimizerKind>(kOptimizerWords, kind)), key);
  }
  if (reader.flag(kParameterOffload).value_or(false)) {
    reader.unresolved(kParameterOffload, "parameters in host memory have no description; left out");
  }
}

}  // namespace

void write_kernels(const Job& job, SettingWriter& out) {
  const Layout& at = job.layout;
  write_formats(at, out);
  write_remat(at, out);
  out.text(kAttention, has_word<AttentionKernel>(kAttentionWords, at.attention)
                           ? word_of<AttentionKernel>(kAttentionWords, at.attention)
                           : "flash");
  if (has_experts(job.model)) {
    out.flag(kRing, at.dispatcher == Dispatcher::kAllGather);
  }
}

void read_kernels(SettingReader& reader, Reading& reading, bool experts) {
  Layout& at = reading.layout;
  read_formats(reader, at);
  read_remat(reader, at);
  if (const auto kernel = reader.word<AttentionKernel>(kAttention, kAttentionWords)) {
    at.attention = *kernel;
    reading.attention_stated = reader.text(kAttention) != kAnyKernel;
    reader.fact("attention", std::string(word_of<AttentionKernel>(kAttentionKernelWords, *kernel)),
                kAttention);
  }
  if (reader.flag(kRing).value_or(false)) {
    at.dispatcher = Dispatcher::kAllGather;
    reader.fact("dispatcher", "allgather", kRing);
  }
  // The tensor axes divide experts too.
  at.etp = experts || at.ep > 1 ? at.tp : 1;
  at.launch = Launch::kCompiled;
  at.loss = LossKernel::kInPlace;
  if (reader.whole(kVocabTiles, 1, kMost).value_or(1) > 1) {
    at.loss = LossKernel::kChunked;
    reader.fact("loss", "chunked", kVocabTiles);
  }
  // XLA's latency-hiding scheduler. A dp of 0 is one not known yet.
  if (at.dp == 0 || saturating_product({at.dp, at.cp}) > 1) {
    at.overlap.push_back(Overlap::kGradReduce);
    if (at.zero != Zero::kNone) {
      at.overlap.push_back(Overlap::kParamGather);
    }
  }
}

}  // namespace sextant::emit::maxtext
