// Source: deepspeedai/DeepSpeed 007cca6a, runtime/engine.py, get_data_types: parameters have the
// precision's format, and so have gradients where data_types.grad_accum_dtype is silent.
#include <array>

#include "describe/layout/framework_defaults.h"
#include "emit/deepspeed_parts.h"

namespace sextant::emit::deepspeed {
namespace {

constexpr std::string_view kBf16 = "bf16.enabled";
constexpr std::string_view kBf16Alias = "bfloat16.enabled";
constexpr std::string_view kBf16Masters = "bf16.bf16_master_weights_and_grads";
constexpr std::string_view kBf16States = "bf16.bf16_optimizer_states";
constexpr std::string_view kFp16 = "fp16.enabled";
constexpr std::string_view kGradientType = "data_types.grad_accum_dtype";
constexpr std::string_view kOptimizerType = "optimizer.type";

constexpr std::array<describe::Word<describe::Storage>, 3> kGradientTypes{
    {{describe::Storage::kFp32, "fp32"},
     {describe::Storage::kBf16, "bf16"},
     {describe::Storage::kFp16, "fp16"}}};
constexpr std::array<describe::Word<describe::OptimizerKind>, 5> kOptimizers{
    {{describe::OptimizerKind::kAdam, "AdamW"},
     {describe::OptimizerKind::kAdam, "Adam"},
     {describe::OptimizerKind::kMuon, "Muon"},
     {describe::OptimizerKind::kSgd, "SGD"},
     {describe::OptimizerKind::kAdam, "FusedAdam"}}};

// What the precision makes of the other formats when nothing else is said.
struct Formats {
  describe::Storage parameters = describe::Storage::kFp32;
  describe::Storage gradients = describe::Storage::kFp32;
  describe::Storage master = describe::Storage::kNone;
};

// Gradients are kept in the parameters' format, but in fp32 for bf16 without ZeRO (assumed of its
// bf16 optimizer, not read from a source).
Formats formats_of(describe::Precision precision, describe::Zero zero) {
  if (precision == describe::Precision::kBf16) {
    return {describe::Storage::kBf16,
            zero == describe::Zero::kNone ? describe::Storage::kFp32 : describe::Storage::kBf16,
            describe::Storage::kFp32};
  }
  return precision == describe::Precision::kFp16
             ? Formats{describe::Storage::kFp16, describe::Storage::kFp16, describe::Storage::kFp32}
             : Formats{};
}

// The precision it can say, nearest to the layout's.
describe::Precision spoken_precision(const describe::Layout& at) {
  if (at.precision == describe::Precision::kFp32 || at.precision == describe::Precision::kTf32) {
    return describe::Precision::kFp32;
  }
  return at.precision == describe::Precision::kFp16 ? describe::Precision::kFp16
                                                    : describe::Precision::kBf16;
}

}  // namespace

void write_formats(const describe::Layout& at, SettingWriter& out) {
  const describe::Precision precision = spoken_precision(at);
  if (precision != describe::Precision::kFp32) {
    out.flag(precision == describe::Precision::kBf16 ? kBf16 : kFp16, true);
    if (describe::word_of<describe::Storage>(kGradientTypes, at.gradients) != "?") {
      out.text(kGradientType, describe::word_of<describe::Storage>(kGradientTypes, at.gradients));
    }
  }
  const bool narrow =
      precision == describe::Precision::kBf16 && at.optimizer.master == describe::Storage::kBf16;
  if (narrow) {
    out.flag(kBf16Masters, true);
    out.flag(kBf16States, at.optimizer.first_moment == describe::Storage::kBf16);
  }
  const std::string_view kind =
      describe::word_of<describe::OptimizerKind>(kOptimizers, at.optimizer.kind);
  out.text(kOptimizerType, kind == "?" ? "AdamW" : kind);
}

void read_formats(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const bool bf16 = reader.flag(kBf16).value_or(reader.flag(kBf16Alias).value_or(false));
  const bool fp16 = reader.flag(kFp16).value_or(false);
  at.precision = bf16   ? describe::Precision::kBf16
                 : fp16 ? describe::Precision::kFp16
                        : describe::Precision::kFp32;
  reader.fact(
      "precision",
      std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords, at.precision)),
      bf16 ? (reader.find(kBf16) != nullptr ? kBf16 : kBf16Alias) : kFp16);
  const Formats formats = formats_of(at.precision, at.zero);
  at.parameters = formats.parameters;
  at.gradients = formats.gradients;
  if (at.precision != describe::Precision::kFp32) {
    at.gradients =
        reader.word<describe::Storage>(kGradientType, kGradientTypes).value_or(formats.gradients);
    reader.fact(
        "gradients",
        std::string(describe::word_of<describe::Storage>(describe::kStorageWords, at.gradients)),
        kGradientType);
  }
  const auto kind = reader.word<describe::OptimizerKind>(kOptimizerType, kOptimizers);
  at.optimizer = describe::default_optimizer(kind.value_or(describe::OptimizerKind::kAdam));
  at.optimizer.master = formats.master;
  if (bf16 && reader.flag(kBf16Masters).value_or(false)) {
    at.optimizer.master = describe::Storage::kBf16;
    if (reader.flag(kBf16States).value_or(false)) {
      const auto narrowed = [](describe::Storage state) {
        return state == describe::Storage::kNone ? state : describe::Storage::kBf16;
      };
      at.optimizer.first_moment = narrowed(at.optimizer.first_moment);
      at.optimizer.second_moment = narrowed(at.optimizer.second_moment);
    }
  }
  const std::string device = reader.text(kOffloadOptimizer).value_or("none");
  at.optimizer.offload = at.zero != describe::Zero::kNone && device != "none";
  if (device == "nvme") {
    reader.unresolved(kOffloadOptimizer, "states on a disk are read as in host memory");
  }
  const std::string_view key =
      reader.find(kOptimizerType) != nullptr ? kOptimizerType : kOffloadOptimizer;
  reader.fact("optimizer",
              std::string(describe::word_of<describe::OptimizerKind>(describe::kOptimizerWords,
                                                                     at.optimizer.kind)),
              key);
}

}  // namespace sextant::emit::deepspeed
