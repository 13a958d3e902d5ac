// What XLA compiled: a module of computations of instructions, as much of it as a profile's
// operators are named, counted and grouped by. Read from the HloProto that profiles carry.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "timeline/recording.h"

namespace sextant::profile {

class Wire;

// XLA's numbers of its element types. Source: xla/xla_data.proto, PrimitiveType.
enum class HloType : std::uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kC64 = 15,
  kBf16 = 16,
  kC128 = 18,
  kF8e5m2 = 19,
  kF8e4m3fn = 20,
};
// Bits of an element; 0 where it has none that we know.
int bits_of(int type);
std::optional<timeline::ElementType> element_of(int type);

// An array. A tuple's are its leaves in order.
struct HloArray {
  int type = 0;
  std::vector<std::int64_t> dimensions;
  [[nodiscard]] double elements() const;
  [[nodiscard]] double bytes() const;
};
using HloShape = std::vector<HloArray>;

struct HloConvolution {
  std::int64_t kernel_output = 0;  // number of the kernel's dimension
};

struct HloInstruction {
  std::int64_t id = 0;
  std::string name;
  std::string opcode;
  HloShape shape;
  std::vector<std::int64_t> operands;     // ids
  std::vector<std::int64_t> called;       // ids of computations
  std::string fusion_kind;                // "kLoop"
  std::string target;                     // of a custom call
  std::string op_name;                    // the framework's: "jit(loss)/dot_general"
  std::int64_t window = 1;                // elements of a window
  std::vector<std::int64_t> contracting;  // dimensions of the left operand
  std::optional<HloConvolution> convolution = std::nullopt;
  bool is_causal = false;  // attention whose upper half is masked
  // Of collectives.
  std::vector<std::vector<std::int64_t>> groups;  // ids of replicas, partitions or both
  std::int64_t channel = 0;
  bool uses_global_ids = false;
  std::string sharding;  // as text, empty: none
};

struct HloComputation {
  std::int64_t id = 0;
  std::int64_t root = 0;
  std::vector<HloInstruction> instructions;
  std::vector<std::int64_t> schedule;                // ids in the order in which they run
  std::unordered_map<std::int64_t, std::size_t> at;  // id → place in `instructions`
  [[nodiscard]] const HloInstruction* find(std::int64_t instruction) const;
};

struct HloModule {
  std::string name;
  std::int64_t program = 0;  // as the profile numbers it
  std::int64_t entry = 0;
  std::map<std::int64_t, HloComputation> computations;
  std::unordered_map<std::string, const HloInstruction*> by_name;
  std::unordered_map<std::string, const HloComputation*> computation_of;  // by instruction's name
  std::int64_t replicas = 1;
  std::int64_t partitions = 1;
  // devices[partition][replica]; empty: not said.
  std::vector<std::vector<std::int64_t>> devices;
  std::string mesh;  // "data=2,tensor=4"; empty: not said
};

// What modules of one profile may hold together.
struct HloRoom {
  std::int64_t instructions = 4'000'000;
  std::int64_t numbers = 50'000'000;  // dimensions, operands, ranks of groups
  std::int64_t text = 512'000'000;    // bytes of names
  std::int64_t left_out = 0;          // what found no room
};

// The module of an HloProto. Nothing where there is none.
std::optional<HloModule> read_hlo(Wire& proto, HloRoom& room);
// Fills what is found by name; to be called where the module has come to rest.
void index_by_name(HloModule& module);

}  // namespace sextant::profile
