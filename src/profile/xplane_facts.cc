// The first reading: what planes are, what their events and statistics mean, compiled modules.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kLongestXplaneText = 2'048;
// Entries that a map may hold of one message, beyond which it is a mistake or an attack.
constexpr std::size_t kMostStatsOfOne = 100;

constexpr std::array<std::pair<std::string_view, XStatKind>, 29> kStatKinds{
    {{"hlo_op", XStatKind::kHloOp},
     {"hlo_module", XStatKind::kHloModule},
     {"program_id", XStatKind::kProgramId},
     {"hlo_category", XStatKind::kHloCategory},
     {"flops", XStatKind::kFlops},
     {"model_flops", XStatKind::kModelFlops},
     {"bytes_accessed", XStatKind::kBytesAccessed},
     {"tf_op", XStatKind::kTfOp},
     {"annotation", XStatKind::kAnnotation},
     {"name", XStatKind::kOpName},
     {"correlation_id", XStatKind::kCorrelation},
     {"device_id", XStatKind::kDeviceId},
     {"memcpy_details", XStatKind::kMemcpyDetails},
     {"Memset_details", XStatKind::kMemsetDetails},
     {"memset_details", XStatKind::kMemsetDetails},
     {"step_num", XStatKind::kStepNum},
     {"_r", XStatKind::kIsRoot},
     {"allocator_name", XStatKind::kAllocator},
     {"bytes_allocated", XStatKind::kBytesAllocated},
     {"allocation_bytes", XStatKind::kAllocationBytes},
     {"gpu_device_name", XStatKind::kDeviceName},
     {"device_type_string", XStatKind::kDeviceType},
     {"device_vendor", XStatKind::kDeviceVendor},
     {"core_count", XStatKind::kCoreCount},
     {"memory_size", XStatKind::kMemorySize},
     {"memory_bandwidth", XStatKind::kMemoryBandwidth},
     {"peak_teraflops_per_second", XStatKind::kPeakTflops},
     {"peak_hbm_bw_gigabytes_per_second", XStatKind::kPeakHbm},
     {"profile_start_time", XStatKind::kProfileStart}}};

// "jit_loss(428757)" is program 428757.
std::int64_t program_number(std::string_view name, std::int64_t otherwise) {
  const std::size_t open = name.rfind('(');
  const std::size_t close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open) {
    return otherwise;
  }
  return to_integer(name.substr(open + 1, close - open - 1)).value_or(otherwise);
}

std::string fit_for_names(const std::string& text) {
  return first_invalid_utf8(text) ? printable(text, kLongestXplaneText) : text;
}

}  // namespace

const XStat* find_stat(const std::vector<XStat>& stats, XStatKind kind) {
  for (const XStat& stat : stats) {
    if (stat.kind == kind) {
      return &stat;
    }
  }
  return nullptr;
}

std::string_view text_of(const std::vector<XStat>& stats, XStatKind kind) {
  const XStat* stat = find_stat(stats, kind);
  return stat == nullptr ? std::string_view() : std::string_view(stat->text);
}

XStatKind stat_kind(std::string_view name) {
  for (const auto& [word, kind] : kStatKinds) {
    if (word == name) {
      return kind;
    }
  }
  return XStatKind::kOther;
}

// Source: tsl/profiler/utils/xplane_schema.cc: names of planes.
XPlaneKind plane_kind(std::string_view name, std::int64_t& ordinal, std::int64_t& core) {
  const auto number_at = [&](std::string_view prefix) -> std::optional<std::int64_t> {
    return to_integer(name.substr(prefix.size(), name.find(' ') - prefix.size()));
  };
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, XPlaneKind>("/device:GPU:", XPlaneKind::kGpu),
        {"/device:TPU:", XPlaneKind::kTpu}}) {
    if (!name.starts_with(prefix)) {
      continue;
    }
    const auto number = number_at(prefix);
    if (!number || *number < 0 || *number > 1'000'000) {
      return XPlaneKind::kOther;
    }
    ordinal = *number;
    if (name.find(' ') == std::string_view::npos) {
      return kind;
    }
    const auto which = to_integer(name.substr(name.rfind(' ') + 1));
    core = which.value_or(0);
    return name.find(" SparseCore ") != std::string_view::npos ? XPlaneKind::kSparseCore
                                                               : XPlaneKind::kOther;
  }
  if (name == "/host:metadata") {
    return XPlaneKind::kMetadata;
  }
  return name.starts_with("/host:") && !name.starts_with("/host:__") ? XPlaneKind::kHost
                                                                     : XPlaneKind::kOther;
}

std::string XplaneReading::kept_text(Wire& fields) {
  std::string text = fields.text(kLongestXplaneText);
  metadata_text_left_ -= static_cast<std::int64_t>(text.size());
  if (metadata_text_left_ < 0) {
    losses_.add("names beyond the room for them");
    return {};
  }
  return fit_for_names(text);
}

// Source: tsl/profiler/protobuf/xplane.proto, XStat.
XSourcedStat XplaneReading::read_stat(Wire& field) const {
  XSourcedStat read;
  XStat& stat = read.stat;
  field.each([&](Wire& fields) {
    switch (fields.field()) {
      case 1:
        read.source.metadata = fields.integer();
        break;
      case 2:
        stat.number = fields.number();
        stat.integer = std::abs(stat.number) < 9e15 ? std::llround(stat.number) : 0;
        break;
      case 3:
      case 4:
        stat.integer = fields.integer();
        stat.number = static_cast<double>(stat.integer);
        break;
      case 5:
        stat.text = fit_for_names(fields.text(kLongestXplaneText));
        break;
      case 7:
        read.source.reference = fields.integer();
        break;
      default:
        break;
    }
  });
  return read;
}

// Reads it even where there is no room for it: what stands behind it is read next.
void XplaneReading::add_stat(Wire& field, std::vector<XStat>& stats,
                             std::vector<XStatSource>& pending) const {
  XSourcedStat read = read_stat(field);
  if (stats.size() < kMostStatsOfOne) {
    stats.push_back(std::move(read.stat));
    pending.push_back(read.source);
  }
}

void XplaneReading::read_facts(Wire& field) {
  if (field.field() == 1 && field.has_length()) {
    XPlane plane;
    const bool is_whole = field.message([&](Wire& fields) { read_plane_facts(fields, plane); });
    if (!is_whole) {
      losses_.add("planes that are damaged");
    }
    // Each plane keeps its place, so that the next reading finds it; planes of nothing are many
    // only in a file that lies.
    if (static_cast<std::int64_t>(planes_.size()) < options_.limits.planes) {
      resolve_plane(plane);
      planes_.push_back(std::move(plane));
    } else {
      losses_.add("planes beyond the most that are read");
    }
  } else if (field.field() == 2) {
    losses_.add("what the profiler itself says it lost: " +
                printable(field.text(kLongestXplaneText), 200));
  } else if (field.field() == 4 && host_.empty()) {
    host_ = printable(field.text(kLongestXplaneText), 255);
  }
}

// Source: tsl/profiler/protobuf/xplane.proto, XPlane.
void XplaneReading::read_plane_facts(Wire& fields, XPlane& plane) {
  while (fields.next()) {
    switch (fields.field()) {
      case 2:
        plane.name = kept_text(fields);
        plane.kind = plane_kind(plane.name, plane.ordinal, plane.core);
        break;
      case 3:
        fields.message([&](Wire& line) { read_line_facts(line, plane); });
        break;
      case 4:
        read_event_kind(fields, plane);
        break;
      case 5:
        read_stat_name(fields, plane);
        break;
      case 6:
        add_stat(fields, plane.stats, plane.pending);
        break;
      default:
        break;
    }
  }
}

// When it begins, and whether anything is on it: as far as its first event.
void XplaneReading::read_line_facts(Wire& line, XPlane& plane) {
  bool is_done = false;
  while (!is_done && line.next()) {
    is_done = line.field() == 4;
    plane.has_events = plane.has_events || is_done;
    if (line.field() == 3) {
      const std::int64_t at = line.integer();
      first_ns_ = at > 0 && (first_ns_ == 0 || at < first_ns_) ? at : first_ns_;
    }
  }
}

void XplaneReading::take_kind_field(Wire& fields, bool is_metadata, std::int64_t& key,
                                    XEventKind& kind) {
  if (fields.field() == 1) {
    key = fields.integer();
  } else if (fields.field() == 2) {
    kind.name = kept_text(fields);
  } else if (fields.field() == 4) {
    kind.display = kept_text(fields);
  } else if (fields.field() == 5 && is_metadata) {
    fields.each([&](Wire& stat) { read_programs(stat, program_number(kind.name, key)); });
  } else if (fields.field() == 5) {
    add_stat(fields, kind.stats, kind.pending);
  }
}

// The one statistic of bytes: a compiled module.
void XplaneReading::read_programs(Wire& stat, std::int64_t number) {
  if (stat.field() == 6) {
    stat.message([&](Wire& proto) { read_program(proto, number); });
  }
}

void XplaneReading::read_event_kind(Wire& entry, XPlane& plane) {
  std::int64_t key = 0;
  XEventKind kind;
  const bool is_metadata = plane.kind == XPlaneKind::kMetadata;
  entry.each([&](Wire& fields) {
    if (fields.field() == 1) {
      key = fields.integer();
    } else if (fields.field() == 2) {
      fields.each([&](Wire& one) { take_kind_field(one, is_metadata, key, kind); });
    }
  });
  if (is_metadata) {
    return;
  }
  if (--metadata_left_ < 0) {
    losses_.add("kinds of event beyond the most that are read");
    return;
  }
  plane.events.try_emplace(key, std::move(kind));
}

void XplaneReading::read_stat_name(Wire& entry, XPlane& plane) {
  std::int64_t key = 0;
  std::string name;
  const auto take = [&](Wire& metadata) {
    if (metadata.field() == 1) {
      key = metadata.integer();
    } else if (metadata.field() == 2) {
      name = kept_text(metadata);
    }
  };
  entry.each([&](Wire& fields) {
    if (fields.field() == 1) {
      key = fields.integer();
    } else if (fields.field() == 2) {
      fields.each(take);
    }
  });
  if (--metadata_left_ < 0) {
    losses_.add("kinds of statistic beyond the most that are read");
    return;
  }
  if (const XStatKind kind = stat_kind(name); kind != XStatKind::kOther) {
    plane.stat_kinds.try_emplace(key, kind);
  }
  plane.stat_names.try_emplace(key, std::move(name));
}

void XplaneReading::resolve_stat(const XPlane& plane, const XStatSource& source, XStat& stat) {
  const auto kind = plane.stat_kinds.find(source.metadata);
  stat.kind = kind == plane.stat_kinds.end() ? XStatKind::kOther : kind->second;
  if (source.reference != 0 && stat.kind != XStatKind::kOther) {
    const auto text = plane.stat_names.find(source.reference);
    stat.text = text == plane.stat_names.end() ? std::string() : text->second;
  }
}

// Names of statistics stand behind the events that use them.
void XplaneReading::resolve_plane(XPlane& plane) {
  for (std::size_t i = 0; i < plane.stats.size(); ++i) {
    resolve_stat(plane, plane.pending[i], plane.stats[i]);
    if (plane.stats[i].kind == XStatKind::kProfileStart) {
      out_.origin_ns = plane.stats[i].integer;
    }
  }
  plane.pending.clear();
  for (auto& [id, kind] : plane.events) {
    for (std::size_t i = 0; i < kind.stats.size(); ++i) {
      resolve_stat(plane, kind.pending[i], kind.stats[i]);
    }
    std::erase_if(kind.stats, [](const XStat& s) { return s.kind == XStatKind::kOther; });
    kind.stats.shrink_to_fit();
    kind.pending = {};
  }
}

void XplaneReading::read_program(Wire& proto, std::int64_t id) {
  auto module = read_hlo(proto, hlo_room_);
  if (!module) {
    return;
  }
  module->program = id;
  auto program = std::make_unique<Program>();
  program->module = std::move(*module);
  index_by_name(program->module);
  programs_.push_back(std::move(program));
}

}  // namespace sextant::profile
