#include "validate/measured_comm.h"

#include <algorithm>

#include <fmt/format.h>

#include "workload/shard.h"

namespace sextant::validate {

using cost::CommAlgorithm;
using cost::TimedCollective;
using describe::FabricFamily;
using measured::CollectiveLibrary;
using measured::CollectiveSubject;
using measured::ForcedAlgorithm;

namespace {

cost::CommTimer timer_of(const CollectiveSubject& subject) {
  if (!subject.framework_timer) {
    return cost::CommTimer::kLibrary;
  }
  return subject.library == measured::CollectiveLibrary::kXla ? cost::CommTimer::kXla
                                                              : cost::CommTimer::kTorch;
}

}  // namespace

Result<cost::GroupShape> shape_of(const CollectiveSubject& subject) {
  const std::int64_t ranks = subject.ranks;
  if (ranks < 1) {
    return not_found("ranks not stated");
  }
  if (subject.links.domain_size) {
    const std::int64_t domains = workload::divided_up(ranks, *subject.links.domain_size);
    return cost::GroupShape{ranks, domains, workload::divided_up(ranks, domains), 1};
  }
  if (!subject.nodes || *subject.nodes < 1) {
    return not_found("nodes not stated");
  }
  const std::int64_t domains = std::min(*subject.nodes, ranks);
  return cost::GroupShape{ranks, domains, workload::divided_up(ranks, domains), 1};
}

Result<machine::CommPlace> MeasuredComm::place_of(const CollectiveSubject& subject,
                                                  const cost::GroupShape& shape) {
  machine::CommPlace place;
  place.gloo = subject.library == CollectiveLibrary::kGloo;
  place.inside = shape.per_domain > 1;
  place.across = shape.domains > 1;
  if (subject.library == CollectiveLibrary::kOneCcl) {
    return not_found("oneCCL is not modelled");
  }
  if (!subject.device) {
    return not_found("device not stated");
  }
  SEXTANT_TRY(place.device, hardware_.device(*subject.device));
  if (place.device == nullptr) {
    return not_found("device not known: " + *subject.device);
  }
  SEXTANT_TRY(const describe::Cluster reference, hardware_.cluster(shape.ranks, *place.device));
  if (place.inside && !subject.links.scale_up && !subject.links.scale_up_rate &&
      !subject.links.domain_size) {
    return not_found("links inside the node not stated");
  }
  place.scale_up = subject.links.scale_up.value_or(reference.system.scale_up);
  place.scale_up_rate = place.device->scale_up_bandwidth
                            ? std::optional(place.device->scale_up_bandwidth->value)
                            : std::nullopt;
  place.fabric = subject.links.fabric;
  place.nic_rate = subject.links.network_rate;
  if (place.across && !subject.links.gpu_direct && !place.gloo &&
      place.fabric != FabricFamily::kEthernet) {
    return not_found("no GPUDirect: copies through the host decide");
  }
  return place;
}

Result<const machine::KnownComm*> MeasuredComm::of(const CollectiveSubject& subject,
                                                   const cost::GroupShape& shape) {
  SEXTANT_TRY(const machine::CommPlace place, place_of(subject, shape));
  SEXTANT_TRY(const machine::KnownComm* known, models_.of(place));
  if (known->assumed_links && unknown_ == UnknownLinks::kRefused) {
    return not_found(fmt::format(
        "links of {} over {} are not known: the host's layout decides", place.device->id,
        describe::word_of<describe::ScaleUp>(describe::kScaleUpWords, place.scale_up)));
  }
  return known;
}

TimedCollective collective_call(const CollectiveSubject& subject, const cost::GroupShape& shape,
                                const machine::KnownComm& known) {
  TimedCollective call;
  call.op = subject.op;
  call.bytes = subject.bytes;
  call.group = shape;
  call.model = known.model;
  call.rate_scale = known.rate_scale;
  call.timer = timer_of(subject);
  if (subject.links.added_delay) {
    call.model.added_delay = subject.links.added_delay->base();
  }
  if (subject.forced == ForcedAlgorithm::kRing) {
    call.only = CommAlgorithm::kRing;
  } else if (subject.forced == ForcedAlgorithm::kTree) {
    call.only = CommAlgorithm::kTree;
  } else if (subject.forced == ForcedAlgorithm::kNoNvls) {
    call.without = CommAlgorithm::kSwitch;
  }
  return call;
}

}  // namespace sextant::validate
