// Everything under one shape of the space: branch and bound inside it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/best_plans.h"
#include "search/pipeline_floor.h"

namespace sextant::search {

// A worker of the search: its own caches, its own count. One a thread.
class Explorer {
 public:
  // Of the options, what is made small.
  Explorer(const Space& space, const FindOptions& options);

  // Computing alone, nothing recomputed: no layout of the shape has a smaller value.
  Seconds compute_floor(const Shape& shape);
  // Layouts of the shape.
  double count(const Shape& shape);
  // A few likely layouts of the shape, so that the search begins with a bound.
  void try_some(const Shape& shape, BestPlans& best);
  // All layouts of the shape that could change `best`.
  void explore(const Shape& shape, Seconds compute_floor, BestPlans& best, Settled& settled);

  [[nodiscard]] const Calls& calls() const { return leaf_.calls(); }

 private:
  static constexpr std::size_t kHiddenSets = 16;  // tp, p2p, ep, cp
  // A policy and a sharding of a cut.
  struct Choice {
    Seconds floor;
    const SwitchGroup* group = nullptr;
    const Sharding* sharding = nullptr;
  };
  // What may be switched in a pipeline of the shape explored.
  struct Switches {
    const std::vector<SwitchGroup>* groups = nullptr;
    std::vector<Choice> may_fit;  // the others do not, however layers are dealt
    double count = 0.0;           // layouts of each cut
    double too_large = 0.0;       // of them, those that do not fit however layers are dealt
  };
  // A pipeline of the layout explored.
  struct Lane {
    Pipeline pipeline;
    const Switches* switches = nullptr;
  };
  // A lane and a way to deal the layers to it.
  struct Cut {
    Seconds floor;
    std::size_t lane = 0;
    std::size_t split = 0;
  };
  static constexpr std::size_t kInnerOrders = 3;
  [[nodiscard]] static std::size_t inner_order(const describe::Layout& layout);
  // Could a layout of the family, with at least this value, be recommended? Of its points those of
  // mesh, pipeline and cut count; `switched`: those of the layout's own switches too.
  [[nodiscard]] static bool may_be_simplest(const describe::Layout& layout, Seconds floor,
                                            BestPlans& best, bool switched = false);
  // Could one of the choice change anything? Changes switches of the layout.
  [[nodiscard]] bool may_matter(describe::Layout& layout, const Choice& choice, Seconds floor,
                                BestPlans& best) const;
  [[nodiscard]] double share(const Shape& shape) const;
  // Of a layout whose step takes at least `step`.
  [[nodiscard]] Seconds value_floor(Seconds step, const step::StepFloor& floor,
                                    const describe::Layout& layout) const;
  [[nodiscard]] Seconds cut_floor(const Pipeline& pipeline, const std::vector<std::int64_t>& held,
                                  const step::StepFloor& floor, const describe::Layout& layout);
  [[nodiscard]] static Seconds bound_of(const describe::Layout& layout, BestPlans& best);
  bool is_too_slow(const describe::Layout& layout, double microbatches, Seconds bound);
  // Of a policy where these are hidden; `layout`'s shape, variant and inner_order() count.
  // A microbatch that takes `enough` or longer is all of it that is worked out.
  const step::StepFloor& floor_of(const describe::Layout& layout, std::size_t policy,
                                  const std::vector<describe::Overlap>& hidden,
                                  Seconds enough = step::StepFloors::kNever);
  void explore(const describe::Layout& layout, BestPlans& best, Settled& settled);
  void explore_cut(describe::Layout& layout, const Lane& lane, std::size_t split, BestPlans& best,
                   Settled& settled);
  // Below every choice that may fit.
  const step::StepFloor& floor_of(const Switches& switches, const describe::Layout& layout);
  const Switches& switches_in(const describe::Layout& layout);
  bool may_fit(const describe::Layout& layout, const SwitchGroup& group, const Sharding& sharding);
  Seconds floor_of(const SwitchGroup& group, const Pipeline& pipeline,
                   const std::vector<std::int64_t>& held, const describe::Layout& layout);
  void try_policies(describe::Layout& layout, BestPlans& best);
  bool fits_at_all(describe::Layout& layout, const Switches& switches, std::size_t split,
                   const Sharding& sharding);
  // Does it with nothing computed again? Then it does with any modules computed again.
  bool fits_plain(describe::Layout& layout, const Switches& switches, std::size_t split,
                  const Sharding& sharding);
  [[nodiscard]] bool knows_parts(const SwitchGroup& group, const describe::Layout& layout) const;
  [[nodiscard]] bool knows_floor(const SwitchGroup& group, const describe::Layout& layout) const;
  // Shardings that need the same memory have the same number.
  static constexpr std::size_t kShardingKinds = 16;
  std::array<bool, kShardingKinds> fitting_plain(const describe::Layout& layout,
                                                 const std::vector<SwitchGroup>& groups);
  void fill(const describe::Layout& layout, Switches& switches);
  static std::size_t kind_of(const Sharding& sharding);
  static std::uint64_t kept_bits(const describe::Layout& layout);
  // An order of a mesh that shards inside a slice otherwise than the first.
  [[nodiscard]] bool has_other_order(const describe::Layout& layout) const;
  // The same where orders of ranks differ.
  [[nodiscard]] std::uint64_t kind_of(const describe::Layout& layout,
                                      const Sharding& sharding) const;
  // A superset of its modules did not fit.
  void note_unfit(const SwitchGroup& group, const Sharding& sharding);
  [[nodiscard]] bool is_known_unfit(const SwitchGroup& group, const Sharding& sharding) const;
  bool fits_with(describe::Layout& layout, const SwitchGroup& group, std::size_t split,
                 const Sharding& sharding);
  [[nodiscard]] static const std::vector<describe::Overlap>& hidden_in(
      const describe::Layout& layout, const SwitchGroup& group);
  // What a device needs does not depend on how messages travel, and on the order of ranks only by
  // what is sharded inside a slice.
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
  // Can no layout with the layout's shape, kept_bits() and pp fit? A rank that holds least does
  // not.
  bool is_too_large(const describe::Layout& layout, const std::vector<SwitchGroup>& groups);
  bool is_too_large(const describe::Layout& layout);  // with any pp

  Space space_;
  double weight_;  // of computing
  Leaf leaf_;
  std::unordered_map<std::uint64_t, bool> fits_;                        // of the shape explored
  std::unordered_map<std::uint64_t, bool> may_fit_;                     // of it too
  std::map<std::pair<std::int64_t, std::int64_t>, Lightest> lightest_;  // by pp and microbatches
  // By pp and kept_bits(), of the shape explored.
  std::map<std::pair<std::int64_t, std::uint64_t>, bool> too_large_;
  std::size_t whole_;  // of Choices::recompute: all layers computed again
  bool passes_alone_;
  std::vector<describe::Overlap> hides_most_;
  PipelineFloor pipeline_floor_;
  // Of the layout explored, by policy (Choices::recompute, then nothing recomputed), inner_order()
  // and what is hidden inside passes.
  struct Floor {
    std::uint64_t layout = 0;  // layouts_ when it was made
    step::StepFloor floor;
  };
  std::vector<std::array<Floor, kHiddenSets>> floors_;
  std::uint64_t layouts_ = 0;  // explored
  // Of the shape explored, by pp, kept_bits() and switches.
  std::map<std::tuple<std::int64_t, std::uint64_t, bool, const void*>, Switches> switches_;
  std::vector<Lane> lanes_;
  step::StepFloor lowest_;  // of a lane's policies
  step::StepFloor other_;
  std::vector<Cut> cuts_;
  std::vector<Choice> order_;
  // Of a choice's layouts that were timed: what they hide, and what hiding less takes at least.
  std::vector<std::pair<std::uint8_t, Seconds>> least_;
  std::vector<std::pair<std::size_t, std::uint32_t>> unfit_;  // of the cut: sharding and modules
};

}  // namespace sextant::search
