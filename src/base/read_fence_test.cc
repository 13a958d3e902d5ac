#include "base/read_fence.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/scratch_folder_testing.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class Fence : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch_.path() / "inside/deep");
    fs::create_directories(scratch_.path() / "inside-not");
    ASSERT_TRUE(write_file(inside("a.txt"), "a"));
    ASSERT_TRUE(write_file(scratch_.path() / "outside.txt", "secret"));
    ASSERT_TRUE(write_file(scratch_.path() / "inside-not/b.txt", "secret"));
  }
  [[nodiscard]] fs::path inside(const std::string& name) const {
    return scratch_.path() / "inside" / name;
  }
  ScratchFolder scratch_;
};

TEST_F(Fence, WithoutOneEverythingMayBeRead) {
  EXPECT_TRUE(may_read("/etc/passwd"));
  EXPECT_TRUE(may_read("-"));
}

TEST_F(Fence, OnlyWhatLiesBelowItsFolderMayBeRead) {
  const ReadFence fence({scratch_.path() / "inside"});
  EXPECT_TRUE(read_file(inside("a.txt"), 1_MiB));
  EXPECT_TRUE(may_read(inside("deep")));
  EXPECT_TRUE(may_read(inside("not-there.txt")));
  EXPECT_FALSE(read_file(scratch_.path() / "outside.txt", 1_MiB));
  EXPECT_FALSE(read_file("-", 1_MiB));
  EXPECT_FALSE(read_file("/etc/passwd", 1_MiB));
  // Not a prefix of the name, but of the path.
  EXPECT_FALSE(may_read(scratch_.path() / "inside-not/b.txt"));
}

TEST_F(Fence, WaysOutOfItAreSeen) {
  const ReadFence fence({scratch_.path() / "inside"});
  EXPECT_FALSE(may_read(inside("../outside.txt")));
  EXPECT_FALSE(may_read(inside("deep/../../outside.txt")));
  fs::create_symlink(scratch_.path() / "outside.txt", inside("link"));
  EXPECT_FALSE(read_file(inside("link"), 1_MiB));
  fs::create_symlink(scratch_.path() / "inside-not", inside("folder"));
  EXPECT_FALSE(may_read(inside("folder/b.txt")));
  EXPECT_FALSE(may_read(inside("folder/not-there.txt")));
  fs::create_symlink(inside("a.txt"), inside("deep/good"));
  EXPECT_TRUE(may_read(inside("deep/good")));
}

// Between the question and the opening a folder becomes a link: the way is walked without links.
TEST_F(Fence, ALinkThatIsTurnedMeanwhileLeadsNowhere) {
  fs::create_directories(scratch_.path() / "elsewhere");
  ASSERT_TRUE(write_file(scratch_.path() / "elsewhere/c.txt", "secret"));
  ASSERT_TRUE(write_file(inside("deep/c.txt"), "inside"));
  const ReadFence fence({scratch_.path() / "inside"});
  std::atomic<bool> over = false;
  std::thread turning([&] {
    while (!over) {
      fs::rename(inside("deep"), inside("kept"));
      fs::create_directory_symlink(scratch_.path() / "elsewhere", inside("deep"));
      fs::remove(inside("deep"));
      fs::rename(inside("kept"), inside("deep"));
    }
  });
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto content = read_file(inside("deep/c.txt"), 1_MiB);
    read += content ? 1 : 0;
    EXPECT_TRUE(!content || *content == "inside");
    const auto listed = list_folder(inside("deep"), 10);
    EXPECT_TRUE(!listed || listed->size() == 1U);
  }
  over = true;
  turning.join();
  EXPECT_GT(read, 0);
}

TEST_F(Fence, ItsFolderIsTheOneThatStoodThereAtFirst) {
  const ReadFence fence({scratch_.path() / "inside"});
  fs::rename(scratch_.path() / "inside", scratch_.path() / "moved");
  fs::create_directory(scratch_.path() / "inside");
  ASSERT_TRUE(write_file(inside("b.txt"), "another's"));
  EXPECT_FALSE(read_file(inside("b.txt"), 1_MiB));
}

TEST_F(Fence, AFileAloneMayBeItsPlace) {
  const ReadFence fence({inside("a.txt")});
  EXPECT_EQ(read_file(inside("a.txt"), 1_MiB).value_or(""), "a");
  EXPECT_FALSE(may_read(inside("deep")));
}

TEST_F(Fence, TheErrorSaysWhereFilesMayLieAndNotWhetherThereIsOne) {
  const ReadFence fence({scratch_.path() / "inside"});
  const auto there = may_read(scratch_.path() / "outside.txt");
  const auto not_there = may_read(scratch_.path() / "nothing.txt");
  ASSERT_FALSE(there);
  ASSERT_FALSE(not_there);
  EXPECT_EQ(there.error().what, not_there.error().what);
  EXPECT_NE(there.error().allowed.find("inside"), std::string::npos);
}

TEST_F(Fence, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(inside("pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_TRUE(may_read(inside("pipe")));  // without a fence it is somebody's <(command)
  const ReadFence fence({scratch_.path() / "inside"});
  EXPECT_FALSE(read_file(inside("pipe"), 1_MiB));
}

TEST_F(Fence, ItIsTakenDownWithItsOwner) {
  {
    const ReadFence fence({scratch_.path() / "inside"});
  }
  EXPECT_TRUE(read_file(scratch_.path() / "outside.txt", 1_MiB));
}

}  // namespace
}  // namespace sextant
