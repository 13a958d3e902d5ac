// Source: deepspeedai/DeepSpeed 007cca6a, runtime/engine.py, get_data_types: parameters have the
// precision's format, and so have gradients where data_types.grad_accum_dtype is silent.
#include <array>

#include "describe/layout/framework_defaults.h"
#include "emit/deepspeed_parts.h"

namespace sextant::emit::deepspeed {
namespace {

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kOffloadOptimizer = "zero_optimization.offload_optimizer.device";
constexpr std::string_view kBf16 = "bf16.enabled";
constexpr std::string_view kBf16Alias = "bfloat16.enabled";
constexpr std::string_view kBf16Masters = "bf16.bf16_master_weights_and_grads";
constexpr std::string_view kBf16States = "bf16.bf16_optimizer_states";
constexpr std::string_view kFp16 = "fp16.enabled";
constexpr std::string_view kGradients = "data_types.grad_accum_dtype";
constexpr std::string_view kOptimizer = "optimizer.type";

constexpr std::array<Word<Storage>, 3> kTypes{
    {{Storage::kFp32, "fp32"}, {Storage::kBf16, "bf16"}, {Storage::kFp16, "fp16"}}};
constexpr std::array<Word<OptimizerKind>, 5> kOptimizers{{{OptimizerKind::kAdam, "AdamW"},
                                                          {OptimizerKind::kAdam, "Adam"},
                                                          {OptimizerKind::kMuon, "Muon"},
                                                          {OptimizerKind::kSgd, "SGD"},
                                                          {OptimizerKind::kAdam, "FusedAdam"}}};

// What the precision makes of the other formats when nothing else is said.
struct Formats {
  Storage parameters = Storage::kFp32;
  Storage gradients = Storage::kFp32;
  Storage master = Storage::kNone;
};

// Gradients are kept in the parameters' format, but in fp32 for bf16 without ZeRO (assumed of its
// bf16 optimizer, not read from a source).
Formats formats_of(Precision precision, Zero zero) {
  if (precision == Precision::kBf16) {
    return {Storage::kBf16, zero == Zero::kNone ? Storage::kFp32 : Storage::kBf16, Storage::kFp32};
  }
  return precision == Precision::kFp16 ? Formats{Storage::kFp16, Storage::kFp16, Storage::kFp32}
                                       : Formats{};
}

// The precision it can say, nearest to the layout's.
Precision precision_of(const Layout& at) {
  if (at.precision == Precision::kFp32 || at.precision == Precision::kTf32) {
    return Precision::kFp32;
  }
  return at.precision == Precision::kFp16 ? Precision::kFp16 : Precision::kBf16;
}

}  // namespace

void write_formats(const Layout& at, SettingWriter& out) {
  const Precision precision = precision_of(at);
  if (precision != Precision::kFp32) {
    out.flag(precision == Precision::kBf16 ? kBf16 : kFp16, true);
    if (word_of<Storage>(kTypes, at.gradients) != "?") {
      out.text(kGradients, word_of<Storage>(kTypes, at.gradients));
    }
  }
  const bool narrow = precision == Precision::kBf16 && at.optimizer.master == Storage::kBf16;
  if (narrow) {
    out.flag(kBf16Masters, true);
    out.flag(kBf16States, at.optimizer.first_moment == Storage::kBf16);
  }
  const std::string_view kind = word_of<OptimizerKind>(kOptimizers, at.optimizer.kind);
  out.text(kOptimizer, kind == "?" ? "AdamW" : kind);
}

void read_formats(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const bool bf16 = reader.flag(kBf16).value_or(reader.flag(kBf16Alias).value_or(false));
  const bool fp16 = reader.flag(kFp16).value_or(false);
  at.precision = bf16 ? Precision::kBf16 : fp16 ? Precision::kFp16 : Precision::kFp32;
  reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)),
              bf16 ? (reader.find(kBf16) != nullptr ? kBf16 : kBf16Alias) : kFp16);
  const Formats formats = formats_of(at.precision, at.zero);
  at.parameters = formats.parameters;
  at.gradients = formats.gradients;
  if (at.precision != Precision::kFp32) {
    at.gradients = reader.word<Storage>(kGradients, kTypes).value_or(formats.gradients);
    reader.fact("gradients", std::string(word_of<Storage>(kStorageWords, at.gradients)),
                kGradients);
  }
  const auto kind = reader.word<OptimizerKind>(kOptimizer, kOptimizers);
  at.optimizer = default_optimizer(kind.value_or(OptimizerKind::kAdam));
  at.optimizer.master = formats.master;
  if (bf16 && reader.flag(kBf16Masters).value_or(false)) {
    at.optimizer.master = Storage::kBf16;
    if (reader.flag(kBf16States).value_or(false)) {
      const auto narrowed = [](Storage state) {
        return state == Storage::kNone ? state : Storage::kBf16;
      };
      at.optimizer.first_moment = narrowed(at.optimizer.first_moment);
      at.optimizer.second_moment = narrowed(at.optimizer.second_moment);
    }
  }
  const std::string device = reader.text(kOffloadOptimizer).value_or("none");
  at.optimizer.offload = at.zero != Zero::kNone && device != "none";
  if (device == "nvme") {
    reader.unresolved(kOffloadOptimizer, "states on a disk are read as in host memory");
  }
  const std::string_view key = reader.find(kOptimizer) != nullptr ? kOptimizer : kOffloadOptimizer;
  reader.fact("optimizer", std::string(word_of<OptimizerKind>(kOptimizerWords, at.optimizer.kind)),
              key);
}

}  // namespace sextant::emit::deepspeed
