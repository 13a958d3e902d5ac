#include "measured/nccl_tests.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "measured/nccl_checks.h"

namespace sextant::measured {
namespace {

// busbw = bytes / time · 2·7/8 for all-reduce among 8 ranks: 1 MiB in 40 µs is 26.21 GB/s, 45.88.
constexpr std::string_view kRow =
    "     1048576        262144     float     sum      -1    40.00   26.21   45.88      0"
    "    41.00   25.58   44.76      0\n";
constexpr std::string_view kColumns =
    "#                                      out-of-place                       in-place\n"
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    "#   (B)  (elements)                (us) (GB/s) (GB/s)         (us) (GB/s) (GB/s)\n";

std::string devices(int ranks, int per_host, std::string_view name = "NVIDIA H100 80GB HBM3") {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on   node-{} device {:2} [0x{:02x}] {}\n",
                        rank, 900 + rank, rank / per_host, rank % per_host, 25 + rank, name);
  }
  return text;
}

std::vector<NcclTable> read(std::string_view text, std::optional<CollectiveOp> hint = {}) {
  auto tables = parse_nccl_tests(text, "nccl.txt", hint);
  EXPECT_TRUE(tables) << to_text(tables.error());
  return tables ? *tables : std::vector<NcclTable>();
}

NcclTable read_one(std::string_view text, std::optional<CollectiveOp> hint = {}) {
  std::vector<NcclTable> tables = read(text, hint);
  EXPECT_EQ(tables.size(), 1U) << text;
  return tables.empty() ? NcclTable{} : tables.front();
}

// A usable line to look at where the reading failed.
NcclLine first_line(const NcclTable& table) {
  EXPECT_FALSE(table.lines.empty());
  return table.lines.empty() ? NcclLine{} : table.lines.front();
}

NcclTiming timing(const std::optional<NcclTiming>& found) {
  EXPECT_TRUE(found);
  return found.value_or(NcclTiming{});
}

std::string said(const NcclTable& table) {
  return join(table.warnings, "; ") + " | " + join(table.assumed, "; ");
}

void expect_row(const NcclTable& table, std::int64_t line) {
  const NcclLine found = first_line(table);
  EXPECT_EQ(found.line, line);
  EXPECT_EQ(found.bytes, 1_MiB);
  EXPECT_EQ(found.dtype, "float");
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).time / 1_us, 40.0);
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).algbw / 1_GBps, 26.21);
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).busbw / 1_GBps, 45.88);
  EXPECT_DOUBLE_EQ(timing(found.in_place).time / 1_us, 41.0);
  EXPECT_TRUE(found.consistent) << said(table);
}

TEST(NcclTests, NothingParsableSaysWhatIsExpected) {
  for (const std::string_view text :
       {"", "hello\nworld", "# size count type\n", "step 10 200 loss 2.3 0.1 0.5"}) {
    const auto tables = parse_nccl_tests(text, "nccl.txt");
    ASSERT_FALSE(tables) << text;
    EXPECT_EQ(tables.error().where, "nccl.txt");
    EXPECT_NE(tables.error().allowed.find("float sum"), std::string::npos);
  }
}

TEST(NcclTests, ANewOutputIsReadWhole) {
  const NcclTable table = read_one(
      "# nccl-tests version 2.17.6 nccl-headers=22602 nccl-library=22703\n"
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 1 iters: 20\n#\n" +
      devices(8, 4) + std::string(kColumns) + std::string(kRow) +
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 45.3\n#\n"
      "# Collective test concluded: all_reduce_perf\n");
  EXPECT_EQ(table.op, CollectiveOp::kAllReduce);
  EXPECT_EQ(table.program, "all_reduce_perf");
  EXPECT_EQ(table.ranks, 8);
  EXPECT_EQ(table.nodes, 2);
  EXPECT_EQ(table.hosts, (std::vector<std::string>{"node-0", "node-1"}));
  EXPECT_EQ(table.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(table.library, CollectiveLibrary::kNccl);
  EXPECT_EQ(table.library_version, "2.27.3");
  EXPECT_TRUE(table.warnings.empty()) << said(table);
  EXPECT_TRUE(table.assumed.empty()) << said(table);
  expect_row(table, 16);
  EXPECT_EQ(first_line(table).redop, "sum");
  EXPECT_EQ(first_line(table).root, -1);
  EXPECT_EQ(timing(first_line(table).in_place).errors, 0.0);
  // 40.00 µs is anything from 39.995 to 40.005.
  EXPECT_NEAR(timing(first_line(table).out_of_place).time_rounding / 1_us, 0.005, 1e-12);
}

TEST(NcclTests, OldOutputsHaveNoRootAndADifferenceForErrors) {
  const NcclTable table = read_one(
      "$ ./build/all_reduce_perf -b 1M -e 1M -g 8\nNCCL version 2.8.4+cuda10.1\n"
      "#   Rank  0 Pid  71 on box device  0 [0x1a] Tesla V100-SXM3-32GB\n"
      "#   Rank  1 Pid  71 on box device  1 [0x1b] Tesla V100-SXM3-32GB\n"
      "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
      "  1048576  262144   float     sum    40.00   26.21   26.21  1e-07  41.0   25.58   25.58  "
      "0e+00\n");
  EXPECT_EQ(table.op, CollectiveOp::kAllReduce);
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.library_version, "2.8.4+cuda10.1");
  EXPECT_FALSE(first_line(table).root);
  EXPECT_FALSE(first_line(table).wrong);
  EXPECT_EQ(timing(first_line(table).out_of_place).errors, 1e-07);
  EXPECT_TRUE(table.warnings.empty()) << said(table);
}

TEST(NcclTests, AllToAllHasNoReductionAndAnUncheckedInPlace) {
  // (n−1)/n of 16 ranks: 26.21 · 15/16 = 24.58.
  const NcclTable table =
      read_one(std::string("# Collective test starting: alltoall_perf\n") + std::string(kColumns) +
               "1048576 16384 float none -1 40.00 26.21 24.58 0 40.00 26.21 24.58 N/A\n");
  EXPECT_EQ(table.op, CollectiveOp::kAllToAll);
  EXPECT_EQ(first_line(table).redop, "none");
  EXPECT_EQ(timing(first_line(table).out_of_place).errors, 0.0);
  EXPECT_FALSE(timing(first_line(table).in_place).errors);
  EXPECT_EQ(table.ranks, 16) << said(table);
  EXPECT_NE(said(table).find("16 ranks because of busbw"), std::string::npos);
}

TEST(NcclTests, RcclTestsAreReadTheSameWay) {
  const NcclTable table = read_one(
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 8 minBytes 16 maxBytes 32 step: 2(factor)\n#\n"
      "rccl-tests: Version develop:1a2b3c4\n" +
      devices(8, 8, "AMD Instinct MI300X") + "RCCL version : 2.22.3-HEAD:77\n" +
      std::string(kColumns) + std::string(kRow));
  EXPECT_EQ(table.library, CollectiveLibrary::kRccl);
  EXPECT_EQ(table.library_version, "2.22.3-HEAD:77");
  EXPECT_EQ(table.device, "AMD Instinct MI300X");
  EXPECT_EQ(table.nodes, 1);
  EXPECT_TRUE(table.warnings.empty()) << said(table);
}

TEST(NcclTests, LogPrefixesDoNotMatter) {
  const std::string plain = "# Collective test starting: all_reduce_perf\n" + devices(8, 8) +
                            std::string(kColumns) + std::string(trimmed(kRow));
  for (const std::string_view prefix :
       {"worker-0: ", "0: ", "[1,0]<stdout>:", "2024-05-01T12:00:00Z ", "> ", "\t", "[12:00:01] ",
        "node7:  0 | ", "\x1b[32m", "12:00:00 INFO "}) {
    std::string text;
    for (const std::string_view line : split(plain, '\n')) {
      text += fmt::format("{}{}\x1b[0m\r\n", prefix, line);
    }
    const NcclTable table = read_one(text);
    EXPECT_EQ(table.op, CollectiveOp::kAllReduce) << prefix;
    EXPECT_EQ(table.ranks, 8) << prefix;
    EXPECT_EQ(table.hosts.size(), 1U) << prefix;
    EXPECT_EQ(table.device, "NVIDIA H100 80GB HBM3") << prefix;
    EXPECT_TRUE(table.warnings.empty()) << prefix << said(table);
    expect_row(table, 13);
  }
}

TEST(NcclTests, APrefixMayTouchALongSize) {
  const NcclTable table =
      read_one("0:137438953472 34359738368 float sum -1 1000000 137.44 240.52 0\n");
  EXPECT_EQ(first_line(table).bytes, 128.0 * 1_GiB);
}

TEST(NcclTests, ALineWithoutAnyHeaderIsReadByItsNumberOfColumns) {
  struct Case {
    std::string_view text;
    bool in_place;
    std::optional<std::int64_t> root;
  };
  for (const Case& example : {
           Case{"1048576 262144 float sum -1 40 26.21 45.88 0 41 25.58 44.76 0", true, -1},
           Case{"1048576 262144 float sum 40 26.21 45.88 0 41 25.58 44.76 0", true, {}},
           Case{"1048576 262144 float sum -1 40 26.21 45.88 0", false, -1},
           Case{"1048576 262144 float sum 40 26.21 45.88 N/A", false, {}},
           Case{"1048576 262144 float sum -1 40 26.21 45.88 41 25.58 44.76", true, -1},
           Case{"1048576 262144 float sum 40 26.21 45.88 41 25.58 44.76", true, {}},
           Case{"1048576 262144 float sum 40 26.21 45.88", false, {}},
           Case{"1048576 262144 float sum -1 40 26.21 45.88", false, -1},
       }) {
    const NcclTable table = read_one(example.text);
    EXPECT_EQ(first_line(table).root, example.root) << example.text;
    EXPECT_EQ(first_line(table).in_place.has_value(), example.in_place) << example.text;
    EXPECT_DOUBLE_EQ(timing(first_line(table).out_of_place).time / 1_us, 40.0) << example.text;
    EXPECT_TRUE(first_line(table).consistent) << example.text;
    // Sums without a root whose busbw is 1.75 of algbw are all-reduce among 8.
    EXPECT_EQ(table.op, CollectiveOp::kAllReduce) << example.text;
    EXPECT_EQ(table.ranks, 8) << example.text << said(table);
  }
}

TEST(NcclTests, TheOperationFollowsFromTheLinesWhereOnlyOnePrintsThem) {
  struct Case {
    std::string_view text;  // after size and count
    std::optional<CollectiveOp> op;
  };
  for (const Case& example : {
           Case{"float sum -1 40.00 26.21 26.21 0 40.00 26.21 26.21 0", CollectiveOp::kAllReduce},
           Case{"float sum -1 40.00 26.21 22.94 0 40.00 26.21 22.94 0",
                CollectiveOp::kReduceScatter},
           Case{"float none -1 40.00 26.21 22.94 0 40.00 26.21 22.94 0", CollectiveOp::kAllGather},
           Case{"float none -1 40.00 26.21 22.94 0 40.00 26.21 22.94 N/A", CollectiveOp::kAllToAll},
           Case{"float none -1 40.00 26.21 26.21 0 40.00 26.21 26.21 N/A",
                CollectiveOp::kSendReceive},
           Case{"float none 0 40.00 26.21 26.21 0 40.00 26.21 26.21 0", CollectiveOp::kBroadcast},
           Case{"float sum 0 40.00 26.21 26.21 0 40.00 26.21 26.21 0", {}},
           Case{"float none -1 40.00 26.21 22.94 N/A 40.00 26.21 22.94 N/A", {}},
       }) {
    const NcclTable table = read_one(fmt::format("1048576 262144 {}", example.text));
    EXPECT_EQ(table.op, example.op) << example.text;
    EXPECT_EQ(table.assumed.empty(), !example.op) << example.text;
  }
}

TEST(NcclTests, TheHintNamesTablesThatNameNoProgram) {
  const std::string row = "1048576 262144 float none -1 40 26.21 22.94 N/A 40 26.21 22.94 N/A\n";
  EXPECT_EQ(read_one(row, CollectiveOp::kAllGather).op, CollectiveOp::kAllGather);
  EXPECT_EQ(
      read_one("# Collective test starting: alltoall_perf\n" + row, CollectiveOp::kAllGather).op,
      CollectiveOp::kAllToAll);
  EXPECT_EQ(nccl_op_in("h100/all-reduce_16n.txt"), CollectiveOp::kAllReduce);
  EXPECT_EQ(nccl_op_in("ReduceScatter.log"), CollectiveOp::kReduceScatter);
  EXPECT_EQ(nccl_op_in("nccl.txt"), std::nullopt);
  EXPECT_EQ(nccl_op_in("allreduce_allgather.txt"), std::nullopt);
}

TEST(NcclTests, ATestWithoutACounterpartKeepsItsName) {
  const NcclTable table =
      read_one("./reduce_perf -b 1M -e 1M\n1048576 262144 float sum 0 40 26.21 26.21 0\n",
               CollectiveOp::kAllReduce);
  EXPECT_FALSE(table.op);
  EXPECT_EQ(table.program, "reduce_perf");
  EXPECT_NE(said(table).find("counterpart"), std::string::npos);
}

TEST(NcclTests, SeveralTablesInOneText) {
  const std::string reduce =
      "# Collective test starting: all_reduce_perf\n" + devices(8, 8) + std::string(kColumns) +
      std::string(kRow) +
      "# Avg bus bandwidth : 45\n# Collective test concluded: all_reduce_perf\n";
  const std::string gather = "mpirun -np 2 ./build/all_gather_perf -b 1M -e 1M -g 1\n" +
                             devices(2, 1) + std::string(kColumns) +
                             "1048576 131072 float none -1 40 26.21 13.11 0 40 26.21 13.11 0\n";
  const auto tables = read(reduce + gather + reduce);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].op, CollectiveOp::kAllReduce);
  EXPECT_EQ(tables[1].op, CollectiveOp::kAllGather);
  EXPECT_EQ(tables[1].ranks, 2);
  EXPECT_EQ(tables[1].nodes, 2);
  EXPECT_EQ(tables[2].op, CollectiveOp::kAllReduce);
  EXPECT_EQ(tables[2].ranks, 8);
  for (const NcclTable& table : tables) {
    EXPECT_EQ(table.lines.size(), 1U);
    EXPECT_TRUE(table.warnings.empty()) << said(table);
  }
}

TEST(NcclTests, ARunWhoseEndWasCutEndsAtTheNextVersionLine) {
  const auto tables = read(std::string(kRow) +
                           "# rccl-tests version 2.17.9 rccl-headers=22803 rccl-library=22803\n"
                           "# Collective test starting: all_reduce_perf\n" +
                           std::string(kRow));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].library, CollectiveLibrary::kUnknown);
  EXPECT_EQ(tables[1].library, CollectiveLibrary::kRccl);
  EXPECT_EQ(tables[1].library_version, "2.28.3");
}

TEST(NcclTests, BareTablesAreSplitAtTheirLastLines) {
  const std::string footer = "# Avg bus bandwidth    : 45.3\n";
  const auto tables = read(std::string(kRow) + footer + std::string(kRow) + footer);
  EXPECT_EQ(tables.size(), 2U);
}

TEST(NcclTests, LinesThatANarrowTerminalBrokeAreJoined) {
  const NcclTable table = read_one(
      "# Collective test starting: all_reduce_perf\n"
      "#  Rank  0 Group  0 Pid    900 on   node-0 device  0 [0x19]\n NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid    901 on   node-0 \ndevice  1 [0x1a] NVIDIA H100 80GB HBM3\n"
      "#  size  count  type  redop  root  time  algbw\n  busbw #wrong  time  algbw  busbw #wrong\n"
      "1048576 262144 float sum -1 40.00 26.21\n 26.21 0 41.00 25.58 25.58 0\n"
      "2097152 524288 float sum -1 80.00 26.21 26.21 0\n 82.00 25.58 25.58 0\n");
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.device, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(table.lines.size(), 2U);
  EXPECT_EQ(table.lines[0].line, 8);
  EXPECT_DOUBLE_EQ(timing(table.lines[0].in_place).busbw / 1_GBps, 25.58);
  EXPECT_DOUBLE_EQ(timing(table.lines[1].in_place).time / 1_us, 82.0);
  EXPECT_TRUE(table.warnings.empty()) << said(table);
}

TEST(NcclTests, FurtherColumnsOfTheHeaderAreSteppedOver) {
  const NcclTable table = read_one(
      "#  size  count  type  redop  root  time  algbw  busbw #wrong  bits  i_min  time  algbw  "
      "busbw "
      "#wrong  bits  i_min  timestamp\n"
      "1048576 262144 float sum -1 40.00 26.21 45.88 0 7 8 41.00 25.58 44.76 0 7 8 2025-05-01 "
      "10:00:00\n");
  expect_row(table, 2);
  EXPECT_TRUE(table.warnings.empty()) << said(table);
}

TEST(NcclTests, ASingleGroupIsOutOfPlaceUnlessItsPlaceSaysOtherwise) {
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

TEST(NcclTests, TimesOfTheProcessorAreReplacedByThoseOfTheBandwidth) {
  const NcclTable table = read_one(
      "#  size  count  type  redop  root  cputime  algbw  busbw #wrong\n"
      "1048576 262144 float sum -1 5.00 26.21 45.88 0\n"
      "8 2 float sum -1 5.00 0.00 0.00 0\n");
  ASSERT_EQ(table.lines.size(), 1U);
  // 1 MiB at 26.21 GB/s.
  EXPECT_NEAR(timing(first_line(table).out_of_place).time / 1_us, 40.007, 0.001);
  EXPECT_NE(said(table).find("CPU"), std::string::npos);
}

TEST(NcclTests, ZeroAndAbsentTimesAreSkippedWithAWarning) {
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

TEST(NcclTests, WrongResultsAreMarked) {
  for (const std::string_view wrong : {"3", "2e-01*"}) {
    const NcclTable table =
        read_one(fmt::format("1048576 262144 float sum -1 40 26.21 45.88 {}\n", wrong));
    EXPECT_TRUE(first_line(table).wrong);
    EXPECT_NE(said(table).find("nccl.txt:1: the out-of-place result was wrong"), std::string::npos);
  }
}

TEST(NcclTests, LinesThatContradictThemselvesAreKeptAndMarked) {
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

TEST(NcclTests, BeforeJune2020AllGatherPrintedBusbwTwice) {
  // Both columns are bytes / time · 7/8 = 22.94; the time still tells the ranks.
  const NcclTable table = read_one(
      "./all_gather_perf -b 1M\n"
      "1048576 32768 float 40.00 22.94 22.94 0e+00 40.00 22.94 22.94 0e+00\n");
  EXPECT_EQ(table.ranks, 8);
  EXPECT_TRUE(first_line(table).consistent) << said(table);
}

TEST(NcclTests, ACutDeviceListYieldsToTheBandwidths) {
  const std::string list = devices(8, 8);
  const std::string first_four = list.substr(0, 4 * (list.find('\n') + 1));
  const NcclTable table = read_one("./all_reduce_perf -b 1M\n" + first_four + std::string(kRow));
  EXPECT_EQ(table.ranks, 8);
  EXPECT_FALSE(table.nodes);
  EXPECT_TRUE(first_line(table).consistent);
  EXPECT_EQ(table.warnings.size(), 1U) << said(table);
}

TEST(NcclTests, RanksMayComeFromTheLibrarysLogOrTheProcess) {
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

TEST(NcclTests, SplitCommunicatorsAreGroupsAtOnce) {
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

TEST(NcclTests, ProcessesWithoutMpiAreSaid) {
  const NcclTable table = read_one(
      "#   Rank  0 Pid   13 on node-a device  0 [0x00] Tesla V100\n"
      "#   Rank  0 Pid   20 on node-b device  0 [0x00] Tesla V100\n"
      "./all_reduce_perf -b 1M\n1048576 262144 float sum 40 26.21 0.00 0e+00\n");
  EXPECT_EQ(table.ranks, 1);
  EXPECT_NE(said(table).find("without MPI"), std::string::npos);
}

TEST(NcclTests, SizesAreLimitedAndWarningsCounted) {
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

TEST(NcclTests, HostileTextEndsInAValueOrAnError) {
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
                  printed(rate * busbw_factor(op, ranks), 6));
  const bool reduces = op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter;
  return fmt::format("{:12.0f}  {:12.0f}  {:>8}  {:>6}      -1{}{}\n", bytes.base(),
                     bytes.base() / 4.0, "float", reduces ? "sum" : "none", group, group);
}

TEST(NcclTests, ARenderedTableReadsBack) {
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

TEST(NcclTests, RanksFoundFromBandwidthsAreTheRealOnes) {
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
