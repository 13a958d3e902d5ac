#include "profile/byte_source.h"

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "base/scratch_folder_testing.h"

namespace sextant::profile {
namespace {

constexpr std::int64_t kAmple = 1'000'000'000;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string copy = text;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// Text that does not pack to nothing.
std::string sample(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 1; text.size() < bytes;
       i = i * 6364136223846793005U + 1442695040888963407U) {
    text += std::to_string(i >> 40U) + ",";
  }
  return text;
}

struct Unpacked {
  std::string text;
  std::string damage;
  bool failed = false;
};

Unpacked unpack(const std::string& held, std::int64_t limit = kAmple, std::size_t piece = 4096) {
  auto source = bytes_of(held, limit);
  EXPECT_TRUE(source);
  Unpacked all;
  std::string block(piece, '\0');
  for (;;) {
    const auto got = (*source)->read(block);
    if (!got) {
      all.failed = true;
      return all;
    }
    if (*got == 0) {
      break;
    }
    all.text.append(block, 0, *got);
  }
  all.damage = (*source)->damage();
  return all;
}

TEST(ByteSource, PlainBytesAreThemselves) {
  const std::string text = sample(100'000);
  EXPECT_EQ(unpack(text).text, text);
  EXPECT_EQ(unpack("").text, "");
  EXPECT_EQ(unpack("x").text, "x");
}

TEST(ByteSource, GzipAndZstdAreToldByTheirFirstBytes) {
  const std::string text = sample(600'000);
  for (const std::size_t piece : {1U, 77U, 65536U}) {
    EXPECT_EQ(unpack(gzip(text), kAmple, piece).text, text);
    EXPECT_EQ(unpack(zstd(text), kAmple, piece).text, text);
  }
  EXPECT_EQ(unpack(gzip(text)).damage, "");
  EXPECT_EQ(unpack(zstd(text)).damage, "");
}

TEST(ByteSource, AllMembersAndFramesAreRead) {
  const std::string a = sample(200'000);
  EXPECT_EQ(unpack(gzip(a) + gzip("b") + gzip("")).text, a + "b");
  EXPECT_EQ(unpack(zstd(a) + zstd("b")).text, a + "b");
  const Unpacked padded = unpack(gzip(a) + std::string(512, '\0'));
  EXPECT_EQ(padded.text, a);
  EXPECT_EQ(padded.damage, "");
}

TEST(ByteSource, WhatIsWholeIsKeptAndDamageIsSaid) {
  const std::string text = sample(600'000);
  const std::string packed = gzip(text);
  const Unpacked cut = unpack(packed.substr(0, packed.size() / 2));
  EXPECT_GT(cut.text.size(), 200'000U);
  EXPECT_TRUE(text.starts_with(cut.text));
  EXPECT_EQ(cut.damage, "gzip data ends early");

  std::string wrong = packed;
  wrong[wrong.size() - 6] = static_cast<char>(wrong[wrong.size() - 6] ^ 1);  // of the checksum
  EXPECT_NE(unpack(wrong).damage.find("damaged"), std::string::npos);

  const Unpacked foreign = unpack(packed + "and so on");
  EXPECT_EQ(foreign.text, text);
  EXPECT_NE(foreign.damage, "");

  const std::string frame = zstd(text);
  const Unpacked half = unpack(frame.substr(0, frame.size() / 2));
  EXPECT_TRUE(text.starts_with(half.text));
  EXPECT_EQ(half.damage, "zstd data ends early");
  std::string flipped = frame;
  for (std::size_t i = frame.size() / 2; i < frame.size() / 2 + 40; ++i) {
    flipped[i] = static_cast<char>(~flipped[i]);
  }
  EXPECT_TRUE(text.starts_with(unpack(flipped).text.substr(0, 1000)));
}

// A megabyte of zeros packs to a kilobyte, and that again to less.
TEST(ByteSource, ABombEndsAtTheLimit) {
  const std::string zeros(10'000'000, '\0');
  for (const std::string& bomb : {gzip(zeros), zstd(zeros)}) {
    EXPECT_LT(bomb.size(), 20'000U);
    EXPECT_TRUE(unpack(bomb, 1'000'000).failed);
    EXPECT_FALSE(unpack(bomb, 10'000'000).failed);
  }
}

TEST(ByteSource, FilesSayTheirSize) {
  const ScratchFolder folder;
  const std::string packed = gzip(sample(50'000));
  const auto source = open_bytes(folder.write("a.json.gz", packed), kAmple);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), static_cast<std::int64_t>(packed.size()));
  std::string block(100'000, '\0');
  ASSERT_TRUE((*source)->read(block));
  EXPECT_EQ((*source)->consumed(), static_cast<std::int64_t>(packed.size()));
  EXPECT_FALSE(open_bytes(folder.path(), kAmple));
  EXPECT_FALSE(open_bytes(folder.path() / "none", kAmple));
}

}  // namespace
}  // namespace sextant::profile
