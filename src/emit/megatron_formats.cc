// Which formats numbers are kept and multiplied in. Megatron-LM says it by a handful of switches,
// Megatron-Bridge by the name of a mixed-precision recipe and what differs from it.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::Layout;
using describe::Optimizer;
using describe::OptimizerKind;
using describe::Precision;
using describe::Storage;
using describe::Zero;

constexpr std::array<describe::Word<Storage>, 10> kDtypeWords{{{Storage::kFp32, "fp32"},
                                                               {Storage::kBf16, "bf16"},
                                                               {Storage::kFp16, "fp16"},
                                                               {Storage::kFp8, "fp8"},
                                                               {Storage::kFp32, "float32"},
                                                               {Storage::kFp32, "float"},
                                                               {Storage::kBf16, "bfloat16"},
                                                               {Storage::kFp16, "float16"},
                                                               {Storage::kFp16, "half"},
                                                               {Storage::kFp8, "uint8"}}};

// Megatron-LM takes "fp32", Megatron-Bridge "torch.float32".
std::string dtype_word(Storage storage, Megatron program) {
  if (program == Megatron::kLm) {
    return std::string(describe::word_of<Storage>(kDtypeWords, storage));
  }
  switch (storage) {
    case Storage::kBf16:
      return "torch.bfloat16";
    case Storage::kFp16:
      return "torch.float16";
    case Storage::kFp8:
      return "torch.uint8";
    case Storage::kFp32:
    case Storage::kNone:
    case Storage::kInt8:
      break;
  }
  return "torch.float32";
}

// Megatron-Bridge's names. Source: Megatron-Bridge 067f987, training/mixed_precision.py.
struct MixedPrecision {
  std::string_view name;
  Storage base = Storage::kBf16;
  Precision precision = Precision::kBf16;
  bool fp8_parameters = false;
};
constexpr std::array kMixedPrecisions{
    MixedPrecision{"bf16_mixed"},
    MixedPrecision{"fp16_mixed", Storage::kFp16, Precision::kFp16, false},
    MixedPrecision{"bf16_with_fp8_current_scaling_mixed", Storage::kBf16, Precision::kFp8, true},
    MixedPrecision{"fp16_with_fp8_current_scaling_mixed", Storage::kFp16, Precision::kFp8, true},
    MixedPrecision{"bf16_with_fp8_delayed_scaling_mixed", Storage::kBf16, Precision::kFp8, true},
    MixedPrecision{"fp16_with_fp8_delayed_scaling_mixed", Storage::kFp16, Precision::kFp8, true},
    MixedPrecision{"bf16_with_fp8_subchannel_scaling_mixed", Storage::kBf16, Precision::kFp8,
                   false},
    MixedPrecision{"fp16_with_fp8_subchannel_scaling_mixed", Storage::kFp16, Precision::kFp8,
                   false},
    MixedPrecision{"nemotron_h_bf16_with_fp8_current_scaling_mixed", Storage::kBf16,
                   Precision::kFp8, true},
    MixedPrecision{"nanov2_bf16_with_fp8_current_scaling_mixed", Storage::kBf16, Precision::kFp8,
                   true},
    MixedPrecision{"bf16_with_mxfp8_mixed", Storage::kBf16, Precision::kMxfp8, true},
    MixedPrecision{"fp16_with_mxfp8_mixed", Storage::kFp16, Precision::kMxfp8, true},
    MixedPrecision{"bf16_with_nvfp4_mixed", Storage::kBf16, Precision::kNvfp4, false},
};

// The format of parameters and activations that are not quantised.
Storage base_of(const Layout& layout) {
  switch (layout.precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return Storage::kFp32;
    case Precision::kFp16:
      return Storage::kFp16;
    case Precision::kBf16:
      return Storage::kBf16;
    case Precision::kFp8:
    case Precision::kMxfp8:
    case Precision::kNvfp4:
    case Precision::kInt8:
      return layout.parameters == Storage::kFp16 ? Storage::kFp16 : Storage::kBf16;
  }
  return Storage::kBf16;
}

void write_switches(const Layout& layout, ArgumentWriter& out) {
  const Storage base = base_of(layout);
  out.flag("bf16", base == Storage::kBf16);
  out.flag("fp16", base == Storage::kFp16);
  if (layout.precision == Precision::kFp8) {
    out.word("fp8", "hybrid");
    out.word("fp8_recipe", "tensorwise");
  } else if (layout.precision == Precision::kMxfp8) {
    out.word("fp8", "e4m3");
    out.word("fp8_recipe", "mxfp8");
  } else if (layout.precision == Precision::kNvfp4) {
    out.word("fp4", "e2m1");
  }
  const bool fp8 = layout.precision == Precision::kFp8 || layout.precision == Precision::kMxfp8;
  out.flag("fp8_param_gather", fp8 && layout.parameters == Storage::kFp8);
  // Required of MXFP8 parameters; see validate_args.
  out.flag("reuse_grad_buf_for_mxfp8_param_ag",
           layout.precision == Precision::kMxfp8 && layout.parameters == Storage::kFp8);
  // bf16 gradients have a switch of their own; fp16 ones are what --fp16 has unless told.
  out.flag("grad_reduce_in_bf16", base == Storage::kBf16 && layout.gradients == Storage::kBf16);
  out.flag("accumulate_allreduce_grads_in_fp32",
           base == Storage::kFp16 && layout.gradients == Storage::kFp32);
}

void read_switches(ArgumentReader& in, Layout& layout) {
  in.field("precision");
  const bool bf16 = in.flag("bf16", false);
  const bool fp16 = in.flag("fp16", false);
  Storage base = Storage::kFp32;
  layout.precision = Precision::kFp32;
  if (bf16 || fp16) {
    base = bf16 ? Storage::kBf16 : Storage::kFp16;
    layout.precision = bf16 ? Precision::kBf16 : Precision::kFp16;
  }
  if (in.word("fp8")) {
    layout.precision =
        in.word("fp8_recipe").value_or("") == "mxfp8" ? Precision::kMxfp8 : Precision::kFp8;
  }
  if (in.word("fp4")) {
    layout.precision = Precision::kNvfp4;
  }
  in.field("parameters");
  layout.parameters = base;
  if (in.flag("fp8_param_gather", false)) {
    layout.parameters = Storage::kFp8;
  }
  if (in.flag("fp4_param_gather", false)) {
    in.unresolved("fp4_param_gather", "4-bit parameters are counted as 16-bit ones");
  }
  in.field("gradients");
  layout.gradients = Storage::kFp32;
  const bool wide = in.flag("accumulate_allreduce_grads_in_fp32", false);
  const bool narrow = in.flag("grad_reduce_in_bf16", false);
  const bool narrow_main = in.word("main_grads_dtype").value_or("fp32").starts_with("bf");
  if (base == Storage::kBf16 && (narrow || (narrow_main && !wide))) {
    layout.gradients = Storage::kBf16;
  }
  if (base == Storage::kFp16 && !wide) {
    layout.gradients = Storage::kFp16;
  }
}

void write_recipe(const Layout& layout, ArgumentWriter& out) {
  const Storage base = base_of(layout) == Storage::kFp16 ? Storage::kFp16 : Storage::kBf16;
  const auto* found = std::find_if(kMixedPrecisions.begin(), kMixedPrecisions.end(),
                                   [&](const MixedPrecision& one) {
                                     return one.base == base && one.precision == layout.precision;
                                   });
  const MixedPrecision& recipe =
      found == kMixedPrecisions.end() ? kMixedPrecisions[base == Storage::kFp16 ? 1 : 0] : *found;
  out.word("mixed_precision", recipe.name);
  const bool fp8_parameters = layout.parameters == Storage::kFp8;
  const bool fp8 = recipe.precision == Precision::kFp8 || recipe.precision == Precision::kMxfp8;
  if (fp8 && fp8_parameters != recipe.fp8_parameters) {
    out.flag("fp8_param_gather", fp8_parameters);
    if (recipe.precision == Precision::kMxfp8) {
      out.flag("reuse_grad_buf_for_mxfp8_param_ag", fp8_parameters);
    }
  }
  // The recipe's word stands over the one of ddp, so both are given.
  const bool wide = layout.gradients == Storage::kFp32;
  out.flag("grad_reduce_in_fp32", wide);
  if (wide != (base == Storage::kBf16)) {
    out.flag("mixed_grad_reduce_in_fp32", wide);
  }
}

void read_recipe(ArgumentReader& in, Layout& layout) {
  in.field("precision");
  const bool fp16 = in.flag("fp16", false);
  std::string name = in.word("mixed_precision").value_or(fp16 ? "fp16_mixed" : "bf16_mixed");
  std::replace(name.begin(), name.end(), '-', '_');
  const auto* found = std::find_if(kMixedPrecisions.begin(), kMixedPrecisions.end(),
                                   [&](const MixedPrecision& one) { return one.name == name; });
  if (found == kMixedPrecisions.end()) {
    in.unresolved("mixed_precision", "it is no mixed-precision recipe of Megatron-Bridge");
    found = kMixedPrecisions.begin();
  }
  layout.precision = found->precision;
  if (in.word("fp8")) {
    layout.precision =
        in.word("fp8_recipe").value_or("") == "mxfp8" ? Precision::kMxfp8 : Precision::kFp8;
  }
  if (in.word("fp4")) {
    layout.precision = Precision::kNvfp4;
  }
  in.field("parameters");
  const bool fp8 = layout.precision == Precision::kFp8 || layout.precision == Precision::kMxfp8;
  layout.parameters =
      in.flag("fp8_param_gather", found->fp8_parameters) && fp8 ? Storage::kFp8 : found->base;
  in.field("gradients");
  const bool usual = found->base == Storage::kBf16;
  const bool said = in.flag("grad_reduce_in_fp32", usual);
  const bool wide = in.flag("mixed_grad_reduce_in_fp32", said);
  layout.gradients = wide ? Storage::kFp32 : found->base;
}

// The formats of states are free only under the precision-aware optimizer, which in turn needs the
// distributed one.
void write_optimizer(const Layout& layout, ArgumentWriter& out) {
  const Optimizer& optimizer = layout.optimizer;
  const std::string_view kind = optimizer.kind == OptimizerKind::kMuon  ? "muon"
                                : optimizer.kind == OptimizerKind::kSgd ? "sgd"
                                                                        : "adam";
  out.word("optimizer", kind);
  if (optimizer.kind == OptimizerKind::kSgd) {
    out.word("sgd_momentum", optimizer.first_moment == Storage::kNone ? "0.0" : "0.9");
  }
  const bool adam = optimizer.kind == OptimizerKind::kAdam;
  const bool usual = optimizer.first_moment == Storage::kFp32 &&
                     optimizer.second_moment == Storage::kFp32 &&
                     optimizer.master != Storage::kFp16;
  const bool aware = layout.zero != Zero::kNone && ((adam && !usual) || optimizer.offload);
  out.flag("use_precision_aware_optimizer", aware);
  if (aware && adam) {
    const auto word = [&](Storage storage) { return dtype_word(storage, out.program()); };
    if (optimizer.master == Storage::kFp16) {
      out.word("main_params_dtype", word(Storage::kFp16));
    }
    out.word("exp_avg_dtype", word(optimizer.first_moment));
    out.word("exp_avg_sq_dtype", word(optimizer.second_moment));
  }
  out.flag("optimizer_cpu_offload", optimizer.offload && aware);
}

void read_dtype(ArgumentReader& in, std::string_view name, Storage& storage) {
  const auto word = in.word(name);
  if (!word) {
    return;
  }
  const auto found = describe::parse_word<Storage>(kDtypeWords, *word, name, {});
  if (found) {
    storage = *found;
  } else {
    in.unresolved(name, "it is none of fp32, bf16, fp16, fp8");
  }
}

void read_optimizer(ArgumentReader& in, Layout& layout, Storage base) {
  in.field("optimizer");
  OptimizerKind kind = OptimizerKind::kAdam;
  if (const auto word = in.word("optimizer")) {
    if (*word == "sgd") {
      kind = OptimizerKind::kSgd;
    } else if (*word == "muon" || *word == "dist_muon" || *word == "adaptive_muon") {
      kind = OptimizerKind::kMuon;
    } else if (*word != "adam" && *word != "adamw") {
      in.unresolved("optimizer", "its states are not known; counted as Adam's");
    }
  }
  Optimizer optimizer = describe::default_optimizer(kind);
  if (kind == OptimizerKind::kSgd &&
      to_double(in.word("sgd_momentum").value_or("0.9")).value_or(1.0) != 0.0) {
    optimizer.first_moment = Storage::kFp32;
  }
  if (in.flag("use_precision_aware_optimizer", false) && kind == OptimizerKind::kAdam) {
    read_dtype(in, "main_params_dtype", optimizer.master);
    read_dtype(in, "exp_avg_dtype", optimizer.first_moment);
    read_dtype(in, "exp_avg_sq_dtype", optimizer.second_moment);
  }
  if (base == Storage::kFp32) {
    optimizer.master = Storage::kNone;  // fp32 parameters are updated in place
  }
  optimizer.offload = in.flag("optimizer_cpu_offload", false);
  layout.optimizer = optimizer;
}

}  // namespace

void write_formats(const Layout& layout, ArgumentWriter& out) {
  if (out.program() == Megatron::kLm) {
    write_switches(layout, out);
  } else {
    write_recipe(layout, out);
  }
  write_optimizer(layout, out);
}

void read_formats(ArgumentReader& in, Layout& layout) {
  if (in.program() == Megatron::kLm) {
    read_switches(in, layout);
  } else {
    read_recipe(in, layout);
  }
  const bool in_place = layout.parameters == Storage::kFp32;
  read_optimizer(in, layout, in_place ? Storage::kFp32 : Storage::kBf16);
}

}  // namespace sextant::emit
