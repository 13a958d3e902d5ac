// What a pipeline rank's memory holds: bytes by item and moment.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "describe/words.h"

namespace sextant::cost {

enum class MemoryItem : std::uint8_t {
  kParameters,
  kGradients,
  kMaster,
  kMoments,
  kWeightCopies,     // quantised weights, placeholders of fused gradient accumulation
  kGathered,         // parameters gathered by FSDP
  kGradientBuffers,  // gradients before they are reduced, and the reduction's buffers
  kActivations,      // kept by layers, all microbatches in flight
  kCheckpoints,      // inputs of layers that are recomputed
  kRecomputed,       // activations of the layer being recomputed
  kLogits,           // kept from the loss for its backward
  kLossTemporaries,
  kBackwardTemporaries,
  kMessages,   // pipeline messages
  kWorkspace,  // libraries
  kRounding,   // blocks of the allocator that are larger than their tensors
};
inline constexpr std::array<describe::Word<MemoryItem>, 16> kMemoryItemWords{
    {{MemoryItem::kParameters, "parameters"},
     {MemoryItem::kGradients, "gradients"},
     {MemoryItem::kMaster, "master parameters"},
     {MemoryItem::kMoments, "optimizer moments"},
     {MemoryItem::kWeightCopies, "weight copies"},
     {MemoryItem::kGathered, "gathered parameters"},
     {MemoryItem::kGradientBuffers, "gradient buffers"},
     {MemoryItem::kActivations, "activations"},
     {MemoryItem::kCheckpoints, "checkpoints"},
     {MemoryItem::kRecomputed, "recomputed activations"},
     {MemoryItem::kLogits, "logits"},
     {MemoryItem::kLossTemporaries, "loss temporaries"},
     {MemoryItem::kBackwardTemporaries, "backward temporaries"},
     {MemoryItem::kMessages, "pipeline messages"},
     {MemoryItem::kWorkspace, "workspace"},
     {MemoryItem::kRounding, "allocator rounding"}}};

enum class MemoryMoment : std::uint8_t { kIdle, kForward, kLoss, kBackward, kUpdate };
inline constexpr std::array<describe::Word<MemoryMoment>, 5> kMemoryMomentWords{
    {{MemoryMoment::kIdle, "after the optimizer step"},
     {MemoryMoment::kForward, "at the end of forward"},
     {MemoryMoment::kLoss, "in the loss's backward"},
     {MemoryMoment::kBackward, "in a layer's backward"},
     {MemoryMoment::kUpdate, "before the optimizer step"}}};

// Bytes by item.
struct MemoryItems {
  std::array<Bytes, kMemoryItemWords.size()> bytes{};
  Bytes& operator[](MemoryItem item) { return bytes[static_cast<std::size_t>(item)]; }
  Bytes operator[](MemoryItem item) const { return bytes[static_cast<std::size_t>(item)]; }
  // In four sums side by side: a search adds up millions of these.
  [[nodiscard]] Bytes total() const {
    static_assert(kMemoryItemWords.size() % 4 == 0);
    Bytes a;
    Bytes b;
    Bytes c;
    Bytes d;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      a += bytes[i];
      b += bytes[i + 1];
      c += bytes[i + 2];
      d += bytes[i + 3];
    }
    return (a + b) + (c + d);
  }
};

struct RankMemory {
  std::int64_t pipeline_rank = 0;
  std::array<MemoryItems, kMemoryMomentWords.size()> moments{};
  MemoryItems after_forward{};  // activations and logits kept, no temporaries
  MemoryMoment fullest = MemoryMoment::kIdle;
  Bytes allocated;  // at the fullest moment
  Bytes reserved;
  Bytes device;
  // Of `device`, what fragmentation doesn't touch: FSDP's side streams, the context.
  Bytes apart;
  // Standard deviation of the logarithm of the rest: how much fragmentation differs from one job to
  // the next, and where a framework's tensors were not measured, how far they may be.
  double spread = 0.0;
  // What a rejection rests on: allocated and the context, less what is not known of a framework
  // that was not measured (which element-wise results it keeps, and MemoryFacts::certainty);
  // Megatron-DeepSpeed below ZeRO-3: `device`. The allocator gives cached blocks back before it
  // fails, so what is reserved need not fit: between `least` and safety stand odds (fit_odds).
  Bytes least;
  [[nodiscard]] MemoryItems& at(MemoryMoment moment) {
    return moments[static_cast<std::size_t>(moment)];
  }
  [[nodiscard]] const MemoryItems& at(MemoryMoment moment) const {
    return moments[static_cast<std::size_t>(moment)];
  }
  [[nodiscard]] const MemoryItems& peak() const { return at(fullest); }
};

}  // namespace sextant::cost
