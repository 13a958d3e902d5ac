// XLA's profiles (`xplane.pb`: JAX, TensorFlow, PyTorch/XLA) → a Recording.
//
// Read: the streams of GPU planes ("/device:GPU:n"), the lines "XLA Ops" and "Async XLA Ops" of TPU
// planes ("/device:TPU:n") and those of their SparseCores, the threads of the host planes, what
// planes say of their devices, allocations, and the compiled modules (HloProto) that the file
// carries: from them operators by category, FLOPs and bytes where the plane has no counts of its
// own (hlo_count.h), collectives with groups, element type and bytes, the mesh and shardings. TPU
// planes are read by the published schema and conventions of XLA's profiler; no recorded one of a
// training run was at hand, tests make theirs.
//
// A GPU kernel inside a command buffer says only which buffer it ran in; it is matched with the
// module's schedule (hlo_match.h). FLOPs and bytes of an operator stand at the first of its
// kernels.
//
// Rank: the device's number n; nobody states one. Threads belong to the rank to whose device they
// sent work, else to the first. Times are nanoseconds on the file's clock; both ends of a span are
// rounded from picoseconds.
//
// Steps: the events of the plane's line "Steps"; else the host's step marks (events with
// `step_num`), where each run of the main module lies in one of them; else the runs of the main
// module, each until the next begins. The main module is the one that takes most time of the
// device; a run begins at the first of those of its operators that are seen least often.
//
// Limits: see XplaneLimits; what is beyond them is counted, not held. The file is read three times.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "profile/kernel_meaning.h"
#include "profile/wire.h"
#include "timeline/recording.h"

namespace sextant::profile {

struct XplaneLimits {
  std::int64_t planes = 5'000;
  std::int64_t metadata = 4'000'000;         // kinds of event and of statistic, of all planes
  std::int64_t metadata_text = 512'000'000;  // bytes of what they say
  std::int64_t lanes = 20'000;
  std::int64_t device_events = 20'000'000;  // of one GPU plane: held while it is read
};

struct XplaneOptions {
  KernelNames kernels;  // REQUIRES: callable
  std::int64_t most_spans = 100'000'000;
  XplaneLimits limits = {};
};

Result<timeline::Recording> read_xplane(const OpenBytes& open, const std::string& name,
                                        const XplaneOptions& options);

}  // namespace sextant::profile
