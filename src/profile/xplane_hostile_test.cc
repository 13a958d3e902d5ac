// Profiles of XLA that lie.
#include <string>

#include <gtest/gtest.h>

#include "profile/xplane.h"
#include "profile/xplane_testing.h"

namespace sextant::profile {
namespace {

Result<timeline::Recording> read_space(std::string_view bytes,
                                       const XplaneOptions& options = plain_xplane_options()) {
  return read_xplane(opener(bytes), "hostile.xplane.pb", options);
}

bool space_says(const Result<timeline::Recording>& recording, std::string_view words) {
  if (!recording) {
    return false;
  }
  for (const timeline::Unread& entry : recording->unread) {
    if (entry.what.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  all.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    all += piece;
  }
  return all;
}

const TestPlane& small_device() {
  static const TestPlane kPlane =
      TestPlane("/device:GPU:0")
          .line(1, "Stream #1", 0,
                {{"gemm", 0, 1000, {{"hlo_op", std::string("dot")}}}, {"add", 2000, 1000}});
  return kPlane;
}

TEST(HostileXplane, NothingIsNoProfile) {
  EXPECT_FALSE(read_space(""));
  EXPECT_FALSE(read_space(std::string("\x08\x01", 2)));
  EXPECT_FALSE(read_space("this is a text and no profile at all"));
}

TEST(HostileXplane, AMillionEmptyMessagesAreCounted) {
  // Empty planes, then empty lines, kinds of event and events within one plane.
  const auto planes = read_space(repeated(std::string("\x0a\x00", 2), 1'000'000));
  ASSERT_TRUE(planes);
  EXPECT_TRUE(space_says(planes, "planes beyond the most"));
  WireWriter plane;
  plane.bytes(2, "/device:GPU:0");
  for (const char* field : {"\x1a", "\x22", "\x2a", "\x32"}) {
    std::string piece(field);
    piece += '\0';
    plane.raw(WireWriter().bytes(15, ""));
    const auto many = read_space(
        WireWriter()
            .bytes(1, WireWriter().bytes(2, "/device:GPU:0").text() + repeated(piece, 300'000))
            .text());
    ASSERT_TRUE(many);
    EXPECT_TRUE(many->timeline.spans().empty());
  }
  const std::string line =
      WireWriter().bytes(2, "Stream #1").text() + repeated(std::string("\x22\x00", 2), 300'000);
  const auto events = read_space(
      WireWriter().message(1, WireWriter().bytes(2, "/device:GPU:0").bytes(3, line)).text());
  EXPECT_TRUE(space_says(events, "events of a kind that is not told"));
}

TEST(HostileXplane, KindsSpansAndLanesAreBounded) {
  XplaneOptions few = plain_xplane_options();
  few.limits.metadata = 1;
  EXPECT_TRUE(space_says(read_space(space_of({small_device()}), few), "beyond the most"));
  few = plain_xplane_options();
  few.most_spans = 1;
  const auto cut = read_space(space_of({small_device()}), few);
  EXPECT_EQ(cut->timeline.spans().size(), 1U);
  EXPECT_TRUE(space_says(cut, "spans beyond the most"));
  few = plain_xplane_options();
  few.limits.lanes = 0;
  EXPECT_TRUE(space_says(read_space(space_of({small_device()}), few), "lines beyond the most"));
  few = plain_xplane_options();
  few.limits.metadata_text = 3;
  EXPECT_TRUE(space_says(read_space(space_of({small_device()}), few), "names beyond the room"));
  few = plain_xplane_options();
  few.limits.device_events = 1;
  EXPECT_EQ(read_space(space_of({small_device()}), few)->timeline.spans().size(), 1U);
}

TEST(HostileXplane, ImpossibleTimesAreCounted) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto recording = read_space(
      space_of({TestPlane("/device:GPU:0")
                    .line(1, "Stream #1", 0, {{"a", kMost, kMost}, {"a", 0, -5}, {"a", 0, 1000}})
                    .line(2, "Stream #2", kMost, {{"a", 0, 1000}})
                    .line(3, "Stream #3", -kMost, {{"a", 0, 1000}})}));
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), 1U);
  EXPECT_TRUE(space_says(recording, "centuries away"));
}

TEST(HostileXplane, NestingWithoutEndIsLeft) {
  WireWriter nested;
  nested.number(2, 1);
  for (int level = 0; level < 5'000; ++level) {
    nested = WireWriter().message(4, nested);
  }
  // As a shape of tuples of tuples within a module.
  const WireWriter proto =
      hlo_proto("m", {computation_proto(1, {{1, "a", "add", nested}})}, 1, {1});
  const auto recording =
      read_space(space_of({TestPlane("/host:metadata").module("m", 1, proto), small_device()}));
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.spans().size(), 2U);
}

TEST(HostileXplane, ATruncatedFileYieldsWhatIsWhole) {
  const std::string whole = space_of(
      {small_device(), TestPlane("/device:GPU:1").line(1, "Stream #1", 0, {{"later", 0, 1000}})});
  const auto recording = read_space(std::string_view(whole).substr(0, whole.size() - 20));
  ASSERT_TRUE(recording);
  // The first plane is whole.
  EXPECT_GE(recording->timeline.spans().size(), 2U);
  EXPECT_TRUE(space_says(recording, "where the file ends early"));
  EXPECT_TRUE(space_says(recording, "planes that are damaged"));
}

TEST(HostileXplane, AnyDamageEnds) {
  const WireWriter proto =
      hlo_proto("jit_f",
                {computation_proto(
                    1, {{1, "a", "parameter", array_shape(kTestBf16, {4, 8})},
                        {2, "dot", "dot", array_shape(kTestBf16, {4, 4}), {1, 1}},
                        {3,
                         "all-reduce.1",
                         "all-reduce",
                         array_shape(kTestBf16, {4, 4}),
                         {2},
                         WireWriter().message(
                             87, WireWriter().message(
                                     2, WireWriter().number(1, 2).number(2, 2).packed(3, {4})))}})},
                1, {1, 2, 3});
  const std::string whole =
      space_of({TestPlane("/host:metadata").module("jit_f", 4, proto),
                TestPlane("/device:GPU:0")
                    .line(1, "Stream #1", 0,
                          {{"gemm",
                            0,
                            1000,
                            {{"hlo_op", std::string("dot")},
                             {"hlo_module", std::string("jit_f")},
                             {"program_id", std::int64_t{4}}}}}),
                TestPlane("/device:TPU:0").line(1, "XLA Ops", 0, {{"dot.1", 0, 1000}}),
                TestPlane("/host:CPU").line(1, "t", 0, {{"call", 0, 1000}})});
  std::uint64_t random = 99;
  int read = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string damaged = whole;
    for (int change = 0; change < 1 + round % 8; ++change) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      damaged[(random >> 20U) % damaged.size()] = static_cast<char>(random >> 56U);
    }
    const auto recording = read_space(damaged);
    read += recording ? 1 : 0;
    EXPECT_TRUE(!recording || recording->timeline.is_sorted());
  }
  EXPECT_GT(read, 1'000);
}

}  // namespace
}  // namespace sextant::profile
