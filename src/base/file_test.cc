#include "base/file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace sextant {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text) {
    std::ofstream(folder_ / "x", std::ios::binary) << text;
    return folder_ / "x";
  }
  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsWhatIsThere) {
  EXPECT_EQ(*read_text(write("héllo\n"), 1_KiB), "héllo\n");
}

TEST_F(FileTest, MoreThanTheLimitIsAnErrorThatSaysTheLimit) {
  const auto text = read_file(write(std::string(2000, 'x')), 1_KiB);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(text.error().allowed.find("1024"), std::string::npos);
}

TEST_F(FileTest, WritesWholeFilesOrNone) {
  ASSERT_TRUE(write_file(folder_ / "out", "one"));
  ASSERT_TRUE(write_file(folder_ / "out", "two"));
  EXPECT_EQ(*read_text(folder_ / "out", 1_KiB), "two");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.part"));
  const auto nowhere = write_file(folder_ / "no" / "out", "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kExternal);
}

TEST_F(FileTest, MissingFilesAndFoldersAreNamed) {
  const auto missing = read_file(folder_ / "no", 1_KiB);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.error().where.find("no"), std::string::npos);
  EXPECT_EQ(read_file(folder_, 1_KiB).error().what, "is a directory");
}

TEST_F(FileTest, TextThatIsNotUtf8NamesLineAndColumn) {
  const auto text = read_text(write("ok\nab\xfe"), 1_KiB);
  ASSERT_FALSE(text);
  EXPECT_TRUE(text.error().where.ends_with(":2:3")) << text.error().where;
}

}  // namespace
}  // namespace sextant
