// Which outputs of nccl-tests and rccl-tests are read, and where their tables begin and end.
#include "measured/nccl_tests.h"

#include <gtest/gtest.h>

#include "measured/nccl_testing.h"

namespace sextant::measured {
namespace {

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
  EXPECT_NE(said(table).find("ranks=16 (because of busbw"), std::string::npos);
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

// The last character of a text may begin a terminal's command.
TEST(NcclTests, ALoneEscapeEndsALine) {
  const std::string plain = "# Collective test starting: all_reduce_perf\n" + devices(8, 8) +
                            std::string(kColumns) + std::string(trimmed(kRow));
  expect_row(read_one(plain + "\x1b"), 13);
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

}  // namespace
}  // namespace sextant::measured
