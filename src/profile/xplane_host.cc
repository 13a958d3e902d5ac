// Threads of the host.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kMostHostSteps = 1'000'000;
constexpr std::size_t kMostAllocations = 20'000'000;

// "cuGraphLaunch (CudaGraph:296)" is a cuGraphLaunch.
std::string_view call_name(std::string_view name) {
  return name.substr(0, name.find(" (CudaGraph:"));
}

// Of "GPU_3_bfc" 3; nothing of an allocator of the host.
std::optional<std::int64_t> device_of_allocator(std::string_view name) {
  if (!name.starts_with("GPU_")) {
    return std::nullopt;
  }
  const std::string_view rest = name.substr(4);
  return to_integer(rest.substr(0, rest.find('_')));
}

}  // namespace

void XplaneReading::read_host(Wire& fields, const XPlane& plane) {
  if (ranks_.empty()) {
    losses_.add("threads of a host without a device that ran something");
    return;
  }
  const auto wants = [](const XLine& /*line*/) { return true; };
  fields.each([&](Wire& inner) {
    if (inner.field() == 3) {
      read_line(inner, plane, wants, [&](const XLine& line, const XEvent& event) {
        take_host_event(plane, line, event);
      });
    }
  });
}

RankId XplaneReading::rank_of_call(const XEvent& event) const {
  if (ranks_.size() > 1) {
    if (const XStat* id = find_stat(event.stats, XStatKind::kCorrelation)) {
      if (const auto sent = sent_to_.find(id->integer); sent != sent_to_.end()) {
        return sent->second;
      }
    }
    if (const XStat* device = find_stat(event.stats, XStatKind::kDeviceId)) {
      const RankId rank{device->integer};
      if (std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end()) {
        return rank;
      }
    }
  }
  return ranks_.front();
}

bool XplaneReading::take_allocation(const XEventKind& kind, const XEvent& event) {
  const bool is_release = kind.name == "MemoryDeallocation";
  if (!is_release && kind.name != "MemoryAllocation") {
    return false;
  }
  const auto device = device_of_allocator(text_of(event.stats, XStatKind::kAllocator));
  const XStat* total = find_stat(event.stats, XStatKind::kBytesAllocated);
  const XStat* change = find_stat(event.stats, XStatKind::kAllocationBytes);
  const RankId rank{device.value_or(-1)};
  if (!device || std::find(ranks_.begin(), ranks_.end(), rank) == ranks_.end()) {
    losses_.add("allocations that are not on a device that ran something");
    return true;
  }
  if (total == nullptr || change == nullptr || change->integer < 0 || total->integer < 0 ||
      out_.memory.size() >= kMostAllocations) {
    losses_.add("allocations without a size");
    return true;
  }
  // XLA takes nearly all of the device at once; what it has not given out is no one's.
  out_.memory.push_back({.rank = rank,
                         .at_ns = event.start_ns,
                         .change_bytes = is_release ? -change->integer : change->integer,
                         .allocated_bytes = total->integer,
                         .reserved_bytes = total->integer});
  return true;
}

void XplaneReading::take_host_event(const XPlane& plane, const XLine& line, const XEvent& event) {
  const auto kind = plane.events.find(event.metadata);
  if (kind == plane.events.end()) {
    losses_.add("events of a kind that is not told");
    return;
  }
  if (take_allocation(kind->second, event)) {
    return;
  }
  const XStat* number = find_stat(event.stats, XStatKind::kStepNum);
  const XStat* root = find_stat(event.stats, XStatKind::kIsRoot);
  const bool is_step = number != nullptr && root != nullptr && root->integer != 0;
  if (is_step && host_steps_.size() < kMostHostSteps) {
    host_steps_.push_back({number->integer, event.start_ns, event.end_ns});
  }
  const RankId rank = rank_of_call(event);
  const auto where = lane(rank, timeline::Place::kHost, line.id,
                          line.name.empty() ? fmt::format("thread {}", line.id) : line.name);
  if (!where) {
    return;
  }
  out_.has_stacks = out_.has_stacks || kind->second.name.starts_with("$");
  timeline::Label label{.kind = is_step ? timeline::SpanKind::kMark : timeline::SpanKind::kHost,
                        .name = is_step ? fmt::format("{} {}", kind->second.name, number->integer)
                                        : std::string(call_name(kind->second.name))};
  if (label.name.empty()) {
    label.name = "(no name)";
  }
  const XStat* correlation = find_stat(event.stats, XStatKind::kCorrelation);
  add(*where, out_.timeline.label(label), correlation == nullptr ? 0 : correlation->integer,
      event.start_ns, event.end_ns);
}

}  // namespace sextant::profile
