// MCP over HTTP on this machine: one POST a message, at /mcp. Host and Origin, sizes and the number
// of connections are checked by http/server.h before anything gets here.
//
// An answer comes as JSON; once there is something to tell before it, as a stream of events that
// ends with it. Who closes the connection cancels the request. A client of the handshake's era gets
// a session (Mcp-Session-Id), may cancel by notification within it and end it by DELETE; there is
// no stream to GET, as nothing is ever told that was not asked.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "front/mcp/server.h"

namespace sextant::front::mcp {

// Listens on 127.0.0.1 at the port (0: a free one), says by `listening` at which, and answers until
// `wait` returns.
Result<void> serve_http(const Server& server, std::uint16_t port,
                        const std::function<void(std::uint16_t port)>& listening,
                        const std::function<void()>& wait);

}  // namespace sextant::front::mcp
