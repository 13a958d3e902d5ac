// Two runs with two answers: what differs is not known. (What a script does in a sandbox:
// tests/capture_cli_test.cc.)
#include "capture/capture.h"

#include <gtest/gtest.h>

namespace sextant::capture {
namespace {

emit::CaptureRecord record_of(const std::vector<std::vector<std::string>>& calls) {
  emit::CaptureRecord record;
  for (const std::vector<std::string>& words : calls) {
    record.calls.emplace_back();
    record.calls.back().words = words;
  }
  return record;
}

TEST(TwoRuns, AWordThatDependsOnTheAnswerIsOpen) {
  emit::CaptureRecord first =
      record_of({{"torchrun", "--nproc_per_node", "8", "t.py", "--tp", "2"}});
  open_what_differs(first, record_of({{"torchrun", "--nproc_per_node", "4", "t.py", "--tp", "2"}}));
  EXPECT_EQ(first.calls[0].open, (std::vector<std::size_t>{2}));
}

TEST(TwoRuns, TheSameTwiceHasNothingOpen) {
  emit::CaptureRecord first = record_of({{"torchrun", "t.py"}, {"python", "a.py"}});
  const emit::CaptureRecord second = first;
  open_what_differs(first, second);
  EXPECT_TRUE(first.calls[0].open.empty());
  EXPECT_TRUE(first.calls[1].open.empty());
}

TEST(TwoRuns, WordsThatCannotBeLaidSideBySideAreOpenFromThere) {
  emit::CaptureRecord first = record_of({{"torchrun", "t.py", "--sp", "--tp", "2"}});
  open_what_differs(first, record_of({{"torchrun", "t.py", "--tp", "2"}}));
  EXPECT_EQ(first.calls[0].open, (std::vector<std::size_t>{2, 3, 4}));
}

TEST(TwoRuns, ACallThatTheOtherDoesNotMakeIsOpenAsAWhole) {
  emit::CaptureRecord first = record_of({{"python", "a.py"}, {"torchrun", "t.py"}});
  open_what_differs(first, record_of({{"python", "a.py"}}));
  EXPECT_EQ(first.calls[1].open, (std::vector<std::size_t>{0, 1}));
}

TEST(TwoRuns, AFileThatDependsOnTheAnswerIsLeftOut) {
  emit::CaptureRecord first = record_of({{"deepspeed", "t.py"}});
  first.files = {{"/a.json", "{\"b\": 8}"}, {"/c.json", "{}"}};
  emit::CaptureRecord second = first;
  second.files[0].text = "{\"b\": 4}";
  open_what_differs(first, second);
  ASSERT_EQ(first.files.size(), 1U);
  EXPECT_EQ(first.files[0].path, "/c.json");
}

}  // namespace
}  // namespace sextant::capture
