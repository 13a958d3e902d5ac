#include "profile/byte_unpack.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace sextant::profile {
namespace {

constexpr std::size_t kPackedBlock = std::size_t{1} << 17U;

// The packed bytes, a block at a time.
class PackedBlocks {
 public:
  explicit PackedBlocks(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), block_(kPackedBlock) {}
  // The next block, empty at the end.
  Result<std::span<char>> next() {
    SEXTANT_TRY(const std::size_t got, packed_->read(block_));
    return std::span(block_).first(got);
  }
  [[nodiscard]] std::int64_t consumed() const { return packed_->consumed(); }
  [[nodiscard]] std::int64_t size() const { return packed_->size(); }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> block_;
};

class Gunzipped final : public ByteSource {
 public:
  explicit Gunzipped(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)) {
    // 15 + 16: the largest window, gzip's header and checksum. Source: zlib.h, inflateInit2.
    is_open_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
    damage_ = is_open_ ? "" : "no memory to unpack gzip";
  }
  ~Gunzipped() override {
    if (is_open_) {
      inflateEnd(&stream_);
    }
  }
  Gunzipped(const Gunzipped&) = delete;
  Gunzipped& operator=(const Gunzipped&) = delete;
  Gunzipped(Gunzipped&&) = delete;
  Gunzipped& operator=(Gunzipped&&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out > 0 && !is_over_ && damage_.empty()) {
      SEXTANT_CHECK_OK(step());
    }
    return into.size() - stream_.avail_out;
  }
  [[nodiscard]] std::string damage() const override { return damage_; }
  [[nodiscard]] bool is_packed() const override { return true; }
  [[nodiscard]] std::int64_t consumed() const override { return packed_.consumed(); }
  [[nodiscard]] std::int64_t size() const override { return packed_.size(); }

 private:
  // Unpacks until the output is full, the input used up or a member ends.
  Result<void> step() {
    if (stream_.avail_in == 0) {
      SEXTANT_TRY(const std::span<char> block, packed_.next());
      stream_.next_in = reinterpret_cast<Bytef*>(block.data());
      stream_.avail_in = static_cast<uInt>(block.size());
    }
    if (stream_.avail_in == 0) {
      is_over_ = true;
      damage_ = is_between_members_ ? "" : "gzip data ends early";
      return {};
    }
    if (is_between_members_ && members_ > 0 && *stream_.next_in != 0x1f) {
      // Zeros pad to the blocks of a tape; anything else is foreign.
      is_over_ = true;
      damage_ = *stream_.next_in == 0 ? "" : "bytes after the gzip data are no gzip data";
      return {};
    }
    is_between_members_ = false;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      is_between_members_ = true;
      members_ += 1;
      inflateReset(&stream_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damage_ = fmt::format("gzip data is damaged ({})",
                            stream_.msg == nullptr ? "unreadable" : stream_.msg);
    }
    return {};
  }

  PackedBlocks packed_;
  z_stream stream_{};
  std::string damage_;
  std::int64_t members_ = 0;
  bool is_open_ = false;
  bool is_between_members_ = true;
  bool is_over_ = false;
};

class Unzstded final : public ByteSource {
 public:
  explicit Unzstded(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), context_(ZSTD_createDCtx()) {
    // Source: zstd.h, ZSTD_WINDOWLOG_LIMIT_DEFAULT.
    if (context_ == nullptr ||
        ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, 27)) != 0U) {
      damage_ = "no memory to unpack zstd";
    }
  }
  ~Unzstded() override { ZSTD_freeDCtx(context_); }
  Unzstded(const Unzstded&) = delete;
  Unzstded& operator=(const Unzstded&) = delete;
  Unzstded(Unzstded&&) = delete;
  Unzstded& operator=(Unzstded&&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos < out.size && !is_over_ && damage_.empty()) {
      SEXTANT_CHECK_OK(step(out));
    }
    return out.pos;
  }
  [[nodiscard]] std::string damage() const override { return damage_; }
  [[nodiscard]] bool is_packed() const override { return true; }
  [[nodiscard]] std::int64_t consumed() const override { return packed_.consumed(); }
  [[nodiscard]] std::int64_t size() const override { return packed_.size(); }

 private:
  Result<void> step(ZSTD_outBuffer& out) {
    if (in_.pos == in_.size && !owes_output_) {
      SEXTANT_TRY(const std::span<char> block, packed_.next());
      in_ = {block.data(), block.size(), 0};
      if (block.empty()) {
        is_over_ = true;
        damage_ = is_between_frames_ ? "" : "zstd data ends early";
        return {};
      }
    }
    const std::size_t before = out.pos;
    const std::size_t left = ZSTD_decompressStream(context_, &out, &in_);
    if (ZSTD_isError(left) != 0U) {
      damage_ = fmt::format("zstd data is damaged ({})", ZSTD_getErrorName(left));
      return {};
    }
    is_between_frames_ = left == 0;
    // A full output may leave more behind than the input that is left.
    owes_output_ = left != 0 && out.pos == out.size && out.pos > before;
    return {};
  }

  PackedBlocks packed_;
  ZSTD_DCtx* context_ = nullptr;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::string damage_;
  bool is_between_frames_ = true;
  bool owes_output_ = false;
  bool is_over_ = false;
};

}  // namespace

Packing packing_of(std::string_view head) {
  using std::string_view_literals::operator""sv;
  if (head.starts_with("\x1f\x8b"sv)) {
    return Packing::kGzip;
  }
  const bool is_frame = head.starts_with("\x28\xb5\x2f\xfd"sv);
  const bool is_skipped = head.size() >= 4 &&
                          (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50U &&
                          head.substr(1, 3) == "\x2a\x4d\x18"sv;
  return is_frame || is_skipped ? Packing::kZstd : Packing::kNone;
}

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<Gunzipped>(std::move(packed));
}

std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<Unzstded>(std::move(packed));
}

}  // namespace sextant::profile
