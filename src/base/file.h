// Reading a whole file, with a stated limit: the only way bytes from outside enter the program.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace sextant {

// The file's bytes. "-" reads standard input. A directory, an unreadable file, or more than `limit`
// bytes is an Error; never more than `limit` bytes are held.
Result<std::string> read_file(const std::filesystem::path& path, Bytes limit);

// The same, and the text must be UTF-8 without NUL bytes (the error names the line).
Result<std::string> read_text(const std::filesystem::path& path, Bytes limit);

// Writes the whole text beside `path` and renames it there: readers see the old file or the new
// one.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);
// The same for text that is too long to be held: `pour` gives it piece by piece.
Result<void> write_pieces(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view)>& sink)>& pour);

// UTF-8 without NUL and no longer than `limit`, else an Error at `where`.
Result<std::string_view> checked_text(std::string_view text, Bytes limit, std::string_view where);

}  // namespace sextant
