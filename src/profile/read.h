// A profile of any kind that Sextant reads, as a Recording. The kind is told by the bytes, never by
// the name. What we know of and don't read is refused by name, with the command that exports what
// is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "profile/byte_source.h"
#include "profile/operator_table.h"
#include "profile/recognition.h"
#include "timeline/recording.h"

namespace sextant::profile {

// 256 GiB, 100 million events (2.4 to 4.8 GB where they are held): beyond what a day's profile has.
inline constexpr std::int64_t kMostProfileBytes = std::int64_t{256} << 30U;
inline constexpr std::int64_t kMostProfileEvents = 100'000'000;

struct ReadOptions {
  RecognitionTable names;
  OperatorTable operators = {};
  // Of the file's first rank, whatever the file says; its others are those after it.
  std::optional<RankId> rank = std::nullopt;
  std::int64_t most_bytes = kMostProfileBytes;  // decompressed
  std::int64_t most_events = kMostProfileEvents;
  // Bytes taken of the file and its size (0: not known), now and then.
  std::function<void(std::int64_t taken, std::int64_t size)> progress = {};
};

// Reading is reentrant: files may be read side by side. "-" is standard input. An Error where the
// file can't be opened or is nothing that we read; damage is said in Recording::unread.
Result<timeline::Recording> read_profile(const std::filesystem::path& path,
                                         const ReadOptions& options);

// The same of bytes; `name` stands for the file's.
Result<timeline::Recording> read_profile_bytes(std::string_view held, const std::string& name,
                                               const ReadOptions& options);

}  // namespace sextant::profile
