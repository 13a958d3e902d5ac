// What the tests of the knowledge base's file share. Only tests include this.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "kb/log.h"
#include "kb/store.h"

namespace sextant::kb {

inline Entry own_entry(const std::string& id, const std::string& advice = "Do.") {
  return {.id = id,
          .kind = EntryKind::kPractice,
          .title = "Of " + id,
          .advice = advice,
          .source = "us",
          .added_by = "me",
          .added_at = "2026-01-02T03:04:05Z"};
}

template <typename T>
T opened(const std::filesystem::path& path, Access access) {
  auto found = T::open(path, access);
  if (!found) {
    ADD_FAILURE() << to_text(found.error());
    std::abort();
  }
  return std::move(*found);
}

inline Event event_of(const std::string& text, EventKind kind = EventKind::kReply) {
  return {.kind = kind, .at = "2026-01-02T03:04:05Z", .text = text};
}

// The texts of a session in order; empty, and a failure, where it does not replay.
inline std::vector<std::string> replayed(const std::filesystem::path& path,
                                         const std::string& session) {
  std::vector<std::string> texts;
  auto log = opened<Log>(path, Access::kRead);
  const auto done =
      log.replay(session, [&](const LoggedEvent& one) { texts.push_back(one.event.text); });
  EXPECT_TRUE(done) << to_text(done.error());
  return texts;
}

}  // namespace sextant::kb
