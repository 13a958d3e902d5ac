// Traces made to break a reader: none crashes it, takes more than stated or passes in silence.
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "profile/kineto_labels.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

constexpr std::string_view kWhole =
    R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"x","numSms":1}],)"
    R"("distributedInfo":{"rank":1,"world_size":2},"traceEvents":[)"
    R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1.5,"dur":2,"args":{"Input Dims":[[1]]}},)"
    R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_x","pid":0,"tid":7,"ts":2,"dur":2,"args":)"
    R"({"stream":7,"device":0,"correlation":3,"Collective name":"allreduce","dtype":"Float"}},)"
    R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},)"
    R"({"ph":"i","name":"[memory]","ts":3,"args":{"Device Type":1,"Bytes":1,"Total Allocated":1}}]})";

// Any bytes changed, taken out or doubled: an answer or an Error, and times in order.
RC_GTEST_PROP(HostileTrace, AnyChangeEndsInAnAnswer, ()) {
  std::string text(kWhole);
  const int changes = *rc::gen::inRange(1, 8);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto size = *rc::gen::inRange<std::size_t>(1, 30);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), size));
        break;
      default:
        text.insert(at, *rc::gen::element<std::string>("{", "}", "[", "]", "\"", "\\", ",", "-",
                                                       "1e18", "\"ph\":\"X\","));
    }
    text += text.empty() ? "x" : "";
  }
  const auto recording = read_profile_bytes(text, "x", options_of_tests());
  if (recording) {
    for (const timeline::Span& span : recording->timeline.spans()) {
      RC_ASSERT(span.duration_ns >= 0);
    }
  }
}

// More names than there is room for: their time is kept under one name, and they are counted.
TEST(HostileTrace, NamesBeyondTheRoomAreOne) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  const std::string filler(4000, 'x');
  const std::size_t names = KinetoLabels::kNameRoom / filler.size() + 500;
  for (std::size_t i = 0; i < names; ++i) {
    text += R"({"ph":"X","cat":"kernel","pid":0,"tid":7,"dur":1,"ts":)" + std::to_string(i) +
            R"(,"name":")" + filler + std::to_string(i) + "\"},";
  }
  text.back() = ']';
  const auto recording = read_profile_bytes(text, "x", options_of_tests());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), names);
  EXPECT_LT(recording->timeline.labels().size(), names - 400);
  bool is_said = false;
  for (const timeline::Unread& unread : recording->unread) {
    is_said = is_said || (unread.what.starts_with("events of names beyond") && unread.count > 400);
  }
  EXPECT_TRUE(is_said);
}

TEST(HostileTrace, ThreadsBeyondTheMostAreCounted) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < 66'000; ++i) {
    text += R"({"ph":"X","cat":"cpu_op","name":"a","dur":1,"ts":1,"pid":1,"tid":)" +
            std::to_string(i) + "},";
  }
  text.back() = ']';
  const auto recording = read_profile_bytes(text, "x", options_of_tests());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.lanes().size(), 65'536U);
  EXPECT_EQ(recording->timeline.spans().size(), 65'536U);
  ASSERT_EQ(recording->unread.size(), 2U);  // and that the object is not closed
  EXPECT_EQ(recording->unread[1].count, 66'000 - 65'536);
}

TEST(HostileTrace, EventsBeyondTheMostAreCounted) {
  std::string text = "[";
  for (int i = 0; i < 50; ++i) {
    text += R"({"ph":"X","cat":"cpu_op","name":"a","dur":1,"ts":1,"pid":1,"tid":1},)";
  }
  text.back() = ']';
  ReadOptions options = options_of_tests();
  options.most_events = 20;
  const auto recording = read_profile_bytes(text, "x", options);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), 20U);
  ASSERT_EQ(recording->unread.size(), 1U);
  EXPECT_EQ(recording->unread[0].count, 30);
}

TEST(HostileTrace, ABombIsAnError) {
  ReadOptions options = options_of_tests();
  options.most_bytes = 100;
  const auto recording = read_profile_bytes(kWhole, "x", options);
  ASSERT_FALSE(recording);
  EXPECT_NE(recording.error().what.find("more than 100 bytes"), std::string::npos);
}

TEST(HostileTrace, DeepNestingAndTheSameIdsAreNothing) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  std::string text = R"([{"ph":"X","cat":"kernel","name":"ncclDevKernel_a","pid":0,"tid":7,"ts":1,)"
                     R"("dur":1,"args":{"stream":7,"device":0,"correlation":1,"correlation":2,)"
                     R"("Input Dims":)" +
                     deep + R"(,"Input type":["float"]}},)";
  for (int i = 0; i < 5; ++i) {
    text += R"({"ph":"X","cat":"cuda_runtime","name":"c","pid":1,"tid":1,"ts":1,"dur":1,)"
            R"("args":{"correlation":2,"External id":2}},)";
  }
  text.back() = ']';
  const auto recording = read_profile_bytes(text, "x", options_of_tests());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), 6U);
}

// A clock set back and forth by a century: kept, since nothing says which of them is right.
TEST(HostileTrace, ClocksMayJump) {
  const auto recording = read_profile_bytes(
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1000,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":-1500000000000000,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1500000000000000,"dur":1}])",
      "x", options_of_tests());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), 3U);
  EXPECT_EQ(recording->timeline.spans()[0].start_ns, 0);
}

}  // namespace
}  // namespace sextant::profile
