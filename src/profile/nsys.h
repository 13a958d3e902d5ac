// Nsight Systems' sqlite export (`nsys export --type sqlite`) → a Recording.
//
// Read: kernels, copies, sets and whole CUDA graphs of every device; calls of the CUDA runtime and
// driver and NVTX ranges of every thread, joined to the device's work by correlation; waits between
// streams and of the host; allocations of device memory; what the file says of its devices and its
// host. Columns that a version of the schema has not are unknown; what a table holds up to where it
// is damaged is read, the rest is said in `unread`.
//
// Rank: a (process, device) pair that ran kernels, in order of device, then process; stated where
// the file has one and the environment of what was profiled tells its rank. Times are those of the
// file (nanoseconds since the session began), which are `origin_ns` from 1970.
//
// An NVTX range with PyTorch's ", op_id = 7" (emit_nvtx) is that operator, of kind kHost, under its
// name alone; any other is a kMark; NCCL's own are calls (kHost) with the bytes that their payload
// says, where the export has it.
//
// Steps: NVTX ranges of one thread that do not overlap, with one name but for the number at its
// end, the last word of which is "step", "iter", "iteration" or "batch" (not of what is part of a
// step: "forward_step"); of several such rows of ranges, the one that covers most time. One range
// alone is a step where its name has a number.
//
// Limits: values of 16 MiB (nsys_database.h), `most_spans` spans, kMostLanes lanes, names cut at
// kLongestName bytes; what is beyond them is counted, not held.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/kernel_meaning.h"
#include "timeline/recording.h"

namespace sextant::profile {

struct NsysOptions {
  KernelNames kernels;  // REQUIRES: callable
  std::int64_t most_spans = 100'000'000;
};

constexpr std::size_t kMostNsysLanes = 20'000;
constexpr std::size_t kLongestNsysName = 2'048;

Result<timeline::Recording> read_nsys(const std::filesystem::path& path,
                                      const NsysOptions& options);
// The same of bytes already held; for tests and fuzzing.
Result<timeline::Recording> read_nsys_bytes(std::string_view bytes, const std::string& name,
                                            const NsysOptions& options);

}  // namespace sextant::profile
