// What a framework lets its users choose, value by value: the alphabet of the space.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "search/problem.h"

namespace sextant::search {

// How layers may be dealt to stages.
enum class Splits { kEven, kNearlyEven, kAny };

struct Choices {
  // Candidates, ascending; what of them goes together is for the rules to say.
  std::vector<std::int64_t> tp;
  std::vector<std::int64_t> cp;
  std::vector<std::int64_t> pp;
  std::vector<std::int64_t> ep;
  std::vector<std::int64_t> etp;
  std::vector<std::int64_t> mbs;
  std::vector<bool> sp;  // where tp > 1
  std::vector<describe::CpMethod> cp_methods;
  std::vector<describe::Dispatcher> dispatchers;
  std::vector<describe::Launch> launches;
  std::vector<describe::Schedule> schedules;  // where pp > 1
  std::vector<std::int64_t> vpp;
  Splits splits = Splits::kNearlyEven;
  bool counts_ends = false;      // embedding and loss may count as layers
  bool recomputes_some = false;  // of a stage's layers (block)
  std::vector<describe::RecomputePolicy> recompute;
  std::vector<describe::Zero> zero;
  bool zero_groups = false;                 // states sharded inside a scale-up domain only (HSDP)
  std::vector<bool> reshard;                // under ZeRO-3
  std::vector<describe::Overlap> switches;  // communication hidden or not
  std::vector<describe::Overlap> always;    // hidden whether one likes it or not
  std::vector<std::array<describe::Axis, 5>> orders;
  bool mesh = false;  // of JAX: an order says only who crosses slices (mesh_orders.h)
};

Choices choices_of(const Problem& problem);

// Keys that a search chooses; the others keep the job's value.
bool is_searched(std::string_view key);

// All values where they make a difference, else the first one.
template <typename T>
std::vector<T> if_it_matters(const std::vector<T>& values, bool matters) {
  return matters ? values : std::vector<T>{values.front()};
}

}  // namespace sextant::search
