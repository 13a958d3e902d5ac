// Which axis of the layout a group's communication is for: by what the source calls the group, else
// by which ranks it has and what they do in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metrics/summary.h"
#include "step/step_model.h"

namespace sextant::diagnose {

using step::Axis;

// By the words of a name: Megatron's (TENSOR_MODEL_PARALLEL_GROUP), those of PyTorch's device
// meshes (mesh_dp_shard), DeepSpeed's. Nothing where they say none, or several that don't go
// together (MODEL_PARALLEL_GROUP is tp and pp).
std::optional<Axis> axis_said(std::string_view name);

// What a rank did in one of its groups.
struct GroupUse {
  std::vector<RankId> ranks = {};  // of the group, in order; empty: not said
  std::int64_t messages = 0;       // from one rank to another
  std::int64_t exchanges = 0;      // all-to-all
  std::int64_t others = 0;         // all-reduce, all-gather, reduce-scatter …
  // Of the others, those that carry a megabyte or more.
  std::int64_t bulk = 0;
  std::int64_t bulk_reductions = 0;  // of these, all-reduces
  std::int64_t alike = 0;            // of those, the most of one size
};

// Of one rank's groups. Where all they do is messages it is pp, where it is all-to-all it is ep. Of
// two or more others with bulk, that of neighbouring ranks (0, 1, 2, 3) is tp and those that step
// over them (0, 4) are dp: so every framework places them, since tp needs the fastest links. Where
// one group alone carries bulk and all of it is all-reduces: activations have one shape in every
// layer, gradients come in buckets of this size and that. What it gathers too may be either axis.
std::vector<std::optional<Axis>> axes_inferred(const std::vector<GroupUse>& groups);

struct GroupAxis {
  std::optional<Axis> axis;  // nothing: neither said nor to be told
  bool is_said = false;      // by its name or description; else inferred
};
struct RankAxes {
  std::vector<GroupAxis> groups;  // as RankSummary::groups
  GroupAxis unnamed;              // of communication of which no group is said
  [[nodiscard]] const GroupAxis& of(const metrics::CollectiveInstance& one) const {
    return one.group < groups.size() ? groups[one.group] : unnamed;
  }
};
RankAxes rank_axes(const metrics::RankSummary& rank);

}  // namespace sextant::diagnose
