// Names of hosts → addresses, by /etc/hosts and the name servers of /etc/resolv.conf.
//
// Other sources that /etc/nsswitch.conf may name (mdns, systemd-resolved, …) are not asked: their
// libraries belong to the system's C library, and a static program has its own
// (docs/decisions/0020-http.md).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/stream.h"

namespace sextant::http {

// "127.0.0.1", "::1": no name.
bool is_address(const std::string& host);

// At least one address, as text. Addresses and localhost are known without asking anybody.
Result<std::vector<std::string>> addresses_of(const std::string& host, const Patience& patience);

}  // namespace sextant::http
