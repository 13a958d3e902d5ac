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

// Sizes that behave alike: under 32 KiB 0, to 1 MiB 1, to 16 MiB 2, to 256 MiB 3, beyond 4. A class
// holds its lower end.
inline constexpr std::size_t kSizeClasses = 5;
std::size_t size_class(Bytes bytes);

struct CommSpread {
  // A factor: nine of ten healthy measurements lie between prediction / factor and prediction ·
  // factor.
  std::array<std::array<Sourced<double>, kSizeClasses>, kCommRegimeWords.size()> factors;

  [[nodiscard]] const Sourced<double>& at(CommRegime regime, Bytes bytes) const {
    return factors[static_cast<std::size_t>(regime)][size_class(bytes)];
  }
  [[nodiscard]] double factor(CommRegime regime, Bytes bytes) const {
    return at(regime, bytes).value;
  }
};

Result<CommSpread> comm_spread(const DataStore& data);

}  // namespace sextant::describe
