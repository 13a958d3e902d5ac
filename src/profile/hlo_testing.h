// Small HLO modules as tests make them. Source of the fields' numbers: xla/service/hlo.proto.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "profile/hlo_module.h"
#include "profile/wire_testing.h"

namespace sextant::profile {

constexpr int kTestBf16 = static_cast<int>(HloType::kBf16);
constexpr int kTestF32 = static_cast<int>(HloType::kF32);

inline WireWriter array_shape(int type, std::initializer_list<std::int64_t> dimensions) {
  WireWriter shape;
  shape.number(2, type).packed(3, dimensions);
  return shape;
}

struct TestInstruction {
  std::int64_t id = 0;
  std::string name;
  std::string opcode;
  WireWriter shape;
  std::vector<std::int64_t> operands = {};
  WireWriter more = {};  // further fields
};

inline WireWriter instruction_proto(const TestInstruction& of) {
  WireWriter proto;
  proto.bytes(1, of.name).bytes(2, of.opcode).message(3, of.shape).number(35, of.id);
  for (const std::int64_t operand : of.operands) {
    proto.number(36, operand);
  }
  return WireWriter(proto).raw(of.more);
}

inline WireWriter computation_proto(std::int64_t id, const std::vector<TestInstruction>& all) {
  WireWriter proto;
  proto.number(5, id).number(6, all.back().id);
  for (const TestInstruction& each : all) {
    proto.message(2, instruction_proto(each));
  }
  return proto;
}

// Entry: the last computation, scheduled as written.
inline WireWriter hlo_proto(const std::string& name, const std::vector<WireWriter>& computations,
                            std::int64_t entry, const std::vector<std::int64_t>& schedule,
                            const WireWriter& more = {}) {
  WireWriter module;
  module.bytes(1, name);
  for (const WireWriter& computation : computations) {
    module.message(3, computation);
  }
  WireWriter sequence;
  for (const std::int64_t id : schedule) {
    sequence.number(1, id);
  }
  WireWriter order;
  order.number(1, entry).message(2, sequence);
  module.number(6, entry).message(7, WireWriter().message(1, order)).raw(more);
  return WireWriter().message(1, module);
}

inline HloModule module_of(const WireWriter& proto) {
  HloRoom room;
  std::optional<HloModule> module;
  read_held_wire(proto.text(), [&](Wire& fields) { module = read_hlo(fields, room); });
  if (!module) {
    throw std::runtime_error("no module");
  }
  return std::move(*module);
}

}  // namespace sextant::profile
