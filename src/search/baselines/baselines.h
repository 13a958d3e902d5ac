// Other ways to choose a layout, on the same cost leaf (search/leaf.h): what `plan` is compared
// with, by the step it finds and by how often it asks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "describe/words.h"
#include "search/find.h"

namespace sextant::search {

struct BaselineResult {
  std::optional<Plan> plan;  // nothing: no layout it looked at is legal and fits
  Calls calls;
};

// What an engineer who follows the Megatron papers picks: megatron_rule.cc says the habits and
// their sources. Prices micro-batches only. Fixed keys keep their value.
BaselineResult megatron_rule(const Problem& problem);

// Every layout of the space; nothing where there are more than 10^8. Ties: the first in the order
// of the space.
// `computing_weight` (here and below): FindOptions.
BaselineResult exhaustive(const Space& space, double computing_weight = 0.0);

// The best of so many layouts drawn with equal chance from the whole space, with repeats.
BaselineResult random_layouts(const Space& space, std::int64_t samples, std::uint64_t seed,
                              double computing_weight = 0.0);

// A mesh of four axes.
struct MeshAxes {
  std::int64_t data = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t fourth = 1;  // pipeline stages, or replicas of the sharded states (FSDP)
  bool operator==(const MeshAxes&) const = default;
};
// All ways to write the devices as a product of four axes in powers of two, an odd factor in
// `data`: C(k + 3, 3) of them for 2^k devices, 165 for 256.
std::vector<MeshAxes> power_of_two_meshes(std::int64_t devices);

// Each of those meshes with the framework's plain switches: what a black-box tuner has to try. The
// fourth axis is the pipeline where the framework has one.
BaselineResult black_box(const Problem& problem);

// All of these and Alpa's (alpa.h) by name, each as `plan` is compared with it: random layouts are
// 10,000.
enum class Baseline { kRule, kAlpa, kExhaustive, kRandom, kBlackBox };
inline constexpr std::array<describe::Word<Baseline>, 5> kBaselineWords{
    {{Baseline::kRule, "megatron-rule"},
     {Baseline::kAlpa, "alpa"},
     {Baseline::kExhaustive, "exhaustive"},
     {Baseline::kRandom, "random"},
     {Baseline::kBlackBox, "black-box"}}};
BaselineResult baseline(Baseline which, const Problem& problem);

}  // namespace sextant::search
