// Alpa's intra-operator step: how the devices of a stage share each group of operators, as an
// integer linear program.
//
// Groups are the mixer (attention) and the feed-forward part of each kind of layer, the embedding,
// and the head with its loss. On a logical mesh dp × tp, a group's microbatch is split over dp; the
// tp devices share it by its weights, by sequences, or not at all. Between groups that differ
// activations are sent anew. One 0/1 variable a group and way, one of each group is 1; products of
// neighbours are linear through variables of the edge (Alpa's section 4.2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/leaf.h"

namespace sextant::search {

enum class GroupSplit : std::uint8_t {
  kTensor,      // weights over tp
  kBatch,       // sequences over tp as well: dp · tp replicas
  kReplicated,  // every one of tp does the same
};
inline constexpr std::size_t kGroupSplits = 3;

// Forward and backward of a microbatch; nothing: cannot be split that way.
using SplitCosts = std::array<std::optional<Seconds>, kGroupSplits>;

struct GroupCosts {
  struct Layer {
    std::optional<SplitCosts> mixer;  // nothing: the layer has none
    std::optional<SplitCosts> ffn;
  };
  std::vector<Layer> blocks;  // of each of Model::blocks
  SplitCosts embedding;
  SplitCosts head;
  // To send activations from a group split one way to one split the other, and gradients back.
  std::array<std::array<Seconds, kGroupSplits>, kGroupSplits> resend{};
  Calls calls;
};

// On tp devices, priced by the leaf: models of one group in three stages, of which the middle one
// is the group alone.
GroupCosts group_costs(const Problem& problem, std::int64_t tp);

// What a run of layers holds: all that its program depends on.
struct RunContent {
  std::vector<std::int64_t> blocks;                     // layers of each of Model::blocks
  std::map<std::pair<int, int>, std::int64_t> follows;  // layers of one block after another
  int first = 0;                                        // block of the first and last layer
  int last = 0;
  bool embedding = false;
  bool head = false;
  auto operator<=>(const RunContent&) const = default;
};
// Of layers [first, last).
RunContent run_content(const describe::Model& model, std::int64_t first, std::int64_t last);

struct IntraOpPlan {
  bool all_by_tensor = true;
  Seconds time;  // of a microbatch
};
// Solved with CBC. REQUIRES: every group can be split in at least one way.
IntraOpPlan solve_intra_op(const GroupCosts& costs, const RunContent& content);

}  // namespace sextant::search
