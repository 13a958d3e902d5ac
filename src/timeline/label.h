// What the spans of a Timeline are: said once, however often it happens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.h"
#include "base/ids.h"
#include "base/units.h"

namespace sextant::timeline {

enum class SpanKind : std::uint8_t {
  kCompute,        // a kernel that computes
  kCommunication,  // a collective or point-to-point transfer
  kCopy,           // memory copy or set, host to device, device to host
  kHost,           // work on the CPU: launch, data loading, Python
  kIdle,           // known idle (a bubble), where the source says so
  kMark,           // a range drawn by a person or a framework: step, microbatch
};
inline constexpr std::size_t kSpanKinds = 6;
std::string_view name_of(SpanKind kind);

// Number format of the elements that a collective carries.
enum class ElementType : std::uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBfloat16,
  kFloat8E4m3,
  kFloat8E5m2,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8,
  kBool,
};
struct ElementFormat {
  ElementType type;
  std::string_view torch;  // c10::ScalarType's name, which PyTorch's profiles give
  Bytes size;              // of one element
};
inline constexpr std::array<ElementFormat, 12> kElementFormats{
    {{ElementType::kFloat64, "Double", 8_B},
     {ElementType::kFloat32, "Float", 4_B},
     {ElementType::kFloat16, "Half", 2_B},
     {ElementType::kBfloat16, "BFloat16", 2_B},
     {ElementType::kFloat8E4m3, "Float8_e4m3fn", 1_B},
     {ElementType::kFloat8E5m2, "Float8_e5m2", 1_B},
     {ElementType::kInt64, "Long", 8_B},
     {ElementType::kInt32, "Int", 4_B},
     {ElementType::kInt16, "Short", 2_B},
     {ElementType::kInt8, "Char", 1_B},
     {ElementType::kUint8, "Byte", 1_B},
     {ElementType::kBool, "Bool", 1_B}}};
const ElementFormat& format_of(ElementType type);

// Ranks that communicate with one another: a process group of a profile, an axis of a layout. Two
// groups of one name are told apart by their ranks, where these are known.
struct Group {
  std::string name;  // as the source says it: "tp", "0"
  std::optional<std::int64_t> size = std::nullopt;
  std::vector<RankId> ranks = {};  // empty: not known
  std::string description = {};    // what it is for, as the source says: "TENSOR_MODEL_PARALLEL"
  bool operator==(const Group&) const = default;
};
using GroupId = Id<struct GroupTag>;

// What one rank does in a collective or a message. On different ranks, spans with the same group,
// sequence number and operation are the same collective.
struct Collective {
  // Nothing: none of those that we have words for (a barrier), or not known.
  std::optional<CollectiveOp> op = std::nullopt;
  std::string word = {};  // the source's own, "_allgather_base"; empty: there is none
  std::optional<ElementType> element = std::nullopt;
  std::optional<GroupId> group = std::nullopt;  // of the Timeline that holds the label
  // This rank's buffers, what it reads and what it writes: of an all-gather, output = size · input.
  std::optional<Bytes> input = std::nullopt;
  std::optional<Bytes> output = std::nullopt;
  // Of a message from one rank to another.
  std::optional<RankId> sender = std::nullopt;
  std::optional<RankId> receiver = std::nullopt;
  bool operator==(const Collective&) const = default;
};

// What a compiler or framework ran it for, as the source says: XLA's operator "fusion.12" of
// category "loop fusion" in module "jit_train_step", PyTorch's "aten::mm".
struct Operation {
  std::string name;
  std::string category = {};  // empty: not said
  std::string module = {};    // empty: not said
  bool operator==(const Operation&) const = default;
};

// What an operator or a kernel does, where its name tells (data/profile/operators.csv, names.csv).
enum class OperatorUse : std::uint8_t {
  kProduct,  // of matrices
  kConvolution,
  kAttention,  // fused: its scores are never written
  kSoftmax,
  kNorm,
  kElementwise,
  kReduction,
  kCopy,  // of elements, their order or format changed
  kEmbedding,
  kLoss,
  kUpdate,  // of parameters, by a fused optimizer
};
inline constexpr std::size_t kOperatorUses = 11;
std::string_view name_of(OperatorUse use);

// What multiplies in a kernel of products.
enum class ProductUnit : std::uint8_t {
  kVector,      // the cores that add
  kTensorTf32,  // matrix units, of 32-bit elements of which 19 bits count
  kTensor,      // matrix units
};
inline constexpr std::size_t kProductUnits = 3;
std::string_view name_of(ProductUnit unit);  // "vector", "tf32", "tensor"

struct Tensor {
  std::vector<std::int64_t> dims;  // empty: one number
  std::optional<ElementType> element = std::nullopt;
  auto operator<=>(const Tensor&) const = default;

  [[nodiscard]] double elements() const {
    double product = 1.0;
    for (const std::int64_t dim : dims) {
      product *= static_cast<double>(dim);
    }
    return product;
  }
};

// Of training, as a compiler's names tell it.
enum class CallPass : std::uint8_t { kForward, kAgain, kBackward };

// A call of an operator, or a kernel, as far as names and the framework's profiler tell.
struct OperatorCall {
  std::optional<OperatorUse> use = std::nullopt;
  std::optional<ProductUnit> unit = std::nullopt;
  std::vector<Tensor> inputs = {};   // but numbers; empty: not recorded
  std::vector<Tensor> outputs = {};  // where the source says them
  std::optional<CallPass> pass = std::nullopt;
  bool is_differentiated = false;  // recorded by autograd, for a backward pass to come
  bool operator==(const OperatorCall&) const = default;
};

// What happened. Where something is not known there is nothing, which is not zero.
struct Label {
  SpanKind kind = SpanKind::kCompute;
  std::string name;
  std::optional<Bytes> bytes = std::nullopt;  // of a collective, the larger of its buffers
  std::optional<Flops> flops = std::nullopt;
  std::optional<Collective> collective = std::nullopt;
  std::optional<Operation> operation = std::nullopt;
  std::optional<OperatorCall> call = std::nullopt;
  bool operator==(const Label&) const = default;
};
using LabelId = Id<struct LabelTag>;

// Equal values hash alike.
std::size_t hash_of(const Group& group);
std::size_t hash_of(const Label& label);
// What one takes where it is stored, its text and lists included.
std::size_t stored_bytes(const Group& group);
std::size_t stored_bytes(const Label& label);

}  // namespace sextant::timeline
