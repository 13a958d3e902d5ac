// Every legal layout of a problem, as a tree: shape, variant, pipeline, split, recomputation,
// sharding, what is hidden.
//
// A layout is in the space once: a switch that does nothing under the rest of it has its plain
// value. Which switches go together depends on a few facts of the layout only (SwitchKey), so they
// are worked out once for each set of facts, and families can be counted without being listed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/choices.h"

namespace sextant::search {

struct Shape {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;
  std::int64_t mbs = 1;
  bool operator==(const Shape&) const = default;
};

// What else a microbatch's work depends on, recomputation apart.
struct Variant {
  bool sp = false;
  describe::CpMethod cp_method = describe::CpMethod::kP2pRing;
  describe::Dispatcher dispatcher = describe::Dispatcher::kAllToAll;
  describe::Launch launch = describe::Launch::kEager;
};

struct Pipeline {
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  describe::Schedule schedule = describe::Schedule::k1f1b;
  std::array<describe::Axis, 5> order{};
};

// What is hidden as bits, and back.
std::uint8_t bits_of(const std::vector<describe::Overlap>& hidden);
const std::vector<describe::Overlap>& hidden_set(std::uint8_t of_bits);

// Sets of what a layout hides, a byte each: a space holds hundreds of thousands.
class HiddenSets {
 public:
  bool operator==(const HiddenSets&) const = default;
  void add(const std::vector<describe::Overlap>& hidden);
  // The largest first, else as they were added.
  void sort();
  [[nodiscard]] bool empty() const { return bits_.empty(); }
  [[nodiscard]] bool has(const std::vector<describe::Overlap>& hidden) const;
  [[nodiscard]] std::size_t size() const { return bits_.size(); }
  [[nodiscard]] const std::vector<describe::Overlap>& operator[](std::size_t i) const {
    return hidden_set(bits_[i]);
  }
  [[nodiscard]] std::uint8_t bits(std::size_t i) const { return bits_[i]; }
  [[nodiscard]] const std::vector<describe::Overlap>& front() const { return (*this)[0]; }
  [[nodiscard]] const std::vector<describe::Overlap>& back() const { return (*this)[size() - 1]; }

  class Iterator {
   public:
    Iterator(const HiddenSets& sets, std::size_t place) : sets_(&sets), place_(place) {}
    const std::vector<describe::Overlap>& operator*() const { return (*sets_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    const HiddenSets* sets_;
    std::size_t place_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

 private:
  std::vector<std::uint8_t> bits_;
};

// What replicas keep, and what of their and the other messages is hidden.
struct Sharding {
  describe::Zero zero = describe::Zero::kNone;
  bool inside = false;  // states are spread over a scale-up domain only
  bool reshard = true;
  HiddenSets hidden;  // the most first
  bool operator==(const Sharding&) const = default;
};

struct SwitchGroup {
  static constexpr std::size_t kNoPolicy = SIZE_MAX;
  describe::RecomputePolicy recompute;
  std::size_t policy = kNoPolicy;  // of Choices::recompute; none: a part of a stage's layers
  bool part = false;               // it counts the layers of a stage
  // No other policy needs less memory than the least of these.
  bool lean = false;
  // Modules computed again, a bit each; nothing where whole layers are. More of them never need
  // more memory.
  std::optional<std::uint32_t> modules;
  std::vector<Sharding> shardings;
  double count = 0.0;
  bool operator==(const SwitchGroup&) const = default;
};

class Space {
 public:
  // The problem must outlive it.
  explicit Space(const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Choices& choices() const { return choices_; }

  // Those that the devices and the batch can be divided into.
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<Variant>& variants(const Shape& shape);
  // A layout with shape and variant, one stage and plain switches: what the rest is set into.
  [[nodiscard]] describe::Layout layout_of(const Shape& shape, const Variant& variant) const;
  // Do devices and batch divide so?
  [[nodiscard]] bool divides(const describe::Layout& layout) const {
    return divides({layout.tp, layout.cp, layout.ep, layout.etp, layout.mbs}, layout.pp);
  }
  // The pipelines that a layout of layout_of() can run.
  std::vector<Pipeline> pipelines(const describe::Layout& layout);
  // Those of any layout, by pp: without an order of ranks.
  std::vector<Pipeline> chunkings(std::int64_t pp);
  static void set(const Pipeline& pipeline, describe::Layout& layout);
  // The ways to deal layers to so many stages.
  const std::vector<describe::PipelineSplit>& splits(std::int64_t stages);
  // For each of them, how many layers of each of Model::blocks each stage holds, stage by stage.
  const std::vector<std::vector<std::int64_t>>& held(std::int64_t stages);
  // Recomputation and switches under shape, variant, pipeline and split: the same list, and not
  // only an equal one, wherever they are the same.
  const std::vector<SwitchGroup>& switches(const describe::Layout& layout);
  void set(const Sharding& sharding, describe::Layout& layout) const;

  // Layouts under shape and variant.
  double count(const describe::Layout& layout);
  double count();

  // A layout of the space, legal and written in its one way?
  bool holds(const describe::Layout& layout);

 private:
  using SwitchKey = std::uint64_t;
  using SwitchList = std::shared_ptr<const std::vector<SwitchGroup>>;
  struct Splits {
    bool made = false;
    std::vector<describe::PipelineSplit> ways;
    std::vector<std::vector<std::int64_t>> held;
  };
  // Schedules that run one chunk a rank, or several.
  enum class Chunks { kOne, kSeveral };
  Splits& splits_into(std::int64_t stages);
  // What switches depend on, in bits: of the variant, and of the rest with the layers of a stage
  // lowest.
  static constexpr unsigned kShapeBits = 48;
  static constexpr unsigned kLayerBits = 24;
  [[nodiscard]] static SwitchKey variant_bits(const describe::Layout& layout);
  [[nodiscard]] SwitchKey shape_bits(const describe::Layout& layout);
  [[nodiscard]] SwitchKey key_of(const describe::Layout& layout);
  [[nodiscard]] std::vector<SwitchGroup> make_switches(const describe::Layout& layout);
  [[nodiscard]] const SwitchList& the_one(std::vector<SwitchGroup> list);
  [[nodiscard]] std::vector<Sharding> make_shardings(describe::Job& job);
  [[nodiscard]] std::vector<Sharding> sharding_ways(const describe::Layout& layout);
  // What the framework lets the job hide under its sharding.
  [[nodiscard]] HiddenSets hidden_sets(describe::Job& job) const;
  [[nodiscard]] bool matters(describe::Overlap what, const describe::Layout& layout) const;
  [[nodiscard]] std::int64_t inside_group(const describe::Layout& layout) const;
  [[nodiscard]] bool allows_inside(const describe::Layout& layout);
  [[nodiscard]] bool ask_inside(const describe::Layout& layout);
  [[nodiscard]] bool has_replicas(const describe::Layout& layout) const;
  [[nodiscard]] bool divides(const Shape& shape, std::int64_t pp) const;
  // A pp, order and schedule of a shape that run so.
  struct Counted {
    std::int64_t pp = 1;
    std::array<describe::Axis, 5> order{};
    describe::Schedule schedule = describe::Schedule::k1f1b;
    Chunks chunks = Chunks::kOne;
    SwitchKey key = 0;  // of counts_, without variant_bits()
  };
  // What the rules say of one shape, whatever its variant; asked when needed.
  struct ShapeFacts {
    Shape shape{.tp = 0};
    std::vector<std::optional<bool>> inside;  // by pp, on a mesh by order too
    std::vector<std::optional<bool>> runs;    // by pp, order, schedule and chunks
    std::optional<std::vector<Counted>> counted;
  };
  ShapeFacts& facts_of(const describe::Layout& layout);
  [[nodiscard]] std::size_t place_of(std::int64_t pp) const;
  [[nodiscard]] std::size_t place_of(const std::array<describe::Axis, 5>& order) const;
  // Calls use(pipeline) for each schedule and number of chunks of the problem, legal or not, whose
  // layers can be dealt.
  template <class Use>
  void each_chunking(std::int64_t pp, describe::Schedule schedule, Chunks chunks, const Use& use);
  // Calls use(layout, chunks) for each pp, order and schedule that the framework lets run so.
  template <class Use>
  void each_schedule(const describe::Layout& layout, const Use& use);
  template <class Use>
  void each_schedule_of_pp(describe::Layout& at, const Use& use);
  std::optional<bool>& known_to_run(const describe::Layout& layout, Chunks chunks);
  bool runs(const describe::Layout& layout, Chunks chunks);
  std::optional<bool> ask_batch(const describe::Layout& layout, Chunks chunks);
  [[nodiscard]] Counted counted(const describe::Layout& layout, Chunks chunks);
  // Nothing where the variant says too little of others.
  std::optional<std::vector<Counted>> list_counted(const describe::Layout& layout);
  // Layouts with the layout's shape and variant that run so, all numbers of chunks together.
  double count(const Counted& run, const describe::Layout& layout);
  [[nodiscard]] double make_count(const Counted& run, const describe::Layout& layout);
  void add_shapes(Shape shape);
  bool holds_switches(describe::Layout at, const describe::Layout& layout);
  void find_shapes();
  std::vector<Variant> make_variants(const Shape& shape);

  const Problem& problem_;
  Choices choices_;
  describe::Job job_;  // scratch for rules
  std::vector<Shape> shapes_;
  std::map<std::array<std::int64_t, 4>, std::vector<Variant>> variants_;
  std::vector<Splits> splits_;  // by number of stages
  std::unordered_map<SwitchKey, SwitchList> switches_;
  std::unordered_multimap<std::size_t, SwitchList> switch_lists_;  // each once, by a hash
  std::unordered_map<std::uint64_t, double> counts_;
  ShapeFacts facts_;
};

}  // namespace sextant::search
