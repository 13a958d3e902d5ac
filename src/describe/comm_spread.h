// How far a healthy system may lie from the communication model (data/comm/spread.toml), by where
// the group lies and by the size of the message.
#pragma once

#include <array>
#include <cstddef>

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

enum class CommRegime : std::size_t {
  kOneDomain,
  kTwoDomains,
  kManyDomains,
  kOneHost,  // links that one host's layout decides: PCIe without switches of its own
  kSockets,
};
inline constexpr std::array<Word<CommRegime>, 5> kCommRegimeWords{
    {{CommRegime::kOneDomain, "one_domain"},
     {CommRegime::kTwoDomains, "two_domains"},
     {CommRegime::kManyDomains, "many_domains"},
     {CommRegime::kOneHost, "one_host"},
     {CommRegime::kSockets, "sockets"}}};

struct CommSpread {
  // A factor: nine of ten healthy measurements lie between prediction / factor and prediction ·
  // factor. Sizes: under 32 KiB, to 1 MiB, to 16 MiB, to 256 MiB, beyond.
  std::array<std::array<Sourced<double>, 5>, kCommRegimeWords.size()> factors;

  [[nodiscard]] double factor(CommRegime regime, Bytes bytes) const;
};

Result<CommSpread> comm_spread(const DataStore& data);

}  // namespace sextant::describe
