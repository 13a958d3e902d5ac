// Recording: what one profile shows, whoever recorded it, as readers (profile/) hand it on and
// metrics/ measures it. The Timeline carries what happened; beside it stands what is not a span.
//
// Streams of a device are lanes of Place::kDevice, threads of the host of Place::kHost. A
// communication that a thread carries out itself (gloo) is of kind kCommunication on a host lane. A
// step marker is a kMark named "ProfilerStep#12" or as `steps` says. All times are nanoseconds from
// the Timeline's origin, which is `origin_ns` on the recorder's own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "timeline/timeline.h"

namespace sextant::timeline {

enum class Recorder : std::uint8_t {
  kKineto,   // PyTorch's profiler, Chrome JSON
  kNsight,   // Nsight Systems, sqlite
  kXplane,   // XLA's profiler, xplane.pb
  kChrome,   // another program's Chrome JSON: a whole job on one timeline
  kSextant,  // a predicted step
};

// What the source says of a rank's device; nothing where it does not say.
struct RecordedDevice {
  std::string name;
  std::optional<Bytes> memory = std::nullopt;
  std::optional<std::int64_t> multiprocessors = std::nullopt;
  std::optional<FlopsPerSecond> peak = std::nullopt;
  std::optional<BytesPerSecond> memory_bandwidth = std::nullopt;
};

struct RecordedRank {
  RankId rank;
  bool is_stated = false;  // by the source; else its number among the file's devices
  std::optional<std::int64_t> world = std::nullopt;  // ranks of the job
  std::string host = {};                             // empty: not said
  std::optional<RecordedDevice> device = std::nullopt;
  // Where it stands in the layout, as far as the source says: {"dp", 0}, {"pp", 3}, {"tp", 1}.
  std::vector<std::pair<std::string, std::int64_t>> coordinates = {};
};

// The steps of a rank, where the source marks them: [start, end), in order, not overlapping.
struct RecordedStep {
  RankId rank;
  std::int64_t number = 0;  // as the source counts them
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// The allocator of a device after one allocation (change > 0) or release.
struct MemoryPoint {
  RankId rank;
  std::int64_t at_ns = 0;
  std::int64_t change_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
};

// Work on `stream` starts no earlier than the work before an event on another stream has ended; or
// a thread of the host waits for it (blocks_host).
struct StreamWait {
  RankId rank;
  std::int64_t at_ns = 0;
  std::int64_t duration_ns = 0;
  StreamId stream;                           // that waits; of a waiting host, that it waits for
  std::optional<CorrelationId> correlation;  // of the call that asked to wait
  std::optional<StreamId> waited_on;
  std::optional<CorrelationId> recorded_by;  // of the call that recorded the event
  bool blocks_host = false;
  // The source names the stream that waits; else `stream` is the one that is waited for, or -1.
  bool is_stream_stated = true;
};

// A program that a compiler made, and how it lies on devices, as the source says it.
struct RecordedSharding {
  std::string of;        // an array: "p['emb']"
  std::string sharding;  // "[{data,fsdp}, {}]", "{devices=[2,1]<=[2]}"
};
struct RecordedProgram {
  std::string name;
  std::int64_t id = 0;
  std::int64_t replicas = 1;
  std::int64_t partitions = 1;
  std::string mesh = {};  // "data=2,tensor=4"; empty: not said
  std::vector<RecordedSharding> shardings = {};
};

// What could not be read, or was left out, by reason.
struct Unread {
  std::string what;  // "events without a start", "truncated: the last 1.2 MB"
  std::int64_t count = 0;
};

struct Recording {
  Recorder recorder = Recorder::kKineto;
  std::string source;  // the file, or what the caller named it
  Bytes bytes;         // read, after decompression
  Timeline timeline;   // sorted
  std::int64_t origin_ns = 0;
  std::int64_t base_ns = 0;  // part of origin_ns: what the source adds to all times in its file
  std::vector<RecordedRank> ranks;        // by rank
  std::vector<RecordedStep> steps;        // by rank, then start
  std::vector<MemoryPoint> memory;        // by rank, then time
  std::vector<StreamWait> waits;          // by rank, then time
  std::vector<RecordedProgram> programs;  // by name, then id
  std::vector<Unread> unread;
  // Shapes, stacks and memory were recorded: absence of a finding means something only then.
  bool has_shapes = false;
  bool has_stacks = false;
  bool has_memory = false;
  bool has_sync_events = false;
};

}  // namespace sextant::timeline
