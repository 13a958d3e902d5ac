// Profiles of PyTorch (Kineto's Chrome JSON) as a Recording.
//
// Kernels, copies and sets lie on the device's streams; calls into the runtime, operators, Python
// functions and annotations on the host's threads. Of an operator that bears a stream (Triton's)
// nothing but its category says that it is no kernel: the category decides. Times are exact to the
// nanosecond, from the first event.
//
// A second document in the file is another rank's if it says another rank; else its events join the
// first's.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/byte_source.h"
#include "profile/read.h"
#include "timeline/recording.h"

namespace sextant::profile {

// `name`: the file's, which may say a rank.
Result<timeline::Recording> read_kineto(ByteSource& source, const std::string& name,
                                        const ReadOptions& options);

}  // namespace sextant::profile
