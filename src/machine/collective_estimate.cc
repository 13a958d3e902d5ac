#include "machine/collective_estimate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "cost/comm/collective_time.h"
#include "describe/cluster/torus.h"
#include "workload/shard.h"

namespace sextant::machine {
namespace {

using describe::Cluster;
using describe::ScaleUp;

// From the first of the group's devices to the last. REQUIRES: check_group holds.
std::int64_t span_of(const CollectiveQuestion& question) {
  return (question.ranks - 1) * question.stride + 1;
}

Result<void> check_group(const CollectiveQuestion& question) {
  const std::int64_t most = most_ranks(question.cluster, question.stride);
  if (question.ranks <= most) {
    return {};
  }
  return invalid(fmt::format("{} ranks of {}, which has {} devices", question.ranks,
                             question.cluster.name, question.cluster.devices),
                 "‹ranks›",
                 question.stride > 1
                     ? fmt::format("1 to {} with ‹stride› {}", most, question.stride)
                     : fmt::format("1 to {}", most));
}

CollectiveWay way_of(const cost::CommLine& line, const CollectiveEstimate& estimate) {
  const cost::CommTerms terms = cost::terms_of(line, estimate.bytes);
  CollectiveWay way;
  way.algorithm = describe::word_of<cost::CommAlgorithm>(cost::kCommAlgorithmWords, line.algorithm);
  way.protocol = describe::word_of<cost::CommProtocol>(cost::kCommProtocolWords, line.protocol);
  way.limit = describe::word_of<cost::CommLink>(cost::kCommLinkWords, line.limit);
  way.limit_rate =
      cost::bus_bandwidth(estimate.op, estimate.bytes, estimate.group.ranks, terms.transfer);
  way.latency = terms.latency;
  way.transfer = terms.transfer;
  way.fill = terms.fill;
  return way;
}

// The quickest first; of equals, the one that the model lists first.
void add_way(CollectiveWay way, std::vector<CollectiveWay>& ways) {
  const auto later = std::find_if(ways.begin(), ways.end(), [&](const CollectiveWay& other) {
    return way.total() < other.total();
  });
  ways.insert(later, std::move(way));
}

// Time and bandwidths of the quickest way.
void conclude(CollectiveEstimate& estimate) {
  if (estimate.ways.empty()) {
    return;
  }
  estimate.time = estimate.ways.front().total();
  estimate.bus =
      cost::bus_bandwidth(estimate.op, estimate.bytes, estimate.group.ranks, estimate.time);
  estimate.algorithm = estimate.bytes / estimate.time;
  BytesPerSecond best;
  for (const CollectiveWay& way : estimate.ways) {
    best = std::max(best, way.limit_rate);
  }
  estimate.best_rate = best;
}

CollectiveEstimate unpriced_estimate(const CollectiveQuestion& question) {
  CollectiveEstimate estimate;
  estimate.op = question.op;
  estimate.bytes = question.bytes;
  estimate.stride = question.stride;
  estimate.group =
      strided_group(question.ranks, question.stride, reach_without_network(question.cluster));
  return estimate;
}

void put_spread(const describe::CommSpread& spread, describe::CommRegime regime,
                CollectiveEstimate& estimate) {
  const describe::Sourced<double>& factor = spread.at(regime, estimate.bytes);
  estimate.spread = factor.value;
  if (factor.kind == describe::SourceKind::kAssumed) {
    estimate.assumed.push_back(
        {"interval", fmt::format("a factor of {:.3g}", factor.value),
         std::string(describe::word_of<describe::CommRegime>(describe::kCommRegimeWords, regime)),
         factor.source});
  }
}

// The chips of the slice, where the question is about just these.
Result<std::int64_t> whole_slice(const CollectiveQuestion& question) {
  const Cluster& cluster = question.cluster;
  const std::int64_t chips =
      saturating_product({cluster.torus[0], cluster.torus[1], cluster.torus[2]});
  if (saturating_product({chips, cluster.slices}) != cluster.devices) {
    return not_found(fmt::format("the shape of a slice of {} chips is not known",
                                 cluster.devices / std::max<std::int64_t>(cluster.slices, 1)),
                     "‹on›", "a cluster.toml with torus");
  }
  if (question.ranks > chips) {
    return not_found("collectives between slices are not modelled", "‹ranks›",
                     fmt::format("{}: one slice", chips));
  }
  if (question.ranks != chips || question.stride != 1) {
    return not_found("collectives over a part of a slice are not modelled", "‹ranks›",
                     fmt::format("{}: the whole slice, with ‹stride› 1", chips));
  }
  return chips;
}

std::string axes_text(const std::array<cost::TorusAxis, 3>& axes) {
  std::string text;
  for (const cost::TorusAxis& axis : axes) {
    if (axis.chips == 1) {
      continue;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.chips,
                        axis.ring ? "(ring)" : "(line)");
  }
  return text;
}

}  // namespace

std::int64_t most_ranks(const Cluster& cluster, std::int64_t stride) {
  return workload::divided_up(cluster.devices, std::min(stride, cluster.devices));
}

cost::GroupShape strided_group(std::int64_t ranks, std::int64_t stride, std::int64_t domain_size) {
  cost::GroupShape group;
  group.ranks = ranks;
  if (stride >= domain_size) {
    group.domains = ranks;
    return group;
  }
  group.per_domain = std::min(ranks, workload::divided_up(domain_size, stride));
  group.domains = workload::divided_up((ranks - 1) * stride + 1, domain_size);
  return group;
}

Result<KnownComm> CollectiveEstimator::known_of(const CollectiveQuestion& question) {
  // Without devices that the group does not touch: a network that it does not use may be unknown.
  Cluster used = question.cluster;
  used.devices = span_of(question);
  auto made = models_.of(used);
  if (!made) {
    Error error = made.error();
    error.where = error.where.empty() ? "‹on›" : error.where;
    return tl::unexpected(std::move(error));
  }
  KnownComm known = std::move(*made);
  if (question.links) {
    const describe::LinkFacts& facts = *question.links;
    for (std::size_t i = 0; i < known.model.link.size(); ++i) {
      known.model.link[i] = facts.values[i].value;
    }
    known.link = facts.id;
    known.one_host = facts.one_host;
    known.assumed = {{"links", facts.id, "at the rate that their constants were measured at", {}}};
  }
  return known;
}

Result<CollectiveEstimate> CollectiveEstimator::on_links(const CollectiveQuestion& question) {
  CollectiveEstimate estimate = unpriced_estimate(question);
  if (question.ranks == 1) {
    return estimate;
  }
  SEXTANT_TRY(const KnownComm known, known_of(question));
  if (!spread_) {
    SEXTANT_TRY(spread_, describe::comm_spread(data_));
  }
  const cost::CommLines lines = cost::comm_lines(question.op, estimate.group, known.model);
  for (int i = 0; i < lines.count(); ++i) {
    add_way(way_of(lines.line(i), estimate), estimate.ways);
  }
  conclude(estimate);
  if (question.op == describe::CollectiveOp::kAllReduce && estimate.group.domains > 1 &&
      estimate.group.per_domain > 1) {
    estimate.hierarchical =
        cost::hierarchical_all_reduce(question.bytes, estimate.group, known.model);
  }
  estimate.links = known.link;
  estimate.network = known.network;
  estimate.assumed = known.assumed;
  if (question.stride > 1 && estimate.group.domains > 1) {
    estimate.assumed.push_back(
        {"nics", "a share of its own for every device while other groups run beside it", {}, {}});
  }
  put_spread(*spread_, known.regime(estimate.group), estimate);
  return estimate;
}

Result<CollectiveEstimate> CollectiveEstimator::on_torus(const CollectiveQuestion& question) {
  SEXTANT_CHECK_OK(whole_slice(question));
  const auto& link = question.cluster.device.ici_link_bandwidth;
  if (!link) {
    return not_found(fmt::format("the rate of {}'s links is not known", question.cluster.device.id),
                     "‹on›");
  }
  if (!torus_) {
    SEXTANT_TRY(torus_, describe::torus_facts(data_));
  }
  CollectiveEstimate estimate = unpriced_estimate(question);
  estimate.links = "torus";
  if (question.ranks == 1) {
    return estimate;
  }
  const auto axes = cost::torus_axes(question.cluster);
  const cost::TorusTerms terms = cost::torus_time(
      question.op, question.bytes, axes, {link->value * torus_->share.value, torus_->hop.value});
  CollectiveWay way;
  way.algorithm = "torus";
  way.limit = "ici";
  way.limit_rate = cost::bus_bandwidth(question.op, question.bytes, question.ranks, terms.transfer);
  way.latency = terms.total() - terms.transfer;  // hops that the transfer does not hide
  way.transfer = terms.transfer;
  estimate.ways.push_back(std::move(way));
  conclude(estimate);
  estimate.assumed.push_back(
      {"axes",
       axes_text(axes),
       fmt::format(
           "a ring where an axis is as long as a side of the pod{}",
           question.cluster.system.scale_up == ScaleUp::kIci3d ? ", or a multiple of 4" : ""),
       {}});
  estimate.assumed.push_back({"interval", "none", "too few TPUs were measured", {}});
  estimate.assumed.push_back({"collectives", "one at a time", {}, {}});
  return estimate;
}

Result<CollectiveEstimate> CollectiveEstimator::operator()(const CollectiveQuestion& question) {
  SEXTANT_CHECK_OK(check_group(question));
  return describe::is_torus(question.cluster) ? on_torus(question) : on_links(question);
}

}  // namespace sextant::machine
