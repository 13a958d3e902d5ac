// Bytes of a file or a pipe, a piece at a time, decompressed on the way: profiles are larger than
// what should be held. Plain, gzip (all members) and zstd, told by the first bytes, not by the
// name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::profile {

class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;

  // Fills as much of `into` as there is; 0 at the end. What was damaged ends the bytes early and is
  // said by damage(): what came before it is whole.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  // "gzip data ends early", "checksum differs"; empty: nothing was.
  [[nodiscard]] virtual std::string damage() const { return {}; }
  // Whether the bytes are those of the file, or unpacked from them.
  [[nodiscard]] virtual bool is_packed() const { return false; }
  // Of the file, for progress: bytes taken from it so far, and all of it (0: not known).
  [[nodiscard]] virtual std::int64_t consumed() const = 0;
  [[nodiscard]] virtual std::int64_t size() const = 0;
};

// "-" is standard input. `limit`: decompressed bytes that may come of it; more is an Error that
// says so (a bomb of a few kilobytes holds terabytes).
Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& path,
                                               std::int64_t limit);
// Bytes already held, compressed or not; for tests and fuzzing. They must outlive it.
Result<std::unique_ptr<ByteSource>> bytes_of(std::string_view held, std::int64_t limit);

// The first bytes, as many as there are up to so many, to tell a format by; and a source that gives
// them again, then the rest.
struct Head {
  std::string bytes;
  std::unique_ptr<ByteSource> whole;
};
Result<Head> read_head(std::unique_ptr<ByteSource> source, std::size_t bytes);

}  // namespace sextant::profile
