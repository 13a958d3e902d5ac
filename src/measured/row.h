// One measured number and what it was measured on, ready for a predictor.
//
// A table row gives one Row per measured column. Where the table leaves something open, the reader
// either fills it by a stated rule and says so in `assumed`, or refuses the row in `refusal`; it
// never guesses silently. Numbers keep the unit of their column: the unit is part of the quantity's
// name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/collective.h"
#include "describe/layout/job.h"

namespace sextant::measured {

// A job shared by the rows of its table line; null where the row is refused before there is a job.
using JobPointer = std::shared_ptr<const describe::Job>;

enum class TableKind {
  kRuns,
  kCollectives,
  kEpAllToAll,
  kCommEfficiency,
  kGpuKernels,
  kMemory,
  kShardedMemory,
  kTrainSteps,
  kRankCompute,
  kStepCollectives,
  kClusterSteps,
  kClusterBench,
  kKernelEfficiency,
  kStageTimes,
  kPipelineSchedules,
  kChanges,
};

// How far a published number may be believed: C is reported and never scored.
enum class Trust { kA, kB, kC };

// What a published memory number counts: they differ by up to about 15 %.
enum class MemoryKind { kUnknown, kAllocated, kReserved, kDevice };

// A published training run.
struct RunSubject {
  JobPointer job;
  MemoryKind memory = MemoryKind::kUnknown;
  Bytes memory_unit = 1_GiB;          // of the printed number: some sources print decimal GB
  bool memory_of_last_stage = false;  // of the rank that logs (Megatron's last), not the fullest
  // Properties of the run that a Layout cannot say: "vocabulary layers split over all stages".
  std::vector<std::string> beyond_layout;
  std::string framework;  // as the table writes it
  std::string flags;
  std::string recompute;
  std::string hardware;
  std::string date;
  std::string origin = {};  // the paper or repository it is from (origin.h)
};

using describe::CollectiveOp;
using describe::kCollectiveOpWords;

enum class CollectiveLibrary { kUnknown, kNccl, kRccl, kOneCcl, kGloo, kXla };
enum class ForcedAlgorithm { kNone, kRing, kTree, kNoNvls };

// What the link columns of a communication table say. Empty: not stated.
struct Links {
  std::optional<describe::ScaleUp> scale_up;
  std::optional<BytesPerSecond> scale_up_rate;  // per device and direction
  std::optional<std::int64_t> domain_size;      // devices in one NVLink domain where it spans nodes
  std::optional<describe::FabricFamily> fabric;
  std::optional<BytesPerSecond> network_rate;  // per device and direction
  std::optional<Seconds> added_delay;          // a delay put on the link on purpose
  bool gpu_direct = true;  // false: the text says that the NIC goes through the host
};

struct CollectiveSubject {
  std::optional<std::string> device;  // an id of data/devices
  std::string hardware;               // as the table writes it
  Links links;
  std::optional<std::int64_t> devices_per_node;
  std::optional<std::int64_t> nodes;
  std::int64_t ranks = 0;
  CollectiveOp op = CollectiveOp::kAllReduce;
  // all-reduce: the buffer; all-gather, reduce-scatter: the total over ranks; all-to-all: one
  // rank's send buffer; send-receive: the message.
  Bytes bytes;
  std::optional<bool> in_place;
  CollectiveLibrary library = CollectiveLibrary::kUnknown;
  std::string library_version;
  std::string dtype;
  ForcedAlgorithm forced = ForcedAlgorithm::kNone;
  bool framework_timer = false;        // timed from PyTorch or XLA, so its overhead is inside
  bool healthy = true;                 // false: notes begin with DEGRADED or NOISY
  std::int64_t concurrent_groups = 1;  // groups of `ranks` that ran at once
};

enum class EpOperation { kDispatch, kCombine, kAllToAll };
inline constexpr std::array<describe::Word<EpOperation>, 3> kEpOperationWords{
    {{EpOperation::kDispatch, "dispatch"},
     {EpOperation::kCombine, "combine"},
     {EpOperation::kAllToAll, "alltoall"}}};

struct EpAllToAllSubject {
  std::optional<std::string> device;
  std::string hardware;
  Links links;
  std::string library;
  std::string mode;
  std::int64_t nodes = 0;
  std::int64_t ep = 0;
  std::optional<std::int64_t> tokens_per_rank;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> topk;
  std::optional<std::int64_t> experts;
  std::optional<std::int64_t> topk_groups;  // nodes a token may reach, where the notes say so
  std::string dtype;
  EpOperation op = EpOperation::kDispatch;
  std::optional<std::int64_t> sms;
  std::string bandwidth_kind;
  bool with_notify = false;  // the time holds the layout exchange too
};

// A share of the theoretical bus bandwidth, by size and scale.
struct CommEfficiencySubject {
  std::string table;
  Bytes bytes;
  std::int64_t nodes = 0;
  std::int64_t devices = 0;
};

struct KernelSubject {
  std::string device;
  std::string kind;     // gemm, bmm, attention, memory, loss, optimizer, pcie, launch
  std::string variant;  // fprop, flash-bwd, silu_mul, …
  std::string dtype;
  std::array<std::optional<std::int64_t>, 6> sizes;  // a … f; see the table's conventions
};

struct KernelEfficiencySubject {
  std::optional<std::string> device;
  std::string op;                                          // matmul, group_matmul, sdp_fwd, sdp_bwd
  std::vector<std::pair<std::string, std::string>> shape;  // name and value, in table order
  FlopsPerSecond peak;                                     // what the efficiency is a share of
};

// A whole model on one device, in plain PyTorch: train steps and memory.
struct SingleDeviceSubject {
  JobPointer job;
  std::string optimizer_implementation;  // fused, foreach, loop; "" where the table does not say
  bool autocast = false;                 // fp32 parameters, bf16 products
};

// Compute of rank 0 of a distributed job with communication replaced by nothing.
struct RankComputeSubject {
  JobPointer job;
  std::string name;  // the case
};

// One kind of message that a step of the job sends from rank 0.
struct StepCollectiveSubject {
  JobPointer job;
  std::string name;  // the case
  std::string call;  // the framework's name of the operation
  CollectiveOp op = CollectiveOp::kAllReduce;
  bool functional =
      false;  // tensor parallel's (functional collectives) rather than data parallel's
  std::int64_t group_size = 0;
  Bytes input;
  Bytes output;
  std::string dtype;
  std::int64_t count = 0;  // messages a step
};

struct ClusterStepSubject {
  JobPointer job;
  std::int64_t threads = 0;                    // a rank
  std::optional<std::filesystem::path> bench;  // micro-benchmarks of the same cluster
};

struct ClusterBenchSubject {
  std::int64_t world = 0;
  std::int64_t threads = 0;
  std::string kind;  // matmul, all_reduce, ping_pong
  std::int64_t group = 0;
  std::array<std::optional<std::int64_t>, 3> sizes;
};

// A pipeline whose stages were timed one by one.
struct StageTimesSubject {
  std::string name;  // the case
  std::string method;
  std::int64_t dp = 1;
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t seq = 0;
  std::int64_t vocab = 0;
  std::vector<Seconds> forward;  // by stage
  std::vector<Seconds> backward;
};

// One entry of a pipeline's action table. B = input and weight gradient together.
enum class PipelineWork { kForward, kBackward, kInputGradient, kWeightGradient, kReduceGradient };
struct PipelineAction {
  PipelineWork work = PipelineWork::kForward;
  std::int64_t stage = 0;
  std::int64_t microbatch = 0;
};
// One slot of one rank: idle (empty), one action, or two that overlap.
using PipelineSlot = std::vector<PipelineAction>;

// What changes of speed are measured in: speed after over speed before, of a device.
inline constexpr std::string_view kSpeedRatio = "speed_ratio";

// A published single change: the job before and after it. Both null where the row is refused before
// there are jobs.
struct ChangeSubject {
  JobPointer before;
  JobPointer after;
  std::string kind;    // what was changed, in the table's word: precision, mbs, overlap, …
  std::string title;   // of the source
  std::string origin;  // the paper or repository it is from (origin.h)
};

struct PipelineScheduleSubject {
  std::string name;  // the source's name of the schedule
  std::optional<describe::Schedule> schedule;
  std::int64_t pp = 0;
  std::int64_t vpp = 0;
  std::int64_t microbatches = 0;
  std::vector<std::vector<PipelineSlot>> ranks;
};

using Subject =
    std::variant<RunSubject, CollectiveSubject, EpAllToAllSubject, CommEfficiencySubject,
                 KernelSubject, KernelEfficiencySubject, SingleDeviceSubject, RankComputeSubject,
                 StepCollectiveSubject, ClusterStepSubject, ClusterBenchSubject, StageTimesSubject,
                 PipelineScheduleSubject, ChangeSubject>;

struct Row {
  std::string id;      // the table's id, else "file.csv#line"
  std::string source;  // the file's name without extension
  TableKind table = TableKind::kRuns;
  std::string quantity;   // the measured column: step_time_s, time_us, peak_gib, …
  double measured = 0.0;  // in the quantity's own unit
  Trust trust = Trust::kA;
  describe::Assumptions assumed;
  std::optional<std::string> refusal;  // why no predictor can be asked
  // Rows that differ in nothing but layout share this key; "" where there is nothing to rank.
  std::string layout_group;
  Subject subject;
};

}  // namespace sextant::measured
