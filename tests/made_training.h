// PyTorch profiles of a training step on an H200 as they would be recorded with one fault, or
// without: made, not measured. A decoder of plain PyTorch, whose operators, shapes and kernels are
// those that PyTorch 2.11 would show; how long a kernel takes follows from its bytes and FLOPs at
// rates that such a device reaches, and each operator holds up the host for some microseconds.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::tests {

enum class MadeAttention : std::uint8_t { kFlash, kMath, kEager };
enum class MadeOptimizer : std::uint8_t { kFused, kForeach, kLoop };

struct MadeTraining {
  std::int64_t layers = 3, hidden = 2048, heads = 16, vocabulary = 32'000, length = 2048, batch = 8;
  bool is_single_precision = false;  // fp32
  bool has_tf32 = false;
  MadeAttention attention = MadeAttention::kFlash;
  MadeOptimizer optimizer = MadeOptimizer::kFused;
  bool recomputes = false;
  bool has_small_products = false;  // 64 narrow ones in place of one
  bool has_chain = false;           // an activation by its formula
  bool has_norm_parts = false;      // a norm by its formula
  bool has_relayouts = false;       // copies of queries there and back
  double clock = 1.0;               // of what the device runs at
  bool has_shapes = true;
};

// Two steps.
std::string made_training(const MadeTraining& made);

}  // namespace sextant::tests
