// Chrome traces that are not PyTorch's: a whole job on one timeline, as the straggler studies draw
// it, and steps that Sextant predicted (timeline/chrome_trace.h), which come back as they were.
//
// Of a foreign trace each process is a rank (by its number among them, unless its name says
// "rank 3"), each thread a lane of it. Where names of processes and threads say coordinates ("DP
// rank [0]" and "PP rank 1, TP rank 3, compute"), the lanes of one place in the layout are one
// rank, numbered as Megatron numbers them: tp fastest, then dp, then pp. What a span is, the table
// of names says of its name; what it does not know is a mark. Arguments that are read: step,
// mb_id, model_chunk, seq_id (kept as sequence number), correlation, bytes. Times are those of the
// file.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/byte_source.h"
#include "profile/read.h"
#include "timeline/recording.h"

namespace sextant::profile {

Result<timeline::Recording> read_chrome(ByteSource& source, const std::string& name,
                                        const ReadOptions& options);
Result<timeline::Recording> read_sextant(ByteSource& source, const std::string& name,
                                         const ReadOptions& options);

}  // namespace sextant::profile
