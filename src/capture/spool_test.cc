// What a stand-in leaves reads back, and no bytes of a script can break the reader.
#include "capture/spool.h"

#include <gtest/gtest.h>

namespace sextant::capture {
namespace {

TEST(Spool, ACallReadsBackWithEveryByteOfIt) {
  SpooledCall call;
  call.words = {"torchrun", "", "a b\nc:5", std::string("\0x", 2)};
  call.folder = "/home/u";
  call.environment = {"A=1", "B="};
  call.outer = "before";
  call.launches = true;
  call.question = "how many";
  call.files = {{"/a.json", "{}"}, {"/b.yaml", ""}};
  const auto read = unspooled(spooled(call), "id");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->words, call.words);
  EXPECT_EQ(read->folder, call.folder);
  EXPECT_EQ(read->environment, call.environment);
  EXPECT_EQ(read->outer, call.outer);
  EXPECT_TRUE(read->launches);
  EXPECT_EQ(read->question, call.question);
  EXPECT_EQ(read->files, call.files);
}

TEST(Spool, BytesThatPromiseMoreThanThereIsAreNone) {
  for (const char* bytes :
       {"", "w", "w5:ab", "w99999999999999999999:a", "w-1:a", ":", "5:hello", "d3:/ab", "wx:a"}) {
    EXPECT_FALSE(unspooled(bytes, "id")) << bytes;
  }
}

TEST(Answers, ReadBackAsTheyWere) {
  const Answers read = answers_of(answers_text(
      {.device_name = "NVIDIA A100", .devices_per_node = 4, .nodes = 3, .stand_in_devices = 8}));
  EXPECT_EQ(read.device_name, "NVIDIA A100");
  EXPECT_EQ(read.devices_per_node, 4);
  EXPECT_EQ(read.nodes, 3);
  EXPECT_EQ(read.stand_in_devices, 8);
}

}  // namespace
}  // namespace sextant::capture
