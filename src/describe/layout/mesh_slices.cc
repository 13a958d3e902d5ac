// Who crosses slices. A Layout says it by the order of its ranks, a mesh by two sizes of each axis:
// one into the other and back.
#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "describe/cluster/torus.h"
#include "describe/layout/mesh.h"

namespace sextant::describe {
namespace {

using Order = std::array<Axis, 5>;

// From the outside in: who talks least crosses slices first.
constexpr Order kOutsideIn{Axis::kPp, Axis::kDp, Axis::kEp, Axis::kCp, Axis::kTp};

// The parts of a mesh that one axis of a layout stands for; whole copies cross before shards.
using Member = std::int64_t MeshAxes::*;
constexpr std::array<Member, 1> kTensor{&MeshAxes::tensor};
constexpr std::array<Member, 1> kSequence{&MeshAxes::sequence};
constexpr std::array<Member, 1> kExpert{&MeshAxes::expert};
constexpr std::array<Member, 3> kData{&MeshAxes::replica, &MeshAxes::data, &MeshAxes::fsdp};
constexpr std::array<Member, 1> kPipeline{&MeshAxes::pipeline};

std::span<const Member> members_of(Axis axis) {
  switch (axis) {
    case Axis::kTp:
      return kTensor;
    case Axis::kCp:
      return kSequence;
    case Axis::kEp:
      return kExpert;
    case Axis::kDp:
      return kData;
    case Axis::kPp:
      break;
  }
  return kPipeline;
}

std::int64_t size_of(const MeshAxes& axes, Axis axis) {
  std::int64_t size = 1;
  for (const Member member : members_of(axis)) {
    size = saturating_product({size, axes.*member});
  }
  return size;
}

MeshAxes whole_of(const Mesh& mesh) {
  MeshAxes whole;
  for (const Axis axis : kOutsideIn) {
    for (const Member member : members_of(axis)) {
      whole.*member = saturating_product({mesh.ici.*member, mesh.dcn.*member});
    }
  }
  return whole;
}

// Do the same axes of a layout cross, and as much of them?
bool crosses_alike(const MeshAxes& a, const MeshAxes& b) {
  return std::all_of(kOutsideIn.begin(), kOutsideIn.end(),
                     [&](Axis axis) { return size_of(a, axis) == size_of(b, axis); });
}

// The axes of `outside`, its first outermost, around the others. Among these dp is outside pp: what
// crosses slices is not the pipeline, and experts and contexts are parts of dp or beside it.
Order order_around(const std::vector<Axis>& outside) {
  constexpr Order kOthers{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kCp, Axis::kTp};
  std::vector<Axis> inwards = outside;
  std::copy_if(kOthers.begin(), kOthers.end(), std::back_inserter(inwards), [&](Axis axis) {
    return std::find(outside.begin(), outside.end(), axis) == outside.end();
  });
  Order order{};
  std::copy(inwards.rbegin(), inwards.rend(), order.begin());
  return order;
}

// Sizes over the whole job.
MeshAxes axes_of(const Job& job) {
  const Layout& at = job.layout;
  MeshAxes axes;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  axes.pipeline = at.pp;
  axes.expert = std::gcd(dp, at.ep);
  axes.tensor = at.tp;
  axes.sequence = at.cp;
  const std::int64_t batch = dp / axes.expert;
  axes.data = batch;
  if (at.zero == Zero::kParameters) {
    const std::int64_t groups = at.zero_group > 0 ? dp * at.cp / at.zero_group : 1;
    axes.data = groups > 0 && batch % groups == 0 ? groups : 1;
  }
  axes.fsdp = batch / axes.data;
  return axes;
}

}  // namespace

std::int64_t slices_of(const Cluster& cluster) {
  std::int64_t slices = cluster.slices;
  if (!is_torus(cluster)) {
    const std::int64_t domain = std::max<std::int64_t>(1, cluster.system.domain_size.value);
    const std::int64_t near = cluster.system.scale_up == ScaleUp::kNone
                                  ? domain
                                  : std::max(domain, cluster.devices_per_node());
    slices = (cluster.devices + near - 1) / near;
  }
  return slices > 1 && cluster.devices % slices == 0 ? slices : 1;
}

Crossing crossing(const MeshAxes& whole, const Order& order, std::int64_t slices) {
  Crossing made;
  std::int64_t left = slices;
  for (auto axis = order.rbegin(); axis != order.rend() && left > 1; ++axis) {
    const std::int64_t size = size_of(whole, *axis);
    std::int64_t across = std::gcd(size, left);
    made.fills = made.fills && (across == size || across == left);
    left /= across;
    for (const Member member : members_of(*axis)) {
      made.dcn.*member = std::gcd(whole.*member, across);
      across /= made.dcn.*member;
    }
  }
  made.fills = made.fills && left == 1;
  return made;
}

MeshOrder order_of(const Mesh& mesh) {
  const MeshAxes whole = whole_of(mesh);
  const std::int64_t slices = mesh.dcn.devices();
  const auto says = [&](const Order& order) {
    const Crossing made = crossing(whole, order, slices);
    return made.fills && crosses_alike(made.dcn, mesh.dcn);
  };
  // Copies are neighbours of no shard: data crosses before fsdp does.
  const auto exact = [&](const Order& order) {
    return crossing(whole, order, slices).dcn.fsdp == mesh.dcn.fsdp;
  };
  const Order usual = Layout{}.order;
  if (says(usual)) {
    return {usual, exact(usual)};
  }
  std::vector<Axis> outside;
  std::copy_if(kOutsideIn.begin(), kOutsideIn.end(), std::back_inserter(outside),
               [&](Axis axis) { return size_of(mesh.dcn, axis) > 1; });
  const Order first = order_around(outside);
  std::vector<std::size_t> places(outside.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  do {
    std::vector<Axis> permuted;
    for (const std::size_t place : places) {
      permuted.push_back(outside[place]);
    }
    const Order order = order_around(permuted);
    if (says(order)) {
      return {order, exact(order)};
    }
  } while (std::next_permutation(places.begin(), places.end()));
  return {first, false};
}

Mesh mesh_of(const Job& job) {
  const MeshAxes whole = axes_of(job);
  Mesh mesh;
  mesh.dcn = crossing(whole, job.layout.order, slices_of(job.cluster)).dcn;
  for (const Axis axis : kOutsideIn) {
    for (const Member member : members_of(axis)) {
      mesh.ici.*member = whole.*member / mesh.dcn.*member;
    }
  }
  return mesh;
}

}  // namespace sextant::describe
