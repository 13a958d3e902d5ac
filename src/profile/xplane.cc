#include "profile/xplane.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kMostShardings = 2'000;  // that are kept of one program

// Of the arrays of the entry, mostly its parameters.
std::vector<timeline::RecordedSharding> shardings_of(const HloModule& module) {
  std::vector<timeline::RecordedSharding> shardings;
  const auto entry = module.computations.find(module.entry);
  if (entry == module.computations.end()) {
    return shardings;
  }
  for (const HloInstruction& instruction : entry->second.instructions) {
    if (!instruction.sharding.empty() && shardings.size() < kMostShardings) {
      shardings.push_back({instruction.op_name.empty() ? instruction.name : instruction.op_name,
                           instruction.sharding});
    }
  }
  return shardings;
}

}  // namespace

XplaneReading::XplaneReading(std::string name, const XplaneOptions& options)
    : options_(options),
      metadata_left_(options.limits.metadata),
      metadata_text_left_(options.limits.metadata_text),
      spans_left_(options.most_spans) {
  out_.recorder = timeline::Recorder::kXplane;
  out_.source = std::move(name);
}

Result<timeline::Recording> XplaneReading::read(const OpenBytes& open) {
  SEXTANT_TRY(const WireEnd end, read_wire(open, [&](Wire& field) { read_facts(field); }));
  out_.bytes = Bytes(static_cast<double>(end.bytes));
  if (planes_.empty()) {
    return invalid("this is not an XLA profile: it holds no plane", out_.source,
                   "an XSpace, as jax.profiler.trace writes it (….xplane.pb)");
  }
  if (end.is_cut) {
    losses_.add("places where the file ends early, or is no profile any more");
    losses_.add("bytes after that place", end.unread);
  }
  losses_.add("damage of the file: " + end.source_damage, end.source_damage.empty() ? 0 : 1);
  losses_.add("parts of compiled modules beyond the room for them", hlo_room_.left_out);
  // Nanoseconds since 1970 are 10^18 (to 2065 less than three times that); since the session began,
  // 10^12 are a quarter of an hour.
  constexpr std::int64_t kSinceEpoch = 100'000'000'000'000'000;
  if (first_ns_ > kSinceEpoch && first_ns_ < 30 * kSinceEpoch) {
    shift_ns_ = first_ns_;
    out_.origin_ns = first_ns_;
  }
  for (const std::unique_ptr<Program>& program : programs_) {
    program->counter = std::make_unique<HloCounter>(program->module);
  }
  for (const XPlane& plane : planes_) {
    const bool is_device = plane.kind == XPlaneKind::kGpu || plane.kind == XPlaneKind::kTpu;
    if (is_device && plane.has_events &&
        std::find(ranks_.begin(), ranks_.end(), RankId{plane.ordinal}) == ranks_.end()) {
      ranks_.push_back({plane.ordinal});
    }
  }
  std::sort(ranks_.begin(), ranks_.end());
  for (const bool is_host_turn : {false, true}) {
    std::size_t next = 0;
    SEXTANT_CHECK_OK(read_wire(open, [&](Wire& field) {
      if (field.field() != 1 || !field.has_length() || next >= planes_.size()) {
        return;
      }
      const XPlane& plane = planes_[next++];
      if (is_host_turn && plane.kind == XPlaneKind::kHost) {
        read_host(field, plane);
      } else if (!is_host_turn && plane.kind == XPlaneKind::kGpu) {
        read_gpu(field, plane);
      } else if (!is_host_turn &&
                 (plane.kind == XPlaneKind::kTpu || plane.kind == XPlaneKind::kSparseCore)) {
        read_tpu(field, plane);
      }
    }));
  }
  describe();
  describe_programs();
  choose_steps();
  out_.has_memory = !out_.memory.empty();
  std::stable_sort(out_.memory.begin(), out_.memory.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.at_ns) < std::tie(b.rank, b.at_ns);
  });
  out_.timeline.sort();
  losses_.add("labels beyond the room for them", out_.timeline.folded());
  out_.unread = losses_.list();
  return std::move(out_);
}

timeline::RecordedDevice XplaneReading::device_of(const XPlane& plane) const {
  timeline::RecordedDevice device;
  for (const XStatKind kind :
       {XStatKind::kDeviceName, XStatKind::kDeviceType, XStatKind::kDeviceVendor}) {
    if (device.name.empty()) {
      device.name = text_of(plane.stats, kind);
    }
  }
  const auto positive = [&](XStatKind kind) -> std::optional<double> {
    const XStat* stat = find_stat(plane.stats, kind);
    return stat != nullptr && stat->number > 0.0 ? std::optional(stat->number) : std::nullopt;
  };
  if (const auto bytes = positive(XStatKind::kMemorySize)) {
    device.memory = Bytes(*bytes);
  }
  if (const auto cores = positive(XStatKind::kCoreCount)) {
    device.multiprocessors = static_cast<std::int64_t>(std::min(*cores, 1e9));
  }
  if (const auto rate = positive(XStatKind::kMemoryBandwidth)) {
    device.memory_bandwidth = BytesPerSecond(*rate);
  }
  if (const auto rate = positive(XStatKind::kPeakHbm)) {
    device.memory_bandwidth = *rate * 1_GBps;
  }
  if (const auto rate = positive(XStatKind::kPeakTflops)) {
    device.peak = *rate * 1_TFLOPps;
  }
  return device;
}

void XplaneReading::describe() {
  for (const RankId rank : ranks_) {
    timeline::RecordedRank recorded{.rank = rank, .host = host_};
    for (const XPlane& plane : planes_) {
      const bool is_device = plane.kind == XPlaneKind::kGpu || plane.kind == XPlaneKind::kTpu;
      if (is_device && plane.ordinal == rank.value && !recorded.device) {
        recorded.device = device_of(plane);
      }
    }
    out_.ranks.push_back(std::move(recorded));
  }
}

void XplaneReading::describe_programs() {
  for (const std::unique_ptr<Program>& program : programs_) {
    const HloModule& module = program->module;
    timeline::RecordedProgram recorded{.name = module.name,
                                       .id = module.program,
                                       .replicas = module.replicas,
                                       .partitions = module.partitions,
                                       .mesh = module.mesh};
    recorded.shardings = shardings_of(module);
    out_.programs.push_back(std::move(recorded));
  }
  std::sort(out_.programs.begin(), out_.programs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.id) < std::tie(b.name, b.id);
  });
}

Result<timeline::Recording> read_xplane(const OpenBytes& open, const std::string& name,
                                        const XplaneOptions& options) {
  return XplaneReading(name, options).read(open);
}

}  // namespace sextant::profile
