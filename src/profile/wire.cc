#include "profile/wire.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace sextant::profile {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CopyingInputStream;
using google::protobuf::io::CopyingInputStreamAdaptor;

// Kinds of a field. Source: protobuf.dev, Encoding, "Message Structure".
enum WireKind : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

constexpr int kBlockBytes = 1 << 18;
constexpr int kBytesOfStream = 1 << 20;

class SourceStream : public CopyingInputStream {
 public:
  explicit SourceStream(ByteSource& source) : source_(source) {}
  int Read(void* buffer, int size) override {  // NOLINT(readability-identifier-naming)
    const auto got =
        source_.read({static_cast<char*>(buffer), static_cast<std::size_t>(std::max(size, 0))});
    if (!got) {
      error_ = got.error();
      return -1;
    }
    return static_cast<int>(*got);
  }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] bool has_failed() const { return !error_.what.empty(); }

 private:
  ByteSource& source_;
  Error error_;
};

}  // namespace

bool Wire::next() {
  if (is_damaged_ || (!is_taken_ && !skip_value())) {
    return false;
  }
  tag_ = stream_.ReadTag();
  if (tag_ == 0) {
    // The end of the message, or a tag that is none.
    is_damaged_ = !stream_.ConsumedEntireMessage();
    return false;
  }
  field_ = static_cast<int>(tag_ >> 3U);
  const std::uint32_t kind = tag_ & 7U;
  is_length_delimited_ = kind == kLength;
  is_taken_ = false;
  // Groups (3, 4) are of protobuf 1; nobody writes them.
  is_damaged_ =
      field_ == 0 || (kind != kVarint && kind != kFixed64 && kind != kLength && kind != kFixed32);
  return !is_damaged_;
}

bool Wire::skip_value() {
  is_taken_ = true;
  bool is_whole = false;
  std::uint64_t ignored = 0;
  std::uint32_t bytes = 0;
  switch (tag_ & 7U) {
    case kVarint:
      is_whole = stream_.ReadVarint64(&ignored);
      break;
    case kFixed64:
      is_whole = stream_.Skip(8);
      break;
    case kFixed32:
      is_whole = stream_.Skip(4);
      break;
    default:
      is_whole = length(bytes) && stream_.Skip(static_cast<int>(bytes));
  }
  is_damaged_ = is_damaged_ || !is_whole;
  return is_whole;
}

// To the end of the message. Where the file ends before it the stream is not to be asked again: it
// does not know where it is any more.
bool Wire::skip_to_limit() {
  const int left = stream_.BytesUntilLimit();
  if (left > 0 && !stream_.Skip(left)) {
    is_over_ = true;
    is_damaged_ = true;
  }
  return !is_over_;
}

// A length that lies within the message.
bool Wire::length(std::uint32_t& bytes) {
  const int left_before = stream_.BytesUntilLimit();
  if (!stream_.ReadVarint32(&bytes) ||
      bytes > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) {
    is_damaged_ = true;
    return false;
  }
  const int left = stream_.BytesUntilLimit();
  if (left_before >= 0 && static_cast<int>(bytes) > left) {
    is_damaged_ = true;
    // What is left of the message is lost with the field.
    skip_to_limit();
    return false;
  }
  return true;
}

bool Wire::finish() {
  return is_taken_ || skip_value();
}

std::uint64_t Wire::natural() {
  if (is_taken_ || (tag_ & 7U) != kVarint) {
    return 0;
  }
  is_taken_ = true;
  std::uint64_t value = 0;
  is_damaged_ = !stream_.ReadVarint64(&value);
  return value;
}

std::int64_t Wire::integer() {
  return static_cast<std::int64_t>(natural());
}

double Wire::number() {
  if (is_taken_ || (tag_ & 7U) != kFixed64) {
    return 0.0;
  }
  is_taken_ = true;
  std::uint64_t bits = 0;
  is_damaged_ = !stream_.ReadLittleEndian64(&bits);
  double value = 0.0;
  static_assert(sizeof(value) == sizeof(bits));
  std::copy_n(reinterpret_cast<const char*>(&bits), sizeof(bits), reinterpret_cast<char*>(&value));
  return value;
}

std::string Wire::text(std::size_t longest) {
  if (is_taken_ || (tag_ & 7U) != kLength) {
    return {};
  }
  is_taken_ = true;
  std::uint32_t bytes = 0;
  if (!length(bytes)) {
    return {};
  }
  const int held = static_cast<int>(std::min<std::size_t>(bytes, longest));
  std::string value;
  is_damaged_ = !stream_.ReadString(&value, held) || !stream_.Skip(static_cast<int>(bytes) - held);
  return value;
}

void Wire::integers(const std::function<void(std::int64_t)>& take) {
  if (!is_length_delimited_) {
    take(integer());
    return;
  }
  if (is_taken_) {
    return;
  }
  is_taken_ = true;
  std::uint32_t bytes = 0;
  if (!length(bytes)) {
    return;
  }
  const auto limit = stream_.PushLimit(static_cast<int>(bytes));
  std::uint64_t value = 0;
  while (stream_.BytesUntilLimit() > 0) {
    if (!stream_.ReadVarint64(&value)) {
      is_damaged_ = true;
      skip_to_limit();
      break;
    }
    take(static_cast<std::int64_t>(value));
  }
  if (!is_over_) {
    stream_.PopLimit(limit);
  }
}

bool Wire::message(const std::function<void(Wire&)>& read) {
  if (is_taken_ || (tag_ & 7U) != kLength) {
    return false;
  }
  is_taken_ = true;
  std::uint32_t bytes = 0;
  if (!length(bytes)) {
    return false;
  }
  if (depth_ >= kDeepest) {
    is_damaged_ = !stream_.Skip(static_cast<int>(bytes));
    return false;
  }
  const auto limit = stream_.PushLimit(static_cast<int>(bytes));
  Wire inner(stream_);
  inner.depth_ = depth_ + 1;
  read(inner);
  // What the reader left, and what damage left.
  if (inner.is_over_ || !skip_to_limit()) {
    is_over_ = true;
    is_damaged_ = true;
    return false;
  }
  stream_.PopLimit(limit);
  return !inner.is_damaged_;
}

bool Wire::each(const std::function<void(Wire&)>& take) {
  return message([&](Wire& inner) {
    while (inner.next()) {
      take(inner);
    }
  });
}

Result<WireEnd> read_wire(const OpenBytes& open, const std::function<void(Wire&)>& read) {
  SEXTANT_TRY(const std::unique_ptr<ByteSource> source, open());
  SourceStream bytes(*source);
  CopyingInputStreamAdaptor blocks(&bytes, kBlockBytes);
  WireEnd end;
  for (bool is_more = true; is_more;) {
    // One reads two gigabytes at most: a new one every now and then.
    CodedInputStream stream(&blocks);
    Wire outermost(stream);
    while (is_more && stream.CurrentPosition() < kBytesOfStream) {
      is_more = outermost.next();
      if (is_more) {
        read(outermost);
        is_more = !outermost.is_damaged() && outermost.finish();
      }
      end.is_cut = outermost.is_damaged();
    }
  }
  end.bytes = blocks.ByteCount();
  const void* rest = nullptr;
  int size = 0;
  while (end.is_cut && blocks.Next(&rest, &size)) {
    end.unread += size;
  }
  if (bytes.has_failed()) {
    return tl::unexpected(bytes.error());
  }
  end.source_damage = source->damage();
  return end;
}

bool read_held_wire(std::string_view bytes, const std::function<void(Wire&)>& read) {
  ArrayInputStream held(bytes.data(), static_cast<int>(bytes.size()));
  CodedInputStream stream(&held);
  Wire outermost(stream);
  read(outermost);
  return !outermost.is_damaged();
}

}  // namespace sextant::profile
