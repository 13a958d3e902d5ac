// TLS over another stream, as the client.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/stream.h"

namespace sextant::http {

struct TlsTo {
  std::string host;                   // whose certificate it must be
  std::filesystem::path authorities;  // PEM
};

// The handshake is done and the certificate is that host's, by one of the authorities. TLS 1.2 or
// later. No configuration file of OpenSSL is read.
Result<std::unique_ptr<Stream>> secured(std::unique_ptr<Stream> plain, const TlsTo& to,
                                        const Patience& patience);

}  // namespace sextant::http
