#include "kb/vectors.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"

namespace sextant::kb {
namespace {

void expect_remembered(Vectors& vectors) {
  ASSERT_TRUE(vectors.add("m", "a text", {3.0F, 0.0F, -4.0F}));
  const auto found = vectors.find("m", "a text");
  ASSERT_TRUE(found) << to_text(found.error());
  ASSERT_TRUE(found->has_value());
  // Of length 1: 3, 0 and -4 of 5.
  ASSERT_EQ((*found)->size(), 3U);
  EXPECT_NEAR((**found)[0], 0.6, 1.0 / 32767.0);
  EXPECT_NEAR((**found)[1], 0.0, 1.0 / 32767.0);
  EXPECT_NEAR((**found)[2], -0.8, 1.0 / 32767.0);
  EXPECT_FALSE(vectors.find("m", "another")->has_value());
  EXPECT_FALSE(vectors.find("other", "a text")->has_value());
}

TEST(Vectors, AreKeptByModelAndTextWithAndWithoutAFile) {
  const ScratchFolder scratch;
  auto in_memory = Vectors::open("");
  ASSERT_TRUE(in_memory);
  expect_remembered(*in_memory);
  auto in_file = Vectors::open(scratch.path() / "kb.vectors");
  ASSERT_TRUE(in_file) << to_text(in_file.error());
  expect_remembered(*in_file);
}

TEST(Vectors, OfAFileAreThereTheNextTimeAndTheTextIsNot) {
  const ScratchFolder scratch;
  const auto file = scratch.path() / "kb.vectors";
  ASSERT_TRUE(Vectors::open(file)->add("m", "a secret text", {1.0F, 2.0F}));
  auto again = Vectors::read(file);
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_TRUE(again->find("m", "a secret text")->has_value());
  std::ifstream bytes(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(bytes), {}};
  EXPECT_EQ(content.find("a secret text"), std::string::npos);
  EXPECT_FALSE(Vectors::read(scratch.path() / "absent")->find("m", "a secret text")->has_value());
}

}  // namespace
}  // namespace sextant::kb
