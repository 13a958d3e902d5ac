#include "diagnose/clocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/job_testing.h"

namespace sextant::diagnose {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

Clocks clocks_of_job(const metrics::Summary& summary) {
  return clocks_of(summary, meetings_of(summary));
}

TEST(Clocks, OfNothingAreNone) {
  EXPECT_TRUE(clocks_of_job({}).ranks.empty());
}

// Rank 0 meets 1, 1 meets 2, 2 meets 3: nobody but neighbours.
MadeJob chained(std::size_t ranks, int times) {
  MadeJob job(ranks);
  for (int i = 0; i < times; ++i) {
    job.compute_all(3 * kMillisecond);
    for (std::size_t rank = 0; rank + 1 < ranks; ++rank) {
      job.meet({rank, rank + 1}, kMillisecond);
    }
  }
  job.next_step();
  return job;
}

// Offsets of up to 10 s and drifts of up to 50 parts in a million are found exactly where ends
// agree, over a chain of groups.
RC_GTEST_PROP(Clocks, AreFoundOverAChainOfGroups, ()) {
  MadeJob job = chained(5, 40);
  std::vector<std::int64_t> offsets;
  const std::int64_t end = job.now(4);
  std::vector<std::int64_t> shown;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const auto offset =
        *rc::gen::inRange<std::int64_t>(-10'000 * kMillisecond, 10'000 * kMillisecond);
    const double drift = *rc::gen::inRange(-50, 51) * 1e-6;
    job.set_clock(rank, offset, drift);
    shown.push_back(end + offset + static_cast<std::int64_t>(drift * static_cast<double>(end)));
  }
  const Clocks clocks = clocks_of_job(job.summary());
  RC_ASSERT(clocks.unaligned == 0U);
  RC_ASSERT(*clocks.high_residual < 0.1_us);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const std::int64_t apart = clocks.ranks[rank].on_reference(shown[rank]) -
                               clocks.ranks[clocks.reference].on_reference(shown[clocks.reference]);
    RC_ASSERT(std::abs(apart) < 100);
  }
}

// One in five ends that a rank notes 5 ms late moves nothing, and is in the residual's high end.
TEST(Clocks, LateEndsMoveNothing) {
  MadeJob job = chained(3, 50);
  job.set_clock(1, 777 * kMillisecond);
  auto& instances = job.summary().ranks[1].instances;
  for (std::size_t i = 0; i < instances.size(); i += 5) {
    instances[i].end_ns += 5 * kMillisecond;
  }
  const Clocks clocks = clocks_of_job(job.summary());
  const std::int64_t apart = clocks.ranks[1].on_reference(777 * kMillisecond + 100 * kMillisecond) -
                             clocks.ranks[0].on_reference(100 * kMillisecond);
  EXPECT_LT(std::abs(apart), 1'000);
  EXPECT_LT(*clocks.typical_residual, 1_us);
}

// Rank 1 sends to rank 2 and gets answers: of 1 ms each, so bounds lie 1 ms to either side.
TEST(Clocks, MessagesBoundThem) {
  MadeJob job(3);
  for (int i = 0; i < 5; ++i) {
    job.compute_all(2 * kMillisecond);
    job.meet({0, 1}, kMillisecond);
    job.send(1, 2, kMillisecond);
    job.send(2, 1, kMillisecond);
  }
  job.next_step();
  job.set_clock(2, -4'000 * kMillisecond);
  const Clocks clocks = clocks_of_job(job.summary());
  EXPECT_EQ(clocks.unaligned, 0U);
  const std::int64_t apart =
      clocks.ranks[2].on_reference(-4'000 * kMillisecond) - clocks.ranks[0].on_reference(0);
  EXPECT_LE(std::abs(apart), kMillisecond);
}

TEST(Clocks, OfRanksThatMeetNobodyCannotBeAligned) {
  MadeJob job(4);
  for (int i = 0; i < 10; ++i) {
    job.compute_all(kMillisecond);
    job.meet({0, 1}, kMillisecond);
    job.meet({2, 3}, kMillisecond);
  }
  job.next_step();
  const Clocks clocks = clocks_of_job(job.summary());
  EXPECT_EQ(clocks.unaligned, 2U);
  EXPECT_TRUE(clocks.ranks[1].is_aligned);
  EXPECT_FALSE(clocks.ranks[3].is_aligned);
}

}  // namespace
}  // namespace sextant::diagnose
