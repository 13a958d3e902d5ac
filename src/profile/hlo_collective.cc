#include "profile/hlo_collective.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace sextant::profile {
namespace {

struct HloWord {
  std::string_view word;
  std::optional<CollectiveOp> op;
};
// A word is the beginning of a name or an opcode; the longer ones stand first.
constexpr std::array<HloWord, 12> kHloWords{{{"all-reduce", CollectiveOp::kAllReduce},
                                             {"all-gather", CollectiveOp::kAllGather},
                                             {"reduce-scatter", CollectiveOp::kReduceScatter},
                                             {"ragged-all-to-all", CollectiveOp::kAllToAll},
                                             {"all-to-all", CollectiveOp::kAllToAll},
                                             {"collective-permute", CollectiveOp::kSendReceive},
                                             {"collective-broadcast", CollectiveOp::kBroadcast},
                                             {"send-done", CollectiveOp::kSendReceive},
                                             {"recv-done", CollectiveOp::kSendReceive},
                                             {"send", CollectiveOp::kSendReceive},
                                             {"recv", CollectiveOp::kSendReceive},
                                             {"megascale", std::nullopt}}};

// Flattened, or of replicas or partitions: the devices that the ids stand for, for the given one.
// Empty where it is in none, or the module does not say.
std::vector<RankId> ranks_of_group(const HloModule& module, const HloInstruction& instruction,
                                   std::int64_t device) {
  std::int64_t partition = 0;
  std::int64_t replica = 0;
  bool is_found = module.devices.empty();
  for (std::size_t p = 0; p < module.devices.size(); ++p) {
    for (std::size_t r = 0; r < module.devices[p].size(); ++r) {
      if (module.devices[p][r] == device) {
        partition = static_cast<std::int64_t>(p);
        replica = static_cast<std::int64_t>(r);
        is_found = true;
      }
    }
  }
  if (!is_found) {
    return {};
  }
  // Source: xla/xla_data.proto, CollectiveOpGroupMode.
  const std::int64_t partitions = std::max<std::int64_t>(module.partitions, 1);
  const bool is_partitions = instruction.channel > 0 && !instruction.uses_global_ids;
  const std::int64_t own = module.devices.empty()        ? device
                           : instruction.uses_global_ids ? replica * partitions + partition
                           : is_partitions               ? partition
                                                         : replica;
  const auto device_of = [&](std::int64_t id) -> std::optional<std::int64_t> {
    if (module.devices.empty()) {
      return id;
    }
    const std::int64_t p = instruction.uses_global_ids ? id % partitions
                           : is_partitions             ? id
                                                       : partition;
    const std::int64_t r = instruction.uses_global_ids ? id / partitions
                           : is_partitions             ? replica
                                                       : id;
    if (p < 0 || r < 0 || p >= static_cast<std::int64_t>(module.devices.size()) ||
        r >= static_cast<std::int64_t>(module.devices[static_cast<std::size_t>(p)].size())) {
      return std::nullopt;
    }
    return module.devices[static_cast<std::size_t>(p)][static_cast<std::size_t>(r)];
  };
  for (const std::vector<std::int64_t>& group : instruction.groups) {
    if (std::find(group.begin(), group.end(), own) == group.end()) {
      continue;
    }
    std::vector<RankId> ranks;
    for (const std::int64_t id : group) {
      const auto found = device_of(id);
      if (!found) {
        return {};
      }
      ranks.push_back({*found});
    }
    return ranks;
  }
  return {};
}

// Its groups, where they are all of one size, or that of the rank is known.
std::optional<timeline::Group> hlo_group(const HloModule& module, const HloInstruction& instruction,
                                         std::int64_t device) {
  timeline::Group group;
  group.ranks = ranks_of_group(module, instruction, device);
  if (!group.ranks.empty()) {
    group.size = static_cast<std::int64_t>(group.ranks.size());
    return group;
  }
  if (instruction.groups.empty()) {
    // No groups: everybody.
    if (module.devices.empty()) {
      return std::nullopt;
    }
    for (const std::vector<std::int64_t>& replicas : module.devices) {
      for (const std::int64_t each : replicas) {
        group.ranks.push_back({each});
      }
    }
    std::sort(group.ranks.begin(), group.ranks.end());
    group.size = static_cast<std::int64_t>(group.ranks.size());
    return group;
  }
  const std::size_t size = instruction.groups.front().size();
  for (const std::vector<std::int64_t>& other : instruction.groups) {
    if (other.size() != size) {
      return std::nullopt;
    }
  }
  group.size = static_cast<std::int64_t>(size);
  return group;
}

double bytes_of_leaves(const HloShape& shape) {
  double sum = 0.0;
  for (const HloArray& array : shape) {
    sum += array.bytes();
  }
  return sum;
}

// An instruction of a computation.
struct HloPlace {
  const HloComputation* where = nullptr;
  const HloInstruction* instruction = nullptr;
};

// The collective itself: of `x-done` its start, of an asynchronous one or a fusion the one inside.
HloPlace collective_itself(const HloModule& module, HloPlace place) {
  constexpr int kDeepestWrap = 4;
  for (int level = 0; level < kDeepestWrap; ++level) {
    const HloInstruction& instruction = *place.instruction;
    if (instruction.opcode.ends_with("-done") && !instruction.operands.empty()) {
      const HloInstruction* start = place.where->find(instruction.operands.front());
      if (start == nullptr) {
        return {};
      }
      place.instruction = start;
      continue;
    }
    if (collective_of_word(instruction.opcode)) {
      return place;
    }
    const bool wraps = instruction.opcode.starts_with("async") || instruction.opcode == "fusion";
    const auto called = wraps && !instruction.called.empty()
                            ? module.computations.find(instruction.called.front())
                            : module.computations.end();
    if (called == module.computations.end()) {
      return {};
    }
    place.where = &called->second;
    place.instruction = nullptr;
    for (const HloInstruction& inner : called->second.instructions) {
      if (collective_of_word(inner.opcode)) {
        place.instruction = &inner;
      }
    }
    if (place.instruction == nullptr) {
      return {};
    }
  }
  return {};
}

}  // namespace

std::optional<HloCollective> collective_of_word(std::string_view name_or_opcode) {
  for (const HloWord& known : kHloWords) {
    if (!name_or_opcode.starts_with(known.word)) {
      continue;
    }
    // "sendrecv" and "all-reduce_fusion" are words; "sender" is not.
    const std::string_view rest = name_or_opcode.substr(known.word.size());
    if (!rest.empty() && rest.front() >= 'a' && rest.front() <= 'z') {
      continue;
    }
    HloCollective collective{known.op, std::string(known.word)};
    if (rest.starts_with("-start") || rest.starts_with("-done")) {
      collective.word += rest.substr(0, rest.find('.'));
    }
    return collective;
  }
  return std::nullopt;
}

std::optional<HloCommunication> communication_of(const HloModule& module,
                                                 const HloComputation& where,
                                                 const HloInstruction& instruction,
                                                 std::int64_t device) {
  const HloPlace place = collective_itself(module, {&where, &instruction});
  if (place.instruction == nullptr) {
    return std::nullopt;
  }
  const HloInstruction& itself = *place.instruction;
  const auto known = collective_of_word(itself.opcode);
  HloCommunication found;
  found.collective.op = known->op;
  found.collective.word =
      collective_of_word(instruction.opcode) ? instruction.opcode : itself.opcode;
  double input = 0.0;
  for (const std::int64_t operand : itself.operands) {
    if (const HloInstruction* read = place.where->find(operand)) {
      input += bytes_of_leaves(read->shape);
      if (!found.collective.element && !read->shape.empty()) {
        found.collective.element = element_of(read->shape.front().type);
      }
    }
  }
  // A start gives its operands and its results: all-reduce-start its results alone.
  double output = bytes_of_leaves(itself.shape);
  if (itself.opcode.ends_with("-start") && itself.opcode != "all-reduce-start") {
    output = std::max(0.0, output - input);
  }
  if (known->op == CollectiveOp::kSendReceive && itself.opcode.ends_with("-start")) {
    output = input;
  }
  if (input > 0.0) {
    found.collective.input = Bytes(input);
  }
  if (output > 0.0) {
    found.collective.output = Bytes(output);
  }
  if (input > 0.0 || output > 0.0) {
    found.bytes = Bytes(std::max(input, output));
  }
  found.group = hlo_group(module, itself, device);
  return found;
}

}  // namespace sextant::profile
