#include "http/authorities.h"

#include <array>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::http {

std::span<const std::filesystem::path> usual_authorities() {
  static const std::array<std::filesystem::path, 4> kUsual{
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  return kUsual;
}

Result<std::filesystem::path> authorities_file(const std::string& told,
                                               std::span<const std::filesystem::path> usual) {
  std::error_code ignored;
  if (!told.empty()) {
    if (!std::filesystem::is_regular_file(told, ignored)) {
      return not_found(fmt::format("'{}' is no file", printable(told)), "SSL_CERT_FILE",
                       "a file of certificates (PEM)");
    }
    return told;
  }
  std::string tried;
  for (const std::filesystem::path& path : usual) {
    if (std::filesystem::is_regular_file(path, ignored)) {
      return path;
    }
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  return not_found(
      fmt::format("no certificates of authorities on this machine (looked for {}): "
                  "install ca-certificates, or name a file in SSL_CERT_FILE",
                  tried));
}

}  // namespace sextant::http
