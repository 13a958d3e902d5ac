// Profiles and summaries, read side by side in bounded memory, as what is measured of each rank.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/number_ranges.h"
#include "app/trace_files.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/diagnose_view.h"
#include "explain/hta_view.h"
#include "metrics/summary.h"
#include "timeline/recording.h"

namespace sextant::app {

// As a person says it.
struct TraceRequest {
  std::vector<std::string> traces;  // what trace_files() takes
  std::string steps = {};           // "3-7"; "": all but the first and the last
  std::string ranks = {};           // "0,3-5"; "": all
  std::string names = {};           // a table of kernels' names that goes before ours
  bool keeps_collectives = false;   // each one as its rank saw it
  bool as_hta = false;              // HTA's numbers beside ours
  std::size_t keeps_spans = 0;      // of all files together, about: the longest, to be looked at
};

// What is read of one rank.
struct RankReading {
  metrics::RankSummary summary;
  bool is_stated = true;
  std::size_t file = 0;
};

struct TraceReading {
  std::vector<explain::DiagnosedFile> files;  // those that were read
  std::vector<RankReading> ranks;             // by rank; not empty
  explain::Provenance provenance;             // of a file, the hash of its summary
  std::vector<explain::DiagnosedLoss> unread;
  std::vector<std::string> notes;
  std::vector<explain::HtaRankTables> hta;  // where asked for
  timeline::Timeline spans;                 // those kept, of kept steps, on the recorder's clock
  bool is_stopped = false;                  // whoever asked has stopped it: files are missing
};

// Ranks are those that files say; of several files each must say its own, inside or by its name, or
// be told. A file that can't be read is a loss where others can.
Result<TraceReading> read_traces(const TraceRequest& request, const Context& context,
                                 const Control& control);

}  // namespace sextant::app
