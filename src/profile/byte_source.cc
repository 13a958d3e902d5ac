#include "profile/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/read_fence.h"
#include "profile/byte_unpack.h"

namespace sextant::profile {
namespace {

using TraceFile = std::unique_ptr<std::FILE, CloseStream>;

class FileBytes final : public ByteSource {
 public:
  FileBytes(TraceFile file, std::string where, std::int64_t size)
      : file_(std::move(file)), where_(std::move(where)), size_(size) {
    // Whoever reads asks for blocks: a buffer between would only copy them once more.
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  }
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t got = std::fread(into.data(), 1, into.size(), file_.get());
    if (got < into.size() && std::ferror(file_.get()) != 0) {
      return external("reading failed", where_);
    }
    consumed_ += static_cast<std::int64_t>(got);
    return got;
  }
  [[nodiscard]] std::int64_t consumed() const override { return consumed_; }
  [[nodiscard]] std::int64_t size() const override { return size_; }

 private:
  TraceFile file_;
  std::string where_;
  std::int64_t size_ = 0;
  std::int64_t consumed_ = 0;
};

class HeldBytes final : public ByteSource {
 public:
  explicit HeldBytes(std::string_view held) : held_(held) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min(into.size(), held_.size() - at_);
    if (count != 0) {
      std::memcpy(into.data(), held_.data() + at_, count);
    }
    at_ += count;
    return count;
  }
  [[nodiscard]] std::int64_t consumed() const override { return static_cast<std::int64_t>(at_); }
  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(held_.size());
  }

 private:
  std::string_view held_;
  std::size_t at_ = 0;
};

// Bytes already taken from a source, then the rest of it.
class PutBack final : public ByteSource {
 public:
  PutBack(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  Result<std::size_t> read(std::span<char> into) override {
    if (at_ == head_.size()) {
      return rest_->read(into);
    }
    const std::size_t count = std::min(into.size(), head_.size() - at_);
    std::memcpy(into.data(), head_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] std::string damage() const override { return rest_->damage(); }
  [[nodiscard]] bool is_packed() const override { return rest_->is_packed(); }
  [[nodiscard]] std::int64_t consumed() const override { return rest_->consumed(); }
  [[nodiscard]] std::int64_t size() const override { return rest_->size(); }

 private:
  std::string head_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class LimitedBytes final : public ByteSource {
 public:
  LimitedBytes(std::unique_ptr<ByteSource> rest, std::int64_t limit, std::string where)
      : rest_(std::move(rest)), where_(std::move(where)), limit_(limit) {}
  Result<std::size_t> read(std::span<char> into) override {
    SEXTANT_TRY(const std::size_t got, rest_->read(into));
    given_ += static_cast<std::int64_t>(got);
    if (given_ > limit_) {
      return invalid(fmt::format("holds more than {} bytes when unpacked", limit_), where_,
                     "a profile within the limit");
    }
    return got;
  }
  [[nodiscard]] std::string damage() const override { return rest_->damage(); }
  [[nodiscard]] bool is_packed() const override { return rest_->is_packed(); }
  [[nodiscard]] std::int64_t consumed() const override { return rest_->consumed(); }
  [[nodiscard]] std::int64_t size() const override { return rest_->size(); }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string where_;
  std::int64_t limit_ = 0;
  std::int64_t given_ = 0;
};

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> raw, std::int64_t limit,
                                             std::string where) {
  SEXTANT_TRY(Head start, read_head(std::move(raw), kLongestMagic));
  const Packing packing = packing_of(start.bytes);
  std::unique_ptr<ByteSource> source = std::move(start.whole);
  if (packing == Packing::kGzip) {
    source = gunzipped(std::move(source));
  } else if (packing == Packing::kZstd) {
    source = unzstded(std::move(source));
  }
  return std::make_unique<LimitedBytes>(std::move(source), limit, std::move(where));
}

}  // namespace

Result<Head> read_head(std::unique_ptr<ByteSource> source, std::size_t bytes) {
  std::string head(bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes) {
    SEXTANT_TRY(const std::size_t got, source->read(std::span(head).subspan(filled)));
    if (got == 0) {
      break;
    }
    filled += got;
  }
  head.resize(filled);
  std::string copy = head;
  return Head{std::move(head), std::make_unique<PutBack>(std::move(copy), std::move(source))};
}

Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& path,
                                               std::int64_t limit) {
  SEXTANT_TRY(OpenFile file, open_file(path));
  const std::string where = path == "-" ? "standard input" : path.string();
  return unpacked(std::make_unique<FileBytes>(std::move(file.stream), where, file.size), limit,
                  where);
}

Result<std::unique_ptr<ByteSource>> bytes_of(std::string_view held, std::int64_t limit) {
  return unpacked(std::make_unique<HeldBytes>(held), limit, "");
}

}  // namespace sextant::profile
