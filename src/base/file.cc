#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/read_fence.h"
#include "base/text.h"

namespace sextant {
namespace {

tl::unexpected<Error> too_large(std::string_view where, Bytes limit) {
  return invalid(fmt::format("larger than {:.0f} MiB", limit / 1_MiB), std::string(where),
                 fmt::format("at most {:.0f} bytes", limit.base()));
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, Bytes limit) {
  const std::string where = path == "-" ? "standard input" : path.string();
  SEXTANT_TRY(const OpenFile file, open_file(path));
  // A plain file says its size: one that is too large need not be read to know it.
  if (static_cast<double>(file.size) > limit.base()) {
    return too_large(where, limit);
  }
  std::string content;
  std::array<char, 1U << 16U> block{};
  for (;;) {
    const std::size_t got = std::fread(block.data(), 1, block.size(), file.stream.get());
    content.append(block.data(), got);
    if (static_cast<double>(content.size()) > limit.base()) {
      return too_large(where, limit);
    }
    if (got < block.size()) {
      break;
    }
  }
  if (std::ferror(file.stream.get()) != 0) {
    return external("reading failed", where);
  }
  return content;
}

Result<std::string_view> checked_text(std::string_view text, Bytes limit, std::string_view where) {
  if (static_cast<double>(text.size()) > limit.base()) {
    return too_large(where, limit);
  }
  if (const auto bad = first_invalid_utf8(text)) {
    const LineColumn at = line_column(text, *bad);
    return invalid(fmt::format("byte 0x{:02x} is not UTF-8 text",
                               static_cast<unsigned>(static_cast<unsigned char>(text[*bad]))),
                   fmt::format("{}:{}:{}", where, at.line, at.column), "UTF-8 without NUL bytes");
  }
  return text;
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
  return write_pieces(path, [text](const auto& sink) { sink(text); });
}

Result<void> write_pieces(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view)>& sink)>& pour) {
  std::filesystem::path draft = path;
  draft += ".part";
  const auto failed = [&](int error) {
    const std::error_code reason(error, std::generic_category());
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
    return external("can't be written: " + reason.message(), path.string());
  };
  {
    const std::unique_ptr<std::FILE, CloseStream> file(std::fopen(draft.c_str(), "wb"));
    if (!file) {
      return failed(errno);
    }
    int error = 0;
    pour([&](std::string_view text) {
      if (error == 0 && std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
        error = errno;
      }
    });
    if (error == 0 && std::fflush(file.get()) != 0) {
      error = errno;
    }
    if (error != 0) {
      return failed(error);
    }
  }
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) {
    return failed(error.value());
  }
  return {};
}

Result<std::string> read_text(const std::filesystem::path& path, Bytes limit) {
  SEXTANT_TRY(std::string text, read_file(path, limit));
  SEXTANT_CHECK_OK(checked_text(text, limit, path == "-" ? "standard input" : path.string()));
  return text;
}

}  // namespace sextant
