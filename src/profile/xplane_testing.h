// Small XSpaces as tests make them. Source of the fields' numbers:
// tsl/profiler/protobuf/xplane.proto.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "profile/hlo_testing.h"
#include "profile/wire_testing.h"
#include "profile/xplane.h"

namespace sextant::profile {

// A text is written as a reference, as XLA does.
using TestStat = std::pair<std::string, std::variant<std::int64_t, double, std::string>>;

struct TestEvent {
  std::string name;
  std::int64_t start_ps = 0;
  std::int64_t duration_ps = 0;
  std::vector<TestStat> stats = {};
  std::vector<TestStat> kind_stats = {};  // of all events of the name: the first one's count
  std::string display = {};
};

class TestPlane {
 public:
  explicit TestPlane(std::string name) { head_.bytes(2, name); }

  TestPlane& line(std::int64_t id, const std::string& name, std::int64_t timestamp_ns,
                  const std::vector<TestEvent>& events) {
    WireWriter line;
    line.number(1, id).bytes(2, name).number(3, timestamp_ns);
    for (const TestEvent& event : events) {
      WireWriter proto;
      proto.number(1, event_kind(event)).number(2, event.start_ps).number(3, event.duration_ps);
      for (const TestStat& one : event.stats) {
        proto.message(4, stat(one));
      }
      line.message(4, proto);
    }
    lines_.message(3, line);
    return *this;
  }
  TestPlane& stat_of_plane(const TestStat& one) {
    stats_.message(6, stat(one));
    return *this;
  }
  // A compiled module, as /host:metadata carries it.
  TestPlane& module(const std::string& name, std::int64_t program, const WireWriter& proto) {
    WireWriter stat;
    stat.number(1, stat_name("Hlo Proto")).bytes(6, proto.text());
    WireWriter kind;
    kind.number(1, program).bytes(2, name + "(" + std::to_string(program) + ")").message(5, stat);
    kinds_.message(4, WireWriter().number(1, program).message(2, kind));
    return *this;
  }
  [[nodiscard]] WireWriter proto() const {
    WireWriter names;
    for (const auto& [name, id] : stat_names_) {
      names.message(
          5, WireWriter().number(1, id).message(2, WireWriter().number(1, id).bytes(2, name)));
    }
    return WireWriter().raw(head_).raw(lines_).raw(kinds_).raw(names).raw(stats_);
  }

 private:
  std::int64_t stat_name(const std::string& name) {
    return stat_names_.try_emplace(name, static_cast<std::int64_t>(stat_names_.size()) + 1)
        .first->second;
  }
  WireWriter stat(const TestStat& one) {
    WireWriter proto;
    proto.number(1, stat_name(one.first));
    if (const auto* integer = std::get_if<std::int64_t>(&one.second)) {
      proto.number(4, *integer);
    } else if (const auto* real = std::get_if<double>(&one.second)) {
      proto.real(2, *real);
    } else {
      proto.number(7, stat_name(std::get<std::string>(one.second)));
    }
    return proto;
  }
  std::int64_t event_kind(const TestEvent& event) {
    const auto [known, is_new] =
        kind_ids_.try_emplace(event.name, static_cast<std::int64_t>(kind_ids_.size()) + 1);
    if (is_new) {
      WireWriter kind;
      kind.number(1, known->second).bytes(2, event.name);
      if (!event.display.empty()) {
        kind.bytes(4, event.display);
      }
      for (const TestStat& one : event.kind_stats) {
        kind.message(5, stat(one));
      }
      kinds_.message(4, WireWriter().number(1, known->second).message(2, kind));
    }
    return known->second;
  }

  WireWriter head_;
  WireWriter lines_;
  WireWriter kinds_;
  WireWriter stats_;
  std::map<std::string, std::int64_t> stat_names_;
  std::map<std::string, std::int64_t> kind_ids_;
};

inline std::string space_of(const std::vector<TestPlane>& planes) {
  WireWriter space;
  for (const TestPlane& plane : planes) {
    space.message(1, plane.proto());
  }
  return space.bytes(4, "host7").text();
}

// Names with "nccl" communicate, all others compute.
inline XplaneOptions plain_xplane_options() {
  return {.kernels = [](std::string_view name) {
    return KernelMeaning{.kind = name.find("nccl") == std::string_view::npos
                                     ? timeline::SpanKind::kCompute
                                     : timeline::SpanKind::kCommunication};
  }};
}

}  // namespace sextant::profile
