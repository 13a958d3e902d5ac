// What the lines of nccl-tests' tables say, and what of it is believed.
#include <array>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "measured/nccl_checks.h"
#include "measured/nccl_testing.h"

namespace sextant::measured {
namespace {

TEST(NcclValues, ASingleGroupIsOutOfPlaceUnlessItsPlaceSaysOtherwise) {
  const std::string blank(32, ' ');
  const NcclTable replay = read_one(std::string(kColumns) + "1048576 262144 float sum -1" + blank +
                                    " 40.00 26.21 45.88 0\n");
  EXPECT_FALSE(first_line(replay).out_of_place);
  EXPECT_DOUBLE_EQ(timing(first_line(replay).in_place).time / 1_us, 40.0);
  const NcclTable only_in_place = read_one(
      "#      in-place\n#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
      "1048576 262144 float sum -1 40.00 26.21 45.88 0\n");
  EXPECT_FALSE(first_line(only_in_place).out_of_place);
  EXPECT_TRUE(first_line(only_in_place).in_place);
}

TEST(NcclValues, TimesOfTheProcessorAreReplacedByThoseOfTheBandwidth) {
  const NcclTable table = read_one(
      "#  size  count  type  redop  root  cputime  algbw  busbw #wrong\n"
      "1048576 262144 float sum -1 5.00 26.21 45.88 0\n"
      "8 2 float sum -1 5.00 0.00 0.00 0\n");
  ASSERT_EQ(table.lines.size(), 1U);
  // 1 MiB at 26.21 GB/s.
  EXPECT_NEAR(timing(first_line(table).out_of_place).time / 1_us, 40.007, 0.001);
  EXPECT_NE(said(table).find("CPU"), std::string::npos);
}

TEST(NcclValues, ZeroAndAbsentTimesAreSkippedWithAWarning) {
  const NcclTable table = read_one(
      "1048576 262144 float sum -1 0.00 26.21 45.88 0 40.00 26.21 45.88 0\n"
      "1048576 262144 float sum -1 N/A N/A N/A N/A N/A N/A N/A N/A\n"
      "0 0 float sum -1 5.70 0.00 0.00 0 5.54 0.00 0.00 0\n");
  ASSERT_EQ(table.lines.size(), 1U);
  EXPECT_FALSE(first_line(table).out_of_place);
  EXPECT_TRUE(first_line(table).in_place);
  EXPECT_EQ(table.warnings.size(), 3U) << said(table);
  const auto none = parse_nccl_tests("8 2 float sum -1 0.00 0.00 0.00 0\n", "nccl.txt");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("nccl.txt:1: no usable out-of-place time"), std::string::npos);
}

TEST(NcclValues, WrongResultsAreMarked) {
  for (const std::string_view wrong : {"3", "2e-01*"}) {
    const NcclTable table =
        read_one(fmt::format("1048576 262144 float sum -1 40 26.21 45.88 {}\n", wrong));
    EXPECT_TRUE(first_line(table).wrong);
    EXPECT_NE(said(table).find("nccl.txt:1: the out-of-place result was wrong"), std::string::npos);
  }
}

TEST(NcclValues, LinesThatContradictThemselvesAreKeptAndMarked) {
  const std::string head = "./all_reduce_perf -b 1M\n" + devices(8, 8);
  // The first is all-reduce among 8 ranks; the second prints another busbw, the third another time.
  const NcclTable table = read_one(head +
                                   "1048576 262144 float sum -1 40 26.21 45.88 0\n"
                                   "1048576 262144 float sum -1 40 26.21 41.00 0\n"
                                   "1048576 262144 float sum -1 90 26.21 45.88 0\n");
  ASSERT_EQ(table.lines.size(), 3U);
  EXPECT_TRUE(table.lines[0].consistent);
  EXPECT_FALSE(table.lines[1].consistent);
  EXPECT_FALSE(table.lines[2].consistent);
  EXPECT_EQ(table.warnings.size(), 2U) << said(table);
  EXPECT_NE(said(table).find("nccl.txt:11: busbw 41.00"), std::string::npos) << said(table);
}

TEST(NcclValues, BeforeJune2020AllGatherPrintedBusbwTwice) {
  // Both columns are bytes / time · 7/8 = 22.94; the time still tells the ranks.
  const NcclTable table = read_one(
      "./all_gather_perf -b 1M\n"
      "1048576 32768 float 40.00 22.94 22.94 0e+00 40.00 22.94 22.94 0e+00\n");
  EXPECT_EQ(table.ranks, 8);
  EXPECT_TRUE(first_line(table).consistent) << said(table);
}

TEST(NcclValues, ACutDeviceListYieldsToTheBandwidths) {
  const std::string list = devices(8, 8);
  const std::string first_four = list.substr(0, 4 * (list.find('\n') + 1));
  const NcclTable table = read_one("./all_reduce_perf -b 1M\n" + first_four + std::string(kRow));
  EXPECT_EQ(table.ranks, 8);
  EXPECT_FALSE(table.nodes);
  EXPECT_TRUE(first_line(table).consistent);
  EXPECT_EQ(table.warnings.size(), 1U) << said(table);
}

TEST(NcclValues, RanksMayComeFromTheLibrarysLogOrTheProcess) {
  const std::string row = "1048576 262144 float none -1 40 26.21 26.21 0 40 26.21 26.21 N/A\n";
  const NcclTable logged = read_one(
      "./sendrecv_perf -b 1M\nh:1:2 [0] NCCL INFO comm 0xab rank 0 nRanks 16 nNodes 2 localRanks "
      "8\n" +
      row);
  EXPECT_EQ(logged.ranks, 16);
  EXPECT_EQ(logged.nodes, 2);
  const NcclTable process =
      read_one("# nThread 1 nGpus 4 minBytes 8 maxBytes 8\n./sendrecv_perf -b 1M\n" + row);
  EXPECT_EQ(process.ranks, 4);
  EXPECT_FALSE(process.assumed.empty());
  EXPECT_FALSE(read_one("./sendrecv_perf -b 1M\n" + row).ranks);
}

TEST(NcclValues, SplitCommunicatorsAreGroupsAtOnce) {
  std::string list;
  for (int rank = 0; rank < 16; ++rank) {
    list += fmt::format("#  Rank {} Group {} Pid 9 on node-{} device {} [0x19] NVIDIA H100\n", rank,
                        rank % 8, rank / 8, rank % 8);
  }
  // Two ranks a group: all-reduce's busbw is algbw.
  const NcclTable table = read_one(list +
                                   "./all_reduce_perf -b 1M\n"
                                   "1048576 262144 float sum -1 40 26.21 26.21 0\n");
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.groups, 8);
  EXPECT_EQ(table.nodes, 2);
  EXPECT_TRUE(table.warnings.empty()) << said(table);
}

TEST(NcclValues, ProcessesWithoutMpiAreSaid) {
  const NcclTable table = read_one(
      "#   Rank  0 Pid   13 on node-a device  0 [0x00] Tesla V100\n"
      "#   Rank  0 Pid   20 on node-b device  0 [0x00] Tesla V100\n"
      "./all_reduce_perf -b 1M\n1048576 262144 float sum 40 26.21 0.00 0e+00\n");
  EXPECT_EQ(table.ranks, 1);
  EXPECT_NE(said(table).find("without MPI"), std::string::npos);
}

TEST(NcclValues, SizesAreLimitedAndWarningsCounted) {
  std::string many;
  for (std::int64_t line = 0; line <= kMostNcclLines; ++line) {
    many += "8 2 float sum -1 40 9 9\n";  // 9 GB/s is not 8 bytes in 40 µs
  }
  EXPECT_FALSE(parse_nccl_tests(many, "nccl.txt"));
  many.resize(many.size() / 1'000);
  const NcclTable table = read_one(many);
  EXPECT_EQ(table.warnings.size(), 21U);
  std::string tables;
  for (std::int64_t count = 0; count <= kMostNcclTables; ++count) {
    tables += std::string(kRow) + "# Avg bus bandwidth : 1\n";
  }
  EXPECT_FALSE(parse_nccl_tests(tables, "nccl.txt"));
}

TEST(NcclValues, HostileTextEndsInAValueOrAnError) {
  const std::string row(trimmed(kRow));
  for (const std::string& text :
       {std::string(1 << 20, '\x1b'), std::string(1 << 20, '#'), std::string(1 << 16, '\n'),
        std::string("\0\0\0", 3), row + std::string(9000, '9'),
        std::string("1e400 1 float 1e400 1 1"), std::string("1 1 float 1e15 1e15 1e-300"),
        std::string("999999999999999999 1 float sum -9 1e-300 1e15 1e15 1e15")}) {
    (void)parse_nccl_tests(text, "nccl.txt");
  }
}

// What nccl-tests prints: seven characters, as many of them decimals as fit, at most two.
std::string printed(double value, int width) {
  for (const int decimals : {2, 1, 0}) {
    const std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
    if (static_cast<int>(text.size()) <= width) {
      return text;
    }
  }
  return fmt::format("{:{}.1e}", value, width);
}

std::string rendered(Bytes bytes, CollectiveOp op, std::int64_t ranks, Seconds time) {
  const double rate = bytes / time / 1_GBps;
  const std::string group =
      fmt::format("  {}  {}  {}      0", printed(time / 1_us, 7), printed(rate, 6),
                  printed(rate * describe::bus_share(op, ranks), 6));
  const bool reduces = op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter;
  return fmt::format("{:12.0f}  {:12.0f}  {:>8}  {:>6}      -1{}{}\n", bytes.base(),
                     bytes.base() / 4.0, "float", reduces ? "sum" : "none", group, group);
}

TEST(NcclValues, ARenderedTableReadsBack) {
  EXPECT_TRUE(rc::check([] {
    constexpr std::array<std::pair<CollectiveOp, std::string_view>, 5> kTests{
        {{CollectiveOp::kAllReduce, "all_reduce_perf"},
         {CollectiveOp::kAllGather, "all_gather_perf"},
         {CollectiveOp::kReduceScatter, "reduce_scatter_perf"},
         {CollectiveOp::kAllToAll, "alltoall_perf"},
         {CollectiveOp::kBroadcast, "broadcast_perf"}}};
    const auto [op, program] = kTests.at(*rc::gen::inRange<std::size_t>(0, kTests.size()));
    const int ranks = *rc::gen::inRange(1, 300);
    const auto sizes = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(1, 8'000'000'000)));
    const double rate = *rc::gen::inRange(1, 900'000) * 1e-3;
    std::string text = fmt::format("# Collective test starting: {}\n", program) + devices(ranks, 8);
    std::vector<Seconds> times;
    for (const std::int64_t size : sizes) {
      times.push_back(5_us + Bytes(static_cast<double>(size)) / (rate * 1_GBps));
      text += rendered(Bytes(static_cast<double>(size)), op, ranks, times.back());
    }
    const auto tables = parse_nccl_tests(text, "nccl.txt");
    RC_ASSERT(tables.has_value());
    RC_ASSERT(tables->size() == 1U);
    const NcclTable& table = tables->front();
    RC_ASSERT(table.op == op);
    RC_ASSERT(table.ranks == ranks);
    RC_ASSERT(table.nodes == (ranks + 7) / 8);
    RC_ASSERT(table.lines.size() == sizes.size());
    RC_ASSERT(table.warnings.empty());
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      const NcclLine& line = table.lines[at];
      RC_ASSERT(line.bytes == Bytes(static_cast<double>(sizes[at])));
      RC_ASSERT(line.out_of_place.has_value() && line.in_place.has_value());
      const NcclTiming found = timing(line.in_place);
      RC_ASSERT(std::abs((found.time - times[at]) / 1_us) <=
                found.time_rounding / 1_us * (1.0 + 1e-9));
    }
  }));
}

TEST(NcclValues, RanksFoundFromBandwidthsAreTheRealOnes) {
  EXPECT_TRUE(rc::check([] {
    const bool reduce = *rc::gen::arbitrary<bool>();
    const CollectiveOp op = reduce ? CollectiveOp::kAllReduce : CollectiveOp::kAllGather;
    const int ranks = *rc::gen::inRange(1, 65);
    std::string text;
    for (const double size : {1e6, 1.6e7, 2.56e8, 4e9}) {
      text += rendered(Bytes(size), op, ranks, 20_us + Bytes(size) / 200_GBps);
    }
    const auto tables = parse_nccl_tests(text, "nccl.txt", op);
    RC_ASSERT(tables.has_value());
    RC_ASSERT(tables->front().ranks == ranks);
  }));
}

}  // namespace
}  // namespace sextant::measured
