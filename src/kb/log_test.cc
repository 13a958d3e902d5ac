// The Sharding Memory: in order, unchanged, without secrets; and what kill -9 and two writers do.
#include "kb/log.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/random_cases_testing.h"
#include "base/scratch_folder_testing.h"
#include "kb/testing.h"

namespace sextant::kb {
namespace {

TEST(Log, ReplaysWhatWasAppendedInOrder) {
  const ScratchFolder folder;
  const auto path = folder.path() / "kb.sqlite";
  auto log = opened<Log>(path, Access::kWrite);
  const std::vector<Event> events{event_of("{\"tool\":\"estimate\"}", EventKind::kToolCall),
                                  event_of("1.25 s"), event_of("tp=8", EventKind::kProposal),
                                  event_of("accepted → ok", EventKind::kVerdict)};
  for (const Event& event : events) {
    ASSERT_TRUE(log.append("first", event));
    ASSERT_TRUE(log.append("second", event_of("other")));
  }
  std::vector<Event> found;
  std::int64_t place = 0;
  ASSERT_TRUE(log.replay("first", [&](const LoggedEvent& one) {
    EXPECT_EQ(one.place, ++place);
    found.push_back(one.event);
  }));
  EXPECT_EQ(found, events);
  const auto sessions = log.sessions();
  ASSERT_EQ(sessions->size(), 2U);
  EXPECT_EQ(sessions->front().name, "first");
  EXPECT_EQ(sessions->front().events, 4);
}

TEST(Log, TheSameEventsGiveTheSameChain) {
  const ScratchFolder folder;
  std::vector<std::string> links;
  for (const char* name : {"a.sqlite", "b.sqlite"}) {
    auto log = opened<Log>(folder.path() / name, Access::kWrite);
    ASSERT_TRUE(log.append("s", event_of("x")));
    ASSERT_TRUE(log.append("s", event_of("y")));
    ASSERT_TRUE(log.replay("s", [&](const LoggedEvent& one) { links.push_back(one.chain); }));
  }
  ASSERT_EQ(links.size(), 4U);
  EXPECT_EQ(links[0], links[2]);
  EXPECT_EQ(links[1], links[3]);
  EXPECT_NE(links[0], links[1]);
}

TEST(Log, WhatWasChangedIsFoundOut) {
  for (const std::string_view change :
       {"UPDATE events SET text = 'better' WHERE place = 2", "DELETE FROM events WHERE place = 2",
        "UPDATE events SET kind = 'verdict' WHERE place = 2",
        "UPDATE events SET at = '2020' WHERE place = 2",
        "UPDATE events SET place = 9 WHERE place = 2"}) {
    const ScratchFolder folder;
    const auto path = folder.path() / "kb.sqlite";
    auto log = opened<Log>(path, Access::kWrite);
    for (const char* text : {"one", "two", "three"}) {
      ASSERT_TRUE(log.append("s", event_of(text)));
    }
    auto database = Database::open(path, Access::kWrite, store_migrations());
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->run(change));
    std::vector<std::string> taken;
    const auto replay =
        log.replay("s", [&](const LoggedEvent& one) { taken.push_back(one.event.text); });
    ASSERT_FALSE(replay) << change;
    EXPECT_EQ(replay.error().what, "event 2 of 's' is not what was written") << change;
    EXPECT_EQ(taken, std::vector<std::string>{"one"}) << change;
  }
}

TEST(Log, NoSecretIsStored) {
  const ScratchFolder folder;
  const auto path = folder.path() / "kb.sqlite";
  const std::string key = "sk-" + std::string(40, 'Z');
  ASSERT_TRUE(opened<Log>(path, Access::kWrite)
                  .append("s", event_of("{\"headers\":{\"x\":\"" + key + "\"},\"n\":1}")));
  EXPECT_EQ(replayed(path, "s"),
            std::vector<std::string>{"{\"headers\":{\"x\":\"[secret]\"},\"n\":1}"});
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(read_file(file.path(), 10_MiB)->find("ZZZZZZZZ"), std::string::npos) << file.path();
  }
}

TEST(Log, WhatIsNoEventIsRefused) {
  const ScratchFolder folder;
  auto log = opened<Log>(folder.path() / "kb.sqlite", Access::kWrite);
  EXPECT_FALSE(log.append("", event_of("x")));
  EXPECT_FALSE(log.append("s", event_of(std::string(Log::kLongestText + 1, 'x'))));
  EXPECT_FALSE(log.append("s", event_of("\xff")));
  EXPECT_FALSE(log.append("s", {.kind = EventKind::kReply, .at = "", .text = "x"}));
  EXPECT_FALSE(log.replay("s", [](const LoggedEvent&) {}));
  EXPECT_TRUE(log.sessions()->empty());
}

// In memory, where there is such a folder: what a killed process has written the kernel has, so
// that no disk is needed to see what a kill does (what losing power does it does not show), and a
// commit takes a fraction of a millisecond rather than ten.
std::filesystem::path memory_folder() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

// A child that writes entries and events one by one, and says the number of each once it is stored.
// It never returns.
[[noreturn]] void write_for_ever(const std::filesystem::path& path, const std::string& name,
                                 int acknowledge, std::int32_t most) {
  auto store = Store::open(path, Access::kWrite);
  auto log = Log::open(path, Access::kWrite);
  for (std::int32_t i = 0; store && log && i < most; ++i) {
    const Entry entry = own_entry(name + "-" + std::to_string(i));
    if (!store->add({&entry, 1}, false) || !log->append("s", event_of(entry.id)) ||
        ::write(acknowledge, &i, sizeof(i)) != sizeof(i)) {
      break;
    }
  }
  ::_exit(store && log ? 0 : 1);
}

struct Writer {
  pid_t process = -1;
  int acknowledged = -1;
};

// REQUIRES: this process holds no database open.
Writer started_writer(const std::filesystem::path& path, const std::string& name,
                      std::int32_t most) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(pipe[0]);
    write_for_ever(path, name, pipe[1], most);
  }
  ::close(pipe[1]);
  return {process, pipe[0]};
}

// How many were acknowledged until the writer was gone.
std::int32_t acknowledged_by(const Writer& writer) {
  std::int32_t count = 0;
  std::int32_t number = 0;
  while (::read(writer.acknowledged, &number, sizeof(number)) == sizeof(number)) {
    EXPECT_EQ(number, count);
    count += 1;
  }
  ::close(writer.acknowledged);
  int status = 0;
  ::waitpid(writer.process, &status, 0);
  return count;
}

std::set<std::string> stored_ids(const std::filesystem::path& path) {
  std::set<std::string> ids;
  const auto entries = opened<Store>(path, Access::kRead).entries();
  EXPECT_TRUE(entries) << to_text(entries.error());
  for (const Entry& entry : entries ? *entries : std::vector<Entry>()) {
    ids.insert(entry.id);
  }
  return ids;
}

using Acknowledged = std::vector<std::pair<std::string, std::int32_t>>;  // by writer

// Every acknowledged write is there, as entry and as event, and the log replays.
void expect_kept(const std::filesystem::path& path, const Acknowledged& writes) {
  const std::set<std::string> ids = stored_ids(path);
  const std::vector<std::string> events = replayed(path, "s");
  const std::set<std::string> texts(events.begin(), events.end());
  for (const auto& [name, count] : writes) {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::string id = name + "-" + std::to_string(i);
      EXPECT_TRUE(ids.contains(id)) << id;
      EXPECT_TRUE(texts.contains(id)) << id;
    }
  }
}

// Moments are drawn from none (the file is still being made) to some writes later.
TEST(Log, KilledAtAnyMomentNothingAcknowledgedIsLost) {
  std::mt19937 draw(20'26);  // NOLINT(cert-msc51-cpp): the same moments every time
  const unsigned rounds = random_cases(200);
  std::int64_t kept = 0;
  std::optional<ScratchFolder> folder;
  Acknowledged writes;  // of the folder's file
  for (unsigned round = 0; round < rounds; ++round) {
    if (round % 8 == 0) {
      folder.emplace(memory_folder());
      writes.clear();
    }
    const auto path = folder->path() / "kb.sqlite";
    const std::string name = "r" + std::to_string(round);
    const Writer writer = started_writer(path, name, 1'000'000);
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 8'000)(draw));
    ::kill(writer.process, SIGKILL);
    writes.emplace_back(name, acknowledged_by(writer));
    kept += writes.back().second;
    const bool any =
        std::any_of(writes.begin(), writes.end(), [](const auto& one) { return one.second > 0; });
    if (any) {
      expect_kept(path, writes);
    }
    // And it can be written again.
    EXPECT_TRUE(Store::open(path, Access::kWrite));
  }
  RecordProperty("acknowledged", std::to_string(kept));
  EXPECT_GT(kept, rounds);
}

TEST(Log, TwoProcessesWriteAtOnceWithoutLoss) {
  constexpr std::int32_t kWrites = 100;
  const ScratchFolder folder(memory_folder());
  const auto path = folder.path() / "kb.sqlite";
  const Writer first = started_writer(path, "first", kWrites);
  const Writer second = started_writer(path, "second", kWrites);
  EXPECT_EQ(acknowledged_by(first), kWrites);
  EXPECT_EQ(acknowledged_by(second), kWrites);
  expect_kept(path, {{"first", kWrites}, {"second", kWrites}});
  EXPECT_EQ(replayed(path, "s").size(), 2U * kWrites);
}

}  // namespace
}  // namespace sextant::kb
