// What stands around the results of nccl-tests: program, devices, library, communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measured/nccl_lines.h"
#include "measured/nccl_tests.h"

namespace sextant::measured {

// "#  Rank  3 Group  0 Pid  4711 on   node-1 device  3 [0000:19:00] NVIDIA H100 80GB HBM3".
struct NcclDevice {
  std::int64_t rank = 0;
  std::int64_t group = 0;
  std::string host;
  std::string device;  // empty where the line was cut
};
std::optional<NcclDevice> device_in(const NcclLines& line);

// How sure a line is about the program: it was named, its command was typed, it says itself.
enum class NcclMention { kNamed, kCommand, kStarting, kConcluded };
struct NcclProgram {
  std::string name;                // "all_reduce_perf"
  std::optional<CollectiveOp> op;  // nothing: a test without a counterpart here
  NcclMention mention = NcclMention::kNamed;
};
std::optional<NcclProgram> program_in(const NcclLines& line);

// "NCCL version 2.18.3+cuda12.2", "RCCL version : 2.28.3", "nccl-library=22602", "rccl-tests".
struct NcclLibrary {
  CollectiveLibrary library = CollectiveLibrary::kUnknown;
  std::string version;      // may be empty
  bool begins_run = false;  // said by the first line of a run
};
std::optional<NcclLibrary> library_in(const NcclLines& line);

// "comm 0x… rank 15 nranks 32 …", "… nRanks 16 nNodes 2 …" of NCCL's own log.
struct NcclCommunicator {
  std::int64_t ranks = 0;
  std::optional<std::int64_t> nodes;
};
std::optional<NcclCommunicator> communicator_in(const NcclLines& line);

// nThread × nGpus of "# nThread 1 nGpus 8 minBytes …", the first line of a run.
std::optional<std::int64_t> devices_of_process_in(const NcclLines& line);

// The lines after the last result.
bool is_footer(std::string_view text);

}  // namespace sextant::measured
