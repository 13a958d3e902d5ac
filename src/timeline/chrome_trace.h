// A Timeline as Chrome trace JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace sextant::timeline {

// Receives the document piece by piece, so that a trace of any size needs one buffer.
using Sink = std::function<void(std::string_view)>;

// One process a rank, one thread a stream, one complete event ("ph":"X") a span in the order of
// spans(), with what is known of it as arguments: bytes and flops under names of ours, a collective
// and a correlation as PyTorch's profiler (Kineto) names them, so that its readers find them. Then
// an arrow for each launch (launches.h, whose memory this takes). Times are microseconds with three
// decimals: nothing of a nanosecond is lost. profile/ reads it back as it was, but for names that
// are no UTF-8 and lanes without a name.
void write_chrome_trace(const Timeline& timeline, const Sink& sink);

std::string chrome_trace(const Timeline& timeline);

}  // namespace sextant::timeline
