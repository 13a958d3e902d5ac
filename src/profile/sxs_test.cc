#include "profile/sxs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::profile {
namespace {

using metrics::MadeRecording;
using metrics::Summary;

Summary any_summary() {
  Summary summary;
  const int ranks = *rc::gen::inRange(0, 4);
  for (int rank = 0; rank < ranks; ++rank) {
    MadeRecording made(RankId{rank});
    timeline::Label reduce = metrics::all_reduce_label(made.recording(), 3_MiB, 4);
    if (*rc::gen::arbitrary<bool>()) {
      reduce.collective->sender = RankId{rank};
      reduce.collective->receiver = RankId{rank + 1};
    }
    const auto steps = *rc::gen::inRange<std::int64_t>(1, 6);
    for (std::int64_t i = 0; i < steps; ++i) {
      made.step(i, i * 1000, i * 1000 + 1000);
      made.call("aten::item", i * 1000 + 1, 2);
      made.call("cudaMalloc", i * 1000 + 3, *rc::gen::inRange<std::int64_t>(0, 2));
      made.launch(i * 1000 + 5, 5, i * 1000 + 20, *rc::gen::inRange<std::int64_t>(0, 400));
      made.launch(i * 1000 + 9, 5, i * 1000 + 450, 100, MadeRecording::kSide, reduce);
    }
    made.recording().origin_ns = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'700'000'000);
    made.recording().base_ns = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'700'000'000);
    made.recording().memory = {{RankId{rank}, 5, 100, 100, 1000}};
    made.recording().ranks = {{.rank = RankId{rank}, .coordinates = {{"dp", rank}, {"pp", 0}}}};
    summary = merge(std::move(summary), metrics::summarize(made.take()));
  }
  return summary;
}

RC_GTEST_PROP(Sxs, WhatIsWrittenIsReadAgain, ()) {
  const Summary summary = any_summary();
  const std::string bytes = sxs_bytes(summary);
  const Result<Summary> read = summary_of_sxs(bytes, "a.sxs");
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == summary);
  RC_ASSERT(sxs_bytes(*read) == bytes);
}

RC_GTEST_PROP(Sxs, AChangedByteIsNoticed, ()) {
  std::string bytes = sxs_bytes(any_summary());
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << *rc::gen::inRange(0, 8)));
  RC_ASSERT(!summary_of_sxs(bytes, "a.sxs"));
}

RC_GTEST_PROP(Sxs, AMissingEndIsNoticed, ()) {
  const std::string bytes = sxs_bytes(any_summary());
  const auto size = *rc::gen::inRange<std::size_t>(0, bytes.size());
  RC_ASSERT(!summary_of_sxs(std::string_view(bytes).substr(0, size), "a.sxs"));
}

TEST(Sxs, AnotherVersionIsRefusedByName) {
  std::string bytes = sxs_bytes({});
  bytes[kSxsMagic.size()] = 7;
  const Result<Summary> read = summary_of_sxs(bytes, "a.sxs");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "is of version 7; this program reads version 2");
}

// 256 steps, hundreds of kernels with long names and thousands of collectives.
TEST(Sxs, OfALongRunTakesAFewHundredKilobytes) {
  MadeRecording made;
  const timeline::Label reduce = metrics::all_reduce_label(made.recording(), 3_MiB, 4);
  for (std::int64_t i = 0; i < 400; ++i) {
    made.step(i, i * 100'000'000, (i + 1) * 100'000'000);
    for (std::int64_t k = 0; k < 40; ++k) {
      const std::int64_t at = i * 100'000'000 + k * 2'000'000;
      const std::string name = std::string(200, 'x') + std::to_string((i * 7 + k) % 500);
      made.launch(at, 4'000, at + 9'000, 900'000, MadeRecording::kMain,
                  {timeline::SpanKind::kCompute, name, {}, {}});
      made.launch(at + 5'000, 4'000, at + 1'000'000, 700'000, MadeRecording::kSide, reduce);
    }
  }
  const std::string bytes = sxs_bytes(metrics::summarize(made.take()));
  EXPECT_LT(bytes.size(), 500'000U);
  EXPECT_GT(bytes.size(), 50'000U);
}

}  // namespace
}  // namespace sextant::profile
