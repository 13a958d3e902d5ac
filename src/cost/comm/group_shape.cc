#include "cost/comm/group_shape.h"

#include <algorithm>

namespace sextant::cost {
namespace {

// How many members come before a rank: they are in rising order.
std::int64_t members_before(const workload::RankGroup& group, std::int64_t rank) {
  std::int64_t low = 0;
  std::int64_t high = group.size();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (group.rank(middle) < rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

GroupShape group_shape(const workload::RankGroup& group, std::int64_t domain_size) {
  GroupShape shape;
  shape.ranks = group.size();
  const std::int64_t first = group.rank(group.position()) / domain_size * domain_size;
  shape.per_domain = std::max<std::int64_t>(
      1, members_before(group, first + domain_size) - members_before(group, first));
  shape.domains = (shape.ranks + shape.per_domain - 1) / shape.per_domain;
  return shape;
}

}  // namespace sextant::cost
