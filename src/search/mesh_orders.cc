#include "search/mesh_orders.h"

#include <algorithm>
#include <numeric>

namespace sextant::search {
namespace {

using describe::Layout;

describe::MeshAxes axes_of(const Problem& problem, const Layout& layout) {
  const std::int64_t dp = problem.job.cluster.devices / (layout.tp * layout.cp * layout.pp);
  describe::MeshAxes axes;
  axes.tensor = layout.tp;
  axes.sequence = layout.cp;
  axes.pipeline = layout.pp;
  axes.expert = std::gcd(dp, layout.ep);
  axes.data = dp / axes.expert;
  return axes;
}

}  // namespace

std::int64_t slices_of(const Problem& problem) {
  const std::int64_t devices = problem.job.cluster.devices;
  const std::int64_t slice = std::max<std::int64_t>(problem.machine.domain_size, 1);
  return devices % slice == 0 ? std::max<std::int64_t>(devices / slice, 1) : 1;
}

std::vector<std::array<describe::Axis, 5>> mesh_orders(const Problem& problem,
                                                       const Choices& choices,
                                                       const Layout& layout) {
  const describe::MeshAxes axes = axes_of(problem, layout);
  const std::int64_t slices = slices_of(problem);
  std::vector<std::array<describe::Axis, 5>> orders;
  std::vector<describe::MeshAxes> seen;
  for (const auto& order : choices.orders) {
    const describe::Crossing across = describe::crossing(axes, order, slices);
    if (across.fills && std::find(seen.begin(), seen.end(), across.dcn) == seen.end()) {
      orders.push_back(order);
      seen.push_back(across.dcn);
    }
  }
  if (orders.empty()) {
    orders.push_back(choices.orders.front());
  }
  return orders;
}

std::int64_t group_inside_slice(const Problem& problem, const Layout& layout) {
  const describe::Crossing across =
      describe::crossing(axes_of(problem, layout), layout.order, slices_of(problem));
  const std::int64_t all = problem.job.cluster.devices / (layout.pp * layout.tp);  // dp * cp
  const std::int64_t copies = across.dcn.data;
  const bool inside = across.fills && across.dcn.sequence == 1 && across.dcn.expert == 1;
  return inside && copies > 1 && copies < all ? all / copies : 0;
}

}  // namespace sextant::search
