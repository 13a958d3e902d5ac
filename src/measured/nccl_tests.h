// What nccl-tests and rccl-tests print, as a user pastes it into a text file.
//
// A result line is found by its data type: two whole numbers (bytes, elements), a type word, then
// numbers. What stands before them (log prefixes such as "worker-0: ", "[1,0]<stdout>:",
// timestamps) does not matter; ANSI colours and CRLF are taken away, lines that a narrow terminal
// broke in two are joined. The columns after the type are those of the table's "# size count …"
// line; without one, or where a line does not fit it, their number tells:
//
//   numbers after type and reduction   meaning (group = time algbw busbw #wrong)
//   9, 8                               root and two groups; two groups: out-of-place, in-place
//   5, 4                               root and one group; one group
//   7, 6, 3                            the same without #wrong (4 too, where it begins with −1)
//
// A single group is out-of-place unless the header says otherwise or blanks fill the place of the
// first one. Words after the numbers (timestamps, algorithm names) are ignored.
//
// The text is what the user's machine printed, so what does not fit together is kept and said in
// `warnings`; only text without any usable result line, or beyond the limits, is an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "describe/assumption.h"
#include "describe/collective.h"
#include "measured/row.h"

namespace sextant::measured {

inline constexpr std::int64_t kMostNcclTables = 1'000;
inline constexpr std::int64_t kMostNcclLines = 100'000;  // result lines of all tables; device lines
inline constexpr std::int64_t kMostNcclRanks = 1'000'000;

// One measurement. The roundings are half of the last digit printed: the true value lies within.
struct NcclTiming {
  Seconds time;  // > 0
  BytesPerSecond algbw;
  BytesPerSecond busbw;
  Seconds time_rounding;
  BytesPerSecond algbw_rounding;
  BytesPerSecond busbw_rounding;
  // Wrong elements; where the column is called "error", as it once was, the largest difference
  // (1e-07). Empty: not checked.
  std::optional<double> errors;
};

// One message size. At least one of the two timings is there.
struct NcclLine {
  std::int64_t line = 0;  // of the text, from 1
  // As printed: all-reduce and broadcast the buffer; all-gather and reduce-scatter the total over
  // ranks; all-to-all one rank's send buffer; send-receive the message.
  Bytes bytes;        // > 0
  std::string dtype;  // "float", "bfloat16"
  std::string redop;  // "sum", "none"; empty in old outputs of operations that reduce nothing
  std::optional<std::int64_t> root;
  std::optional<NcclTiming> out_of_place;
  std::optional<NcclTiming> in_place;
  bool wrong = false;      // some elements were wrong: the time may not be that of the real work
  bool consistent = true;  // false: bytes, time and bandwidths contradict each other or the ranks
};

// One run of one test program; tables without a usable line are not returned.
struct NcclTable {
  // From "Collective test starting: all_reduce_perf", a command line, the caller's hint, or where
  // only one operation prints such lines, the lines themselves (said in `assumed`). Empty: cannot
  // be told, or a test without a counterpart here (reduce, gather, scatter, …; see `program`).
  std::optional<CollectiveOp> op;
  std::string program;  // "all_reduce_perf"; empty where none is named
  // Of one communicator: from the device list, else "nranks" of NCCL's log, else the one number
  // that busbw allows (bytes / time · 2(n−1)/n for all-reduce, (n−1)/n for all-gather,
  // reduce-scatter and all-to-all; nccl-tests, doc/PERFORMANCE.md), else nThread × nGpus.
  std::optional<std::int64_t> ranks;
  std::int64_t groups = 1;            // communicators that ran at once (NCCL_TESTS_SPLIT)
  std::optional<std::int64_t> nodes;  // hosts that one communicator spans
  std::vector<std::string> hosts;     // of the device list, each once, in its order
  std::string device;                 // "NVIDIA H100 80GB HBM3"; of the first rank
  CollectiveLibrary library = CollectiveLibrary::kUnknown;
  std::string library_version;  // "2.18.3+cuda12.2"
  std::vector<NcclLine> lines;  // never empty, in the order of the text
  describe::Assumptions assumed;
  std::vector<std::string> warnings;  // "where:line: what"; at most 20 and a count of the others
};

// The tables of `text` in order. `where` names it in messages; `hint` is the operation of tables
// that name no program (see nccl_op_in). Work is linear in the text but for
// one sort of a table's lines; the caller bounds its size.
Result<std::vector<NcclTable>> parse_nccl_tests(std::string_view text, std::string_view where,
                                                std::optional<CollectiveOp> hint = std::nullopt);

// The one operation that a file's name or a program's names: "h100_allreduce.txt",
// "all_reduce_perf". Nothing where it names none or several.
std::optional<CollectiveOp> nccl_op_in(std::string_view name);

}  // namespace sextant::measured
