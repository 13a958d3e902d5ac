// The file of the user's own entries: made when first written, private, whole, of a known schema.
#include "kb/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/scratch_folder_testing.h"
#include "kb/testing.h"

namespace sextant::kb {
namespace {

mode_t permissions(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

TEST(Store, ReadWhereThereIsNoFileIsEmptyAndMakesNone) {
  const ScratchFolder folder;
  const auto path = folder.path() / "no" / "kb.sqlite";
  const auto entries = opened<Store>(path, Access::kRead).entries();
  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
  EXPECT_FALSE(std::filesystem::exists(path.parent_path()));
}

TEST(Store, TheFirstWriteMakesAPrivateFile) {
  const ScratchFolder folder;
  const auto path = folder.path() / "share" / "sextant" / "kb.sqlite";
  auto store = opened<Store>(path, Access::kWrite);
  const Entry one = own_entry("one");
  ASSERT_TRUE(store.add({&one, 1}, false));
  EXPECT_EQ(permissions(path), 0600U);
  EXPECT_EQ(permissions(path.string() + "-wal"), 0600U);
  EXPECT_EQ(permissions(path.parent_path()), 0700U);
}

TEST(Store, KeepsEntriesInTheOrderTheyCame) {
  const ScratchFolder folder;
  const auto path = folder.path() / "kb.sqlite";
  const std::vector<Entry> three{own_entry("z"), own_entry("a"), own_entry("m")};
  ASSERT_TRUE(opened<Store>(path, Access::kWrite).add(three, false));
  const auto entries = opened<Store>(path, Access::kRead).entries();
  ASSERT_TRUE(entries) << to_text(entries.error());
  EXPECT_EQ(*entries, three);
}

TEST(Store, AnIdKeepsItsMeaning) {
  const ScratchFolder folder;
  auto store = opened<Store>(folder.path() / "kb.sqlite", Access::kWrite);
  const Entry first = own_entry("one", "First.");
  const Entry other = own_entry("one", "Other.");
  EXPECT_EQ(store.add({&first, 1}, false), std::vector{Added::kNew});
  EXPECT_EQ(store.add({&first, 1}, false), std::vector{Added::kAlreadyThere});
  const auto refused = store.add({&other, 1}, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "'one' is there already, and says otherwise");
  EXPECT_EQ(store.add({&other, 1}, true), std::vector{Added::kReplaced});
  EXPECT_EQ(store.entries()->front().advice, "Other.");
}

TEST(Store, AllOfAnAdditionOrNothing) {
  const ScratchFolder folder;
  auto store = opened<Store>(folder.path() / "kb.sqlite", Access::kWrite);
  const std::vector<Entry> two{own_entry("fine"),
                               own_entry("leak", "Set password=hunter2hunter2.")};
  const auto refused = store.add(two, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "'leak' holds what looks like a key or a password");
  EXPECT_TRUE(store.entries()->empty());
}

TEST(Store, FilesOfOtherProgramsAndDamagedOnesAreErrors) {
  const ScratchFolder folder;
  const std::string text = folder.write("text.sqlite", std::string(5'000, 'x'));
  EXPECT_FALSE(Store::open(text, Access::kRead));
  EXPECT_FALSE(Store::open(text, Access::kWrite));
  EXPECT_EQ(*read_file(text, 1_MiB), std::string(5'000, 'x'));

  const auto path = folder.path() / "kb.sqlite";
  {
    auto store = opened<Store>(path, Access::kWrite);
    std::vector<Entry> many;
    for (int i = 0; i < 200; ++i) {
      many.push_back(own_entry("entry-" + std::to_string(i), std::string(500, 'y')));
    }
    ASSERT_TRUE(store.add(many, false));
  }
  std::string bytes = *read_file(path, 10_MiB);
  for (std::size_t at = 4'096; at < bytes.size(); at += 512) {
    bytes[at] = static_cast<char>(~bytes[at]);
  }
  const std::string broken = folder.write("broken.sqlite", bytes);
  const auto opened_broken = Store::open(broken, Access::kRead);
  ASSERT_FALSE(opened_broken);
  EXPECT_NE(opened_broken.error().what.find("damaged"), std::string::npos);
  for (const std::size_t size : {std::size_t{1}, std::size_t{50}, std::size_t{4'096}}) {
    static_cast<void>(Store::open(folder.write("cut.sqlite", bytes.substr(0, size)),
                                  Access::kRead));  // an Error or nothing; never a crash
  }
}

// A file as an older program left it is brought up to date; one of a newer program is left alone.
TEST(Store, SchemasAreBroughtUpToDate) {
  const ScratchFolder folder;
  const auto path = folder.path() / "kb.sqlite";
  const Entry one = own_entry("one");
  {
    auto old = Database::open(path, Access::kWrite, store_migrations().first(1));
    ASSERT_TRUE(old) << to_text(old.error());
    EXPECT_EQ(old->version(), 1);
  }
  EXPECT_TRUE(opened<Log>(path, Access::kRead).sessions()->empty());
  ASSERT_TRUE(opened<Store>(path, Access::kWrite).add({&one, 1}, false));
  ASSERT_TRUE(opened<Log>(path, Access::kWrite).append("s", event_of("hello")));
  EXPECT_EQ(opened<Store>(path, Access::kRead).entries()->size(), 1U);
  const auto newer = Database::open(path, Access::kRead, store_migrations().first(1));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().what.find("newer program"), std::string::npos);
}

TEST(Store, AFolderThatMayNotBeWrittenIsReadAllTheSame) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere";
  }
  const ScratchFolder folder;
  const auto path = folder.path() / "kb.sqlite";
  const Entry one = own_entry("one");
  ASSERT_TRUE(opened<Store>(path, Access::kWrite).add({&one, 1}, false));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0500));
  const auto entries = opened<Store>(path, Access::kRead).entries();
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
  ASSERT_TRUE(entries) << to_text(entries.error());
  EXPECT_EQ(entries->size(), 1U);
}

}  // namespace
}  // namespace sextant::kb
