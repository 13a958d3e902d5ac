// What a file is, by its first bytes; and for what we know of and don't read, what to do instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant::profile {

enum class ProfileKind : std::uint8_t {
  kKineto,
  kChrome,   // another program's Chrome JSON
  kSextant,  // a step that we drew
  kSqlite,   // a database: Nsight Systems' export, or another's
  kXplane,
  kNsightReport,
  kPerfetto,
  kPickle,
  kChakraJson,
  kChakraProto,
  kMemoryTimeline,
  kParquet,
  kZip,
  kRocprofJson,
  kOtherJson,
  kEmpty,
  kUnknown,
};

// Enough to hold the first events of a trace, whatever stands before them.
inline constexpr std::size_t kKindHead = std::size_t{1} << 18U;
// Of up to kKindHead decompressed bytes.
ProfileKind profile_kind(std::string_view head);

struct Refusal {
  std::string_view what;
  std::string_view remedy;
};
// Nothing for what is read, or not known.
std::optional<Refusal> refusal_of(ProfileKind kind);

}  // namespace sextant::profile
