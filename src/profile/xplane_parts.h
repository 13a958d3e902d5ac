// What the parts of the reader of XLA's profiles share. Nobody else includes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/hlo_count.h"
#include "profile/hlo_match.h"
#include "profile/hlo_module.h"
#include "profile/losses.h"
#include "profile/wire.h"
#include "profile/xplane.h"
#include "timeline/recording.h"

namespace sextant::profile {

// Statistics that are asked for. Source: tsl/profiler/utils/xplane_schema.cc.
enum class XStatKind : std::uint8_t {
  kOther,
  kHloOp,
  kHloModule,
  kProgramId,
  kHloCategory,
  kFlops,
  kModelFlops,
  kBytesAccessed,
  kTfOp,
  kAnnotation,
  kOpName,
  kCorrelation,
  kDeviceId,
  kMemcpyDetails,
  kMemsetDetails,
  kStepNum,
  kIsRoot,
  kAllocator,
  kBytesAllocated,
  kAllocationBytes,
  kHloProto,
  kDeviceName,
  kDeviceType,
  kDeviceVendor,
  kCoreCount,
  kMemorySize,
  kMemoryBandwidth,
  kPeakTflops,
  kPeakHbm,
  kProfileStart,
};

struct XStat {
  XStatKind kind = XStatKind::kOther;
  std::int64_t integer = 0;  // also of a number, rounded
  double number = 0.0;       // also of an integer
  std::string text;          // also of a reference
};

// Which statistic, and whose text, until all names are there.
struct XStatSource {
  std::int64_t metadata = 0;
  std::int64_t reference = 0;
};

struct XSourcedStat {
  XStat stat;
  XStatSource source;
};

struct XEventKind {
  std::string name;
  std::string display;
  std::vector<XStat> stats;
  std::vector<XStatSource> pending;
};

enum class XPlaneKind : std::uint8_t { kOther, kHost, kGpu, kTpu, kSparseCore, kMetadata };

struct XPlane {
  std::string name;
  XPlaneKind kind = XPlaneKind::kOther;
  std::int64_t ordinal = 0;  // of the device
  std::int64_t core = 0;     // of a SparseCore
  bool has_events = false;
  std::unordered_map<std::int64_t, XEventKind> events;
  std::unordered_map<std::int64_t, std::string> stat_names;  // references point here too
  std::unordered_map<std::int64_t, XStatKind> stat_kinds;
  std::vector<XStat> stats;
  std::vector<XStatSource> pending;
};

struct XLine {
  std::int64_t id = 0;
  std::string name;
  std::int64_t timestamp_ns = 0;
};

struct XEvent {
  std::int64_t metadata = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool is_sum = false;  // of many occurrences: no span
  std::vector<XStat> stats;
};

const XStat* find_stat(const std::vector<XStat>& stats, XStatKind kind);
std::string_view text_of(const std::vector<XStat>& stats, XStatKind kind);
XPlaneKind plane_kind(std::string_view name, std::int64_t& ordinal, std::int64_t& core);
XStatKind stat_kind(std::string_view name);

// A run of a module on a device.
struct XRun {
  std::int64_t module = 0;  // which name, in XplaneReading::run_names_
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

class XplaneReading {
 public:
  XplaneReading(std::string name, const XplaneOptions& options);
  Result<timeline::Recording> read(const OpenBytes& open);

 private:
  struct StepMark {
    std::int64_t number = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct LaneKey {
    RankId rank;
    timeline::Place place = timeline::Place::kDevice;
    std::int64_t stream = 0;
    auto operator<=>(const LaneKey&) const = default;
  };
  // An event of a GPU's stream until the operators of its plane are told. Numbers are of texts_.
  struct GpuEvent {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t correlation = 0;
    std::int64_t program = 0;
    std::int64_t bytes = -1;
    std::uint32_t lane = 0;
    std::uint32_t name = 0;
    std::uint32_t hlo_op = 0;
    std::uint32_t hlo_module = 0;
    std::uint32_t annotation = 0;
  };
  // What a module of the file needs while its operators are told.
  struct Program {
    HloModule module;
    std::unique_ptr<HloCounter> counter;
    std::unique_ptr<HloMatcher> matcher;
  };
  // Of an operator its kernels until one of them comes again: one execution.
  struct Execution {
    std::uint32_t operation = 0;
    std::vector<std::uint32_t> kernels;
  };
  struct LabelKey {
    std::uint32_t name = 0;
    const void* instruction = nullptr;
    bool is_first = false;
    std::int64_t bytes = -1;
    std::uint32_t annotation = 0;
    auto operator<=>(const LabelKey&) const = default;
  };

  // xplane_facts.cc
  void read_facts(Wire& field);
  void read_plane_facts(Wire& fields, XPlane& plane);
  void read_line_facts(Wire& line, XPlane& plane);
  void take_kind_field(Wire& fields, bool is_metadata, std::int64_t& key, XEventKind& kind);
  void read_event_kind(Wire& entry, XPlane& plane);
  void add_stat(Wire& field, std::vector<XStat>& stats, std::vector<XStatSource>& pending) const;
  void read_programs(Wire& stat, std::int64_t number);
  void read_stat_name(Wire& entry, XPlane& plane);
  void read_program(Wire& proto, std::int64_t id);
  static void resolve_stat(const XPlane& plane, const XStatSource& source, XStat& stat);
  void resolve_plane(XPlane& plane);
  std::string kept_text(Wire& fields);
  XSourcedStat read_stat(Wire& field) const;
  // xplane_events.cc
  void take_stat(Wire& fields, const XPlane& plane, XEvent& event) const;
  void read_line(Wire& fields, const XPlane& plane, const std::function<bool(const XLine&)>& wants,
                 const std::function<void(const XLine&, const XEvent&)>& take);
  std::optional<XEvent> read_event(Wire& fields, const XPlane& plane, const XLine& line);
  std::optional<timeline::LaneId> lane(RankId rank, timeline::Place place, std::int64_t stream,
                                       std::string_view name);
  void add(timeline::LaneId lane, timeline::LabelId label, std::int64_t correlation,
           std::int64_t start_ns, std::int64_t end_ns);
  // xplane_gpu.cc
  void read_gpu(Wire& fields, const XPlane& plane);
  void take_gpu_event(const XPlane& plane, const XLine& line, const XEvent& event);
  void add_gpu_events(RankId rank);
  std::optional<HloMatch> match_of(const GpuEvent& event, Program& program);
  timeline::LabelId gpu_label(const GpuEvent& event, const Program* program,
                              const std::optional<HloMatch>& match, RankId rank);
  void find_gpu_runs(RankId rank);
  Program* program_of(std::int64_t id, std::string_view name);
  std::uint32_t text_number(std::string_view text);
  // xplane_tpu.cc
  void read_tpu(Wire& fields, const XPlane& plane);
  void take_tpu_event(const XPlane& plane, const XLine& line, const XEvent& event);
  // What the module that the file carries says of an operator; nothing where it carries none.
  struct TpuInstruction {
    const Program* program = nullptr;
    const HloComputation* where = nullptr;
    const HloInstruction* instruction = nullptr;
  };
  [[nodiscard]] TpuInstruction tpu_instruction(std::int64_t number, const std::string& name) const;
  timeline::Label tpu_label(const XPlane& plane, const XEvent& event, bool is_async);
  void take_tpu_collective(const TpuInstruction& known, std::int64_t ordinal,
                           timeline::Label& label);
  // xplane_host.cc
  void read_host(Wire& fields, const XPlane& plane);
  void take_host_event(const XPlane& plane, const XLine& line, const XEvent& event);
  bool take_allocation(const XEventKind& kind, const XEvent& event);
  RankId rank_of_call(const XEvent& event) const;
  // xplane_steps.cc
  void choose_steps();
  void take_step(RankId rank, const XEventKind& kind, const XEvent& event);
  [[nodiscard]] std::vector<XRun> main_runs(RankId rank) const;
  void add_steps(RankId rank, const std::vector<StepMark>& marks);
  // xplane.cc
  void describe();
  [[nodiscard]] timeline::RecordedDevice device_of(const XPlane& plane) const;
  void describe_programs();

  const XplaneOptions& options_;
  timeline::Recording out_;
  Losses losses_;
  std::vector<XPlane> planes_;
  std::string host_;
  std::int64_t metadata_left_ = 0;
  std::int64_t metadata_text_left_ = 0;
  std::int64_t spans_left_ = 0;
  std::int64_t shift_ns_ = 0;  // taken off every time, where the file counts from 1970
  std::int64_t first_ns_ = 0;
  std::map<LaneKey, timeline::LaneId> lanes_;
  HloRoom hlo_room_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<RankId> ranks_;                         // whose devices have events
  std::unordered_map<std::int64_t, RankId> sent_to_;  // by correlation, where there are several
  std::vector<GpuEvent> gpu_events_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
  std::map<LabelKey, timeline::LabelId> labels_;
  std::map<std::uint32_t, Execution> executions_;  // by lane
  std::unordered_map<std::uint32_t, KernelMeaning> meanings_;
  std::map<std::int64_t, std::string> tpu_modules_;  // by program
  std::vector<std::string> run_names_;
  std::map<RankId, std::vector<XRun>> runs_;
  std::map<RankId, std::vector<StepMark>> device_steps_;
  std::vector<StepMark> host_steps_;
};

}  // namespace sextant::profile
