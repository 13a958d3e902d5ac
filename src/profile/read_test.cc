#include "profile/read.h"

#include <string>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "profile/file_rank.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

using std::string_literals::operator""s;

struct Refused {
  const char* what;
  std::string bytes;
  const char* says;
};

TEST(ReadProfile, WhatIsNotReadIsRefusedByNameWithTheWayOut) {
  const std::vector<Refused> cases{
      {"Chakra, host", R"({"schema": "1.0.1", "pid": 1, "nodes": [{"name": "x", "id": 2}]})",
       "export_chrome_trace"},
      {"Chakra, protobuf",
       "\x07\x0a\x05"
       "0.0.4\x10\x01",
       "export_chrome_trace"},
      {"memory timeline", "[[-1, 1, 37888, 7], [-1, 1, 512, 7]]", "export_chrome_trace"},
      {"memory snapshot", "\x80\x04\x95\x10", "profile_memory=True"},
      {"Perfetto", "\x0a\x10\x50\x01\x32\x05", "traceconv json"},
      {"Nsight report", "QDSTRM\x01\x02", "nsys export --type sqlite"},
      {"parquet", "PAR1\x15\x04", "nsys export --type sqlite"},
      {"zip", "PK\x03\x04\x14", "unzip"},
      {"rocprofv3", R"({"rocprofiler-sdk-tool": [{"metadata": {}}]})", "PyTorch"},
      {"packed sqlite", "SQLite format 3\0 and so on"s, "unpacked file"},
      {"other JSON", R"({"a": 1})", "PyTorch profile"},
      {"nothing", "", "PyTorch profile"},
      {"blanks", " \n ", "PyTorch profile"},
      {"noise", "\x01\x02\x03", "PyTorch profile"}};
  for (const Refused& refused : cases) {
    const auto recording = read_profile_bytes(refused.bytes, "f", options_of_tests());
    ASSERT_FALSE(recording) << refused.what;
    EXPECT_EQ(recording.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(to_text(recording.error()).find(refused.says), std::string::npos)
        << refused.what << ": " << to_text(recording.error());
  }
}

TEST(ReadProfile, AReportIsKnownByItsNameWhereItsBytesSayNothing) {
  const ScratchFolder folder;
  const auto recording =
      read_profile(folder.write("a.nsys-rep", "\x01\x02\x03"), options_of_tests());
  ASSERT_FALSE(recording);
  EXPECT_NE(to_text(recording.error()).find("nsys export --type sqlite"), std::string::npos);
}

TEST(ReadProfile, AFileThatIsNotThereIsNotFound) {
  const auto recording = read_profile("/nowhere/at/all.json", options_of_tests());
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().kind, ErrorKind::kNotFound);
}

TEST(ReadProfile, ProgressIsToldAsBytesOfTheFile) {
  const ScratchFolder folder;
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) {
    text += R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" + std::to_string(i) +
            R"(,"dur":1},)";
  }
  text.back() = ']';
  ReadOptions options = options_of_tests();
  std::int64_t last = 0;
  std::int64_t of = 0;
  options.progress = [&](std::int64_t taken, std::int64_t size) {
    EXPECT_GE(taken, last);
    last = taken;
    of = size;
  };
  const auto recording = read_profile(folder.write("rank5.json", text), options);
  ASSERT_TRUE(recording);
  EXPECT_EQ(last, static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(of, last);
  EXPECT_EQ(recording->timeline.spans().size(), 20'000U);
  EXPECT_EQ(recording->ranks.at(0).rank, RankId{5});
}

TEST(FileRank, IsWhereTheNameSaysRankOrEndsInANumber) {
  const auto rank = [](const char* name) {
    const auto found = rank_of_file(name);
    return found ? found->value : -1;
  };
  EXPECT_EQ(rank("/a/rank-3.Jul_15_10_52_41.1074.pt.trace.json.gz"), 3);
  EXPECT_EQ(rank("rank12.json"), 12);
  EXPECT_EQ(rank("trace_8_rank_1.json"), 1);
  EXPECT_EQ(rank("rank_7_of_rank_map.json"), 7);
  EXPECT_EQ(rank("b200_eager_rank0of8.json.gz"), 0);
  EXPECT_EQ(rank("megatron_kineto_5.json.gz"), 5);
  EXPECT_EQ(rank("sampled_rank-1.json.gz"), 1);
  EXPECT_EQ(rank("3.json"), 3);
  EXPECT_EQ(rank("profile-02.json.zst"), 2);
  EXPECT_EQ(rank("gpt2-1.5b_s1024_b4_bf16_none_sdpa.json.gz"), -1);
  EXPECT_EQ(rank("resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz"), -1);
  EXPECT_EQ(rank("num_workers_4.json"), -1);
  EXPECT_EQ(rank("step_30.json"), -1);
  EXPECT_EQ(rank("benchmark_result_2869224_1695835535_trace.json.gz"), -1);
  EXPECT_EQ(rank("trace_1695835535.json"), -1);
  EXPECT_EQ(rank("llama3.json"), -1);
  EXPECT_EQ(rank("/run/rank4/trace.json"), -1);
  EXPECT_EQ(rank(""), -1);
}

}  // namespace
}  // namespace sextant::profile
