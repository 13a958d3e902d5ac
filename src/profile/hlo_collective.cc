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

// Which devices the ids of an instruction's groups stand for, seen from one device. Source of the
// modes: xla/xla_data.proto, CollectiveOpGroupMode.
class GroupIds {
 public:
  GroupIds(const HloModule& module, const HloInstruction& instruction, std::int64_t device)
      : module_(module),
        is_flat_(instruction.uses_global_ids),
        is_partitions_(instruction.channel > 0 && !instruction.uses_global_ids),
        device_(device),
        is_found_(module.devices.empty()) {
    for (std::size_t p = 0; p < module.devices.size(); ++p) {
      const auto& replicas = module.devices[p];
      const auto at = std::find(replicas.begin(), replicas.end(), device);
      if (at != replicas.end()) {
        partition_ = static_cast<std::int64_t>(p);
        replica_ = at - replicas.begin();
        is_found_ = true;
      }
    }
  }
  [[nodiscard]] bool is_found() const { return is_found_; }
  // That of the device itself.
  [[nodiscard]] std::int64_t own() const {
    if (module_.devices.empty()) {
      return device_;
    }
    if (is_flat_) {
      return replica_ * module_.partitions + partition_;
    }
    return is_partitions_ ? partition_ : replica_;
  }
  [[nodiscard]] std::optional<RankId> rank_of(std::int64_t id) const {
    if (module_.devices.empty()) {
      return RankId{id};
    }
    std::int64_t partition = is_partitions_ ? id : partition_;
    std::int64_t replica = is_partitions_ ? replica_ : id;
    if (is_flat_) {
      partition = id % module_.partitions;
      replica = id / module_.partitions;
    }
    if (partition < 0 || partition >= static_cast<std::int64_t>(module_.devices.size())) {
      return std::nullopt;
    }
    const auto& replicas = module_.devices[static_cast<std::size_t>(partition)];
    return replica < 0 || replica >= static_cast<std::int64_t>(replicas.size())
               ? std::nullopt
               : std::optional(RankId{replicas[static_cast<std::size_t>(replica)]});
  }

 private:
  const HloModule& module_;
  bool is_flat_;
  bool is_partitions_;
  std::int64_t device_;
  bool is_found_;
  std::int64_t partition_ = 0;
  std::int64_t replica_ = 0;
};

// Of the group that the device is in. Empty where it is in none, or the module does not say.
std::vector<RankId> ranks_of_group(const HloModule& module, const HloInstruction& instruction,
                                   std::int64_t device) {
  const GroupIds ids(module, instruction, device);
  std::vector<RankId> ranks;
  if (!ids.is_found()) {
    return ranks;
  }
  const std::int64_t own = ids.own();
  const auto group = std::find_if(
      instruction.groups.begin(), instruction.groups.end(),
      [&](const auto& each) { return std::find(each.begin(), each.end(), own) != each.end(); });
  if (group == instruction.groups.end()) {
    return ranks;
  }
  for (const std::int64_t id : *group) {
    const auto rank = ids.rank_of(id);
    if (!rank) {
      return {};
    }
    ranks.push_back(*rank);
  }
  return ranks;
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
  if (!known) {
    return std::nullopt;
  }
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
