#include "base/file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"

namespace sextant {
namespace {

class FileTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) { return scratch_.write("x", text); }
  [[nodiscard]] const std::filesystem::path& folder() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
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

TEST_F(FileTest, WritesPiecesInTheirOrder) {
  ASSERT_TRUE(write_pieces(folder() / "out", [](const auto& sink) {
    sink("one ");
    sink("two");
  }));
  EXPECT_EQ(*read_text(folder() / "out", 1_KiB), "one two");
  EXPECT_FALSE(std::filesystem::exists(folder() / "out.part"));
  EXPECT_FALSE(write_pieces(folder() / "no" / "out", [](const auto& sink) { sink("x"); }));
}

TEST_F(FileTest, WritesWholeFilesOrNone) {
  ASSERT_TRUE(write_file(folder() / "out", "one"));
  ASSERT_TRUE(write_file(folder() / "out", "two"));
  EXPECT_EQ(*read_text(folder() / "out", 1_KiB), "two");
  EXPECT_FALSE(std::filesystem::exists(folder() / "out.part"));
  const auto nowhere = write_file(folder() / "no" / "out", "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kExternal);
}

TEST_F(FileTest, MissingFilesAndFoldersAreNamed) {
  const auto missing = read_file(folder() / "no", 1_KiB);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.error().where.find("no"), std::string::npos);
  EXPECT_EQ(read_file(folder(), 1_KiB).error().what, "is a directory");
}

TEST_F(FileTest, TextThatIsNotUtf8NamesLineAndColumn) {
  const auto text = read_text(write("ok\nab\xfe"), 1_KiB);
  ASSERT_FALSE(text);
  EXPECT_TRUE(text.error().where.ends_with(":2:3")) << text.error().where;
}

}  // namespace
}  // namespace sextant
