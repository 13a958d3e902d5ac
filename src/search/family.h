// Everything under one shape of the space: branch and bound inside it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/best_plans.h"
#include "search/pipeline_floor.h"

namespace sextant::search {

// A worker of the search: its own caches, its own count. One a thread.
class Explorer {
 public:
  explicit Explorer(const Space& space);

  // Computing alone, nothing recomputed: no step of the shape is faster.
  Seconds compute_floor(const Shape& shape);
  // A few likely layouts of the shape, so that the search begins with a bound.
  void try_some(const Shape& shape, BestPlans& best);
  // All layouts of the shape that could change `best`.
  void explore(const Shape& shape, Seconds compute_floor, BestPlans& best, Settled& settled);

  [[nodiscard]] const Calls& calls() const { return leaf_.calls(); }

 private:
  static constexpr std::size_t kHiddenSets = 16;  // tp, p2p, ep, cp
  // A pipeline and a way to deal the layers to it.
  struct Cut {
    Seconds floor;  // nothing recomputed
    std::size_t pipeline = 0;
    std::size_t split = 0;
  };
  // A policy and a sharding of a cut.
  struct Choice {
    Seconds floor;
    const SwitchGroup* group = nullptr;
    const Sharding* sharding = nullptr;
  };
  [[nodiscard]] double share(const Shape& shape) const;
  // Of a policy where these are hidden; `layout`'s shape and variant count.
  const step::StepFloor& floor_of(const describe::Layout& layout, std::size_t policy,
                                  const std::vector<describe::Overlap>& hidden);
  void explore(const describe::Layout& layout, BestPlans& best, Settled& settled);
  void explore_cut(describe::Layout& layout, const Pipeline& pipeline, std::size_t split,
                   BestPlans& best, Settled& settled);
  Seconds floor_of(const SwitchGroup& group, const Pipeline& pipeline,
                   const std::vector<std::int64_t>& held, const describe::Layout& layout);
  void try_policies(describe::Layout& layout, BestPlans& best);
  bool fits_at_all(describe::Layout& layout, const std::vector<SwitchGroup>& groups,
                   std::size_t split, const Sharding& sharding);
  [[nodiscard]] bool knows_floor(const SwitchGroup& group, const describe::Layout& layout) const;
  // Shardings that need the same memory have the same number.
  static constexpr std::size_t kShardingKinds = 16;
  static std::size_t kind_of(const Sharding& sharding);
  // A superset of its modules did not fit.
  void note_unfit(const SwitchGroup& group, const Sharding& sharding);
  [[nodiscard]] bool is_known_unfit(const SwitchGroup& group, const Sharding& sharding) const;
  bool fits_with(describe::Layout& layout, const SwitchGroup& group, std::size_t split,
                 const Sharding& sharding);
  [[nodiscard]] static const std::vector<describe::Overlap>& hidden_in(
      const describe::Layout& layout, const SwitchGroup& group);
  // What a device needs depends neither on the order of ranks nor on how messages travel.
  bool fits(const describe::Layout& layout, const SwitchGroup& group, std::size_t split,
            const Sharding& sharding);
  void time_all(describe::Layout& layout, const Sharding& sharding, BestPlans& best,
                Settled& settled);
  [[nodiscard]] std::int64_t microbatches(const describe::Layout& layout) const;
  // The fewest layers that the second rank of a pipeline of the space holds (the first, where there
  // is no third), and the fewest it keeps activations of, by block.
  struct Lightest {
    bool any = false;  // is there such a pipeline?
    std::vector<std::int64_t> layers;
    std::vector<std::int64_t> alive;
  };
  void lower_to_cut(const describe::Layout& layout, const std::vector<std::int64_t>& held,
                    Lightest& least) const;
  const Lightest& lightest(const describe::Layout& layout);
  // Can no layout with the layout's shape, sp and pp fit? A rank that holds least does not.
  bool is_too_large(const describe::Layout& layout, const std::vector<SwitchGroup>& groups);
  bool is_too_large(const describe::Layout& layout);  // with any pp

  Space space_;
  Leaf leaf_;
  std::unordered_map<std::uint64_t, bool> fits_;                        // of the shape explored
  std::map<std::pair<std::int64_t, std::int64_t>, Lightest> lightest_;  // by pp and microbatches
  std::map<std::pair<std::int64_t, bool>, bool> too_large_;  // by pp and sp, of the shape explored
  bool passes_alone_;
  std::vector<describe::Overlap> hides_most_;
  PipelineFloor pipeline_floor_;
  // Of the layout explored, by policy (Choices::recompute, then nothing recomputed) and by what is
  // hidden inside passes.
  std::vector<std::array<std::optional<step::StepFloor>, kHiddenSets>> floors_;
  std::vector<Cut> cuts_;
  std::vector<Choice> order_;
  std::vector<std::pair<std::size_t, std::uint32_t>> unfit_;  // of the cut: sharding and modules
};

}  // namespace sextant::search
