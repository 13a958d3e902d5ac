// The file of authorities that this machine trusts, looked for where the program runs: a static
// program cannot know where the system keeps it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"

namespace sextant::http {

// Where systems keep it: Debian, Fedora and Red Hat, SUSE, Alpine.
std::span<const std::filesystem::path> usual_authorities();

// `told` (the environment's SSL_CERT_FILE) where it is not "", else the first of `usual` that is
// there. An Error names what was looked at.
Result<std::filesystem::path> authorities_file(const std::string& told,
                                               std::span<const std::filesystem::path> usual);

}  // namespace sextant::http
