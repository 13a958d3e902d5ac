#include "measured/table.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"

namespace sextant::measured {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test.
class TableFile : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }
  Result<std::vector<Row>> read(const std::string& name, const std::string& text) {
    return read_table(write(name, text), describe::DataStore());
  }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

// A runs table with the columns that a test needs, in any order.
std::string runs(const std::string& columns, const std::string& values) {
  return "id,model,arch,layers,hidden,ffn_hidden,heads,kv_heads,vocab,gated_mlp,seq_len,num_"
         "devices,tp,"
         "pp,micro_batch,device,recompute_kind,precision_kind,workload_kind,framework,trust," +
         columns +
         "\nR-1,llama2-7b,dense,32,4096,11008,32,32,32000,1,4096,8,1,1,1,h100-sxm,none,bf16,"
         "pretrain,"
         "Megatron-Core,A," +
         values + "\n";
}
constexpr const char* kTimes =
    "global_batch,step_time_s,tokens_per_s_per_device,tflops_per_device,flops_convention,mem_gib,"
    "mem_kind";

TEST_F(TableFile, AnUnknownHeaderShowsWhatIsKnown) {
  const auto rows = read("x.csv", "foo,bar\n1,2\n");
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().what.find("foo,bar"), std::string::npos);
  EXPECT_NE(rows.error().where.find("x.csv"), std::string::npos);
  EXPECT_NE(rows.error().allowed.find("collectives"), std::string::npos);
  EXPECT_FALSE(read("x.json", R"({"a": 1})"));
  EXPECT_FALSE(read("empty.csv", ""));
}

TEST_F(TableFile, ARunGivesATimeAndAMemory) {
  const auto rows = read("r.csv", runs(kTimes, "64,2.5,,,,40.5,max reserved"));
  ASSERT_TRUE(rows) << to_text(rows.error());
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].quantity, "step_time_s");
  EXPECT_DOUBLE_EQ((*rows)[0].measured, 2.5);
  EXPECT_EQ((*rows)[0].source, "r");
  EXPECT_FALSE((*rows)[0].layout_group.empty());
  EXPECT_EQ((*rows)[1].quantity, "mem_gib");
  const auto& subject = std::get<RunSubject>((*rows)[1].subject);
  EXPECT_EQ(subject.memory, MemoryKind::kReserved);
  ASSERT_TRUE(subject.job);
  EXPECT_EQ(subject.job->cluster.device.id, "h100-sxm");
  EXPECT_EQ(subject.job->global_batch, 64);
}

TEST_F(TableFile, ThroughputBecomesAStepTime) {
  // 64 · 4096 tokens over 8 devices at 1000 tokens/s each.
  const auto rows = read("r.csv", runs(kTimes, "64,,1000,,,,"));
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[0].quantity, "step_time_s");
  EXPECT_NEAR((*rows)[0].measured, 64.0 * 4096.0 / 8000.0, 1e-9);
}

TEST_F(TableFile, TflopsBecomeAStepTimeOnlyByADefinedCount) {
  const auto defined = read("r.csv", runs(kTimes, "64,,,400,MODEL_FULL: x,,"));
  ASSERT_TRUE(defined);
  EXPECT_EQ((*defined)[0].quantity, "step_time_s");
  EXPECT_FALSE((*defined)[0].refusal);
  const auto other = read("r.csv", runs(kTimes, "64,,,400,UNKNOWN_MODEL: y,,"));
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)[0].quantity, "tflops_per_device");
  EXPECT_EQ((*other)[0].refusal, "TFLOPs under a convention that is not defined: UNKNOWN_MODEL");
}

TEST_F(TableFile, RunningOutOfMemoryIsAMeasurement) {
  const auto rows = read("r.csv", runs(kTimes, "64,,,,,,OOM"));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0].quantity, "fits");
  EXPECT_EQ((*rows)[0].measured, 0.0);
}

TEST_F(TableFile, MalformedCellsNameFileLineAndWhatIsAllowed) {
  for (const char* bad : {"x,2.5,,,,,", "64,-1,,,,,", "64,nan,,,,,", "64,0,,,,,", "1e300,1,,,,,"}) {
    const auto rows = read("r.csv", runs(kTimes, bad));
    ASSERT_FALSE(rows) << bad;
    EXPECT_NE(rows.error().where.find("r.csv:2"), std::string::npos) << bad;
    EXPECT_FALSE(rows.error().allowed.empty()) << bad;
  }
  std::string text = runs(kTimes, "64,2.5,,,,,");
  text.replace(text.find("bf16"), 4, "bf17");
  const auto rows = read("r.csv", text);
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().allowed.find("nvfp4"), std::string::npos);
}

TEST_F(TableFile, AnUnknownDeviceRefusesTheRowAndNotTheTable) {
  std::string text = runs(kTimes, "64,2.5,,,,,");
  text.replace(text.find("h100-sxm"), 8, "z9000");
  const auto rows = read("r.csv", text);
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[0].refusal, "device not known: z9000");
}

TEST_F(TableFile, ACollectiveKeepsWhatItsNotesSay) {
  const auto rows = read(
      "c.csv",
      "id,source,hardware,gpus_per_node,nodes,ranks,intra_link,inter_link,collective,bytes,time_us,"
      "algbw_GBps,busbw_GBps,in_place,nccl_version,notes\n"
      "a,s,8x H100 SXM,4,1,4,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,1024,,,12.5,0,2.29.2,"
      "DEGRADED: slow; dtype half; 2 group(s) of 4 run at once\n"
      "b,s,unknown GPU,8,1,8,,,alltoall,,7,,,1,RCCL,NCCL_ALGO=Tree forced\n");
  ASSERT_TRUE(rows) << to_text(rows.error());
  const auto& first = std::get<CollectiveSubject>((*rows)[0].subject);
  EXPECT_EQ((*rows)[0].quantity, "busbw_GBps");
  EXPECT_EQ(first.device, "h100-sxm");
  EXPECT_FALSE(first.healthy);
  EXPECT_EQ(first.concurrent_groups, 2);
  EXPECT_EQ(first.dtype, "half");
  EXPECT_EQ(first.library, CollectiveLibrary::kNccl);
  const auto& second = std::get<CollectiveSubject>((*rows)[1].subject);
  EXPECT_EQ(second.forced, ForcedAlgorithm::kTree);
  EXPECT_EQ(second.library, CollectiveLibrary::kRccl);
  EXPECT_EQ((*rows)[1].refusal, "bytes not stated");
}

TEST_F(TableFile, AnUnknownCollectiveIsAnError) {
  const auto rows =
      read("c.csv",
           "id,hardware,gpus_per_node,nodes,ranks,collective,bytes,time_us,busbw_GBps\n"
           "a,8x H100 SXM,8,1,8,all_reduse,1024,5,\n");
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().allowed.find("all_reduce"), std::string::npos);
}

TEST_F(TableFile, KernelsTakeTheDeviceOfTheirFolder) {
  const std::string text =
      "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop,bf16,128,768,768,,,,24.5\n";
  const auto named = read("b200/k.csv", text);
  ASSERT_TRUE(named) << to_text(named.error());
  EXPECT_EQ(std::get<KernelSubject>((*named)[0].subject).device, "b200-sxm");
  EXPECT_EQ((*named)[0].id, "k.csv#2");
  const auto unnamed = read("k.csv", text);
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(std::get<KernelSubject>((*unnamed)[0].subject).device, "h200-sxm");
}

TEST_F(TableFile, CasesOfDistributedPytorchBecomeLayouts) {
  const auto rows =
      read("h200/r.csv",
           "case,world,dp,tp,layers,hidden,ffn,heads,kv,vocab,seq,mb,fwd_ms,bwd_ms,"
           "step_ms\nA-hsdp4x16-ckpt,64,64,1,4,4096,14336,32,8,128256,4096,1,1,2,3\n");
  ASSERT_TRUE(rows) << to_text(rows.error());
  ASSERT_EQ(rows->size(), 3U);
  const describe::Layout& layout = std::get<RankComputeSubject>((*rows)[0].subject).job->layout;
  EXPECT_EQ(layout.zero, describe::Zero::kParameters);
  EXPECT_EQ(layout.zero_group, 16);  // 4 replicas of 16 shards
  EXPECT_EQ(layout.recompute.granularity, describe::Recompute::kFull);
}

TEST_F(TableFile, AScheduleMeasuresItsMakespan) {
  const auto rows =
      read("p.json", R"({"ScheduleGPipe|pp=2|v=1|mb=2": {"0": ["0F0","0F1","0B0","0B1"],
                                      "1": ["1F0","1F1","1B0","1B1"]}})");
  ASSERT_TRUE(rows) << to_text(rows.error());
  EXPECT_EQ((*rows)[0].quantity, "makespan");
  EXPECT_DOUBLE_EQ((*rows)[0].measured, 9.0);
  EXPECT_EQ(std::get<PipelineScheduleSubject>((*rows)[0].subject).schedule,
            describe::Schedule::kGpipe);
}

TEST_F(TableFile, FoldersExpandSortedAndSkipProse) {
  write("b.csv", "x\n");
  write("a/z.json", "{}");
  write("README.md", "words");
  const std::vector<fs::path> paths{folder()};
  const auto files = expand_tables(paths);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].filename(), "z.json");
  EXPECT_EQ((*files)[1].filename(), "b.csv");
  const std::vector<fs::path> missing{folder() / "nothing"};
  EXPECT_FALSE(expand_tables(missing));
}

}  // namespace
}  // namespace sextant::measured
