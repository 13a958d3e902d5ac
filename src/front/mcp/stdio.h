// MCP over a pair of streams: a message a line, both ways, and nothing else.
//
// Short requests are answered where they are read. Long ones (may_take_long) wait their turn for
// kWorkers threads, at most kMostWaiting of them; a cancelled one is answered no more. A line that
// is too long is skipped and said to be so. Ends where the input ends: what is being answered then
// is stopped.
#pragma once

#include <cstddef>

#include "front/mcp/server.h"

namespace sextant::front::mcp {

inline constexpr int kWorkers = 4;
inline constexpr std::size_t kMostWaiting = 64;

// File descriptors.
struct Streams {
  int in = 0;
  int out = 1;
};

void serve_streams(const Server& server, Streams streams);

}  // namespace sextant::front::mcp
