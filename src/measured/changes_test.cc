// Tables of published single changes: what becomes two jobs, and what is refused for which reason.
#include <gtest/gtest.h>

#include "describe/job_change.h"
#include "measured/table.h"

namespace sextant::measured {
namespace {

constexpr const char* kHeader =
    "id,source_title,source_url_or_repo_path,date,trust,model,layers,hidden,heads,kv_heads,ffn,"
    "vocab,experts,topk,seq,gbs,devices,device,network,framework,before,after,change_kind,metric,"
    "effect_pct,conditions\n";

struct Line {
  std::string model = "Llama-3-8B,32,4096,32,8,14336,128256,,";
  std::string seq = "8192";
  std::string batch = "64";
  std::string devices = "64";
  std::string device = "h100-sxm-80g";
  std::string framework = "torchtitan";
  std::string before = "dp_shard=64,zero=3,mbs=1,precision=bf16";
  std::string after = "dp_shard=64,zero=3,mbs=1,precision=fp8";
  std::string metric = "tokens_per_s_per_device";
  std::string effect = "12.5";
  std::string conditions = {};
};

std::string text_of(const Line& line) {
  return std::string(kHeader) + "X-1,A title,github:owner/name:README.md,2025-01,A," + line.model +
         "," + line.seq + "," + line.batch + "," + line.devices + "," + line.device +
         ",nvlink + 400Gb/s RDMA per GPU," + line.framework + ",\"" + line.before + "\",\"" +
         line.after + "\",kind," + line.metric + "," + line.effect + "," + line.conditions + "\n";
}

Row row_of(const Line& line) {
  static const describe::DataStore data;
  auto rows = parse_table(text_of(line), "wins.csv", data);
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
  return rows && rows->size() == 1 ? rows->front() : Row{};
}

const ChangeSubject& subject_of(const Row& row) {
  return std::get<ChangeSubject>(row.subject);
}

std::string refusal_of(const Line& line) {
  return row_of(line).refusal.value_or("not refused");
}

TEST(Changes, AreTwoJobsAndTheRatioOfTheirSpeeds) {
  const Row row = row_of({});
  ASSERT_FALSE(row.refusal) << *row.refusal;
  EXPECT_EQ(row.table, TableKind::kChanges);
  EXPECT_EQ(row.quantity, kSpeedRatio);
  EXPECT_DOUBLE_EQ(row.measured, 1.125);
  const ChangeSubject& subject = subject_of(row);
  EXPECT_EQ(subject.origin, "owner-name");
  EXPECT_EQ(subject.before->layout.precision, describe::Precision::kBf16);
  EXPECT_EQ(subject.after->layout.precision, describe::Precision::kFp8);
  EXPECT_EQ(subject.after->layout.zero, describe::Zero::kParameters);
  EXPECT_EQ(subject.after->cluster.devices, 64);
  EXPECT_EQ(subject.after->framework, describe::Framework::kTorchtitan);
  EXPECT_EQ(subject.after->model.layer_count(), 32);
  EXPECT_EQ(describe::changes_between(*subject.before, *subject.after),
            std::vector<describe::Change>{describe::Change::kPrecision});
}

TEST(Changes, ColumnsOfTwoValuesAreOfTheirSides) {
  const Row row = row_of({.batch = "64->128", .after = "dp_shard=64,zero=3,mbs=2,precision=bf16"});
  ASSERT_FALSE(row.refusal) << *row.refusal;
  EXPECT_EQ(subject_of(row).before->global_batch, 64);
  EXPECT_EQ(subject_of(row).after->global_batch, 128);
}

TEST(Changes, FewerShardsThanRanksLeaveReplicas) {
  const Row row = row_of({.after = "dp_shard=8,zero=3,mbs=1,precision=bf16"});
  ASSERT_FALSE(row.refusal) << *row.refusal;
  EXPECT_EQ(subject_of(row).after->layout.zero_group, 8);
}

// What both sides have is the row's circumstances; what only one has is the change itself.
TEST(Changes, WordsThatNoLayoutHasAreRefusedWhereTheyDiffer) {
  const std::string plain = "dp_shard=64,zero=3,mbs=1,precision=bf16";
  EXPECT_EQ(refusal_of({.before = plain, .after = plain + ",Liger kernels"}),
            "beyond the layout language: kind");
  const Row both = row_of({.before = plain + ",Liger kernels",
                           .after = "dp_shard=64,zero=3,mbs=1,precision=fp8,Liger kernels"});
  ASSERT_FALSE(both.refusal) << *both.refusal;
  EXPECT_EQ(both.assumed.back().key, "both sides");
  EXPECT_EQ(refusal_of({.before = plain, .after = plain}), "the same in the layout language: kind");
}

TEST(Changes, AreRefusedForTheirReason) {
  EXPECT_EQ(refusal_of({.metric = "mem_gib", .effect = "-135"}),
            "a change of memory, not of speed");
  EXPECT_EQ(refusal_of({.effect = ""}), "no effect is printed");
  EXPECT_EQ(refusal_of({.conditions = "time of ONE transformer layer"}), "not of a whole step");
  EXPECT_EQ(refusal_of({.device = "an unnamed GPU"}), "device not known");
  EXPECT_EQ(refusal_of({.model = "Llama-3-8B,32->40,4096,32->40,8,14336,128256,,"}),
            "another model, not another layout");
  EXPECT_EQ(refusal_of({.metric = "mfu_pct"}), "shares of two peaks");
  EXPECT_EQ(refusal_of({.seq = "4096->8192", .metric = "tflops_per_device"}),
            "FLOP/s of two lengths, without their count");
  EXPECT_EQ(refusal_of({.seq = ""}), "seq_len not stated");
  EXPECT_EQ(refusal_of({.batch = ""}), "global_batch not stated");
  EXPECT_EQ(refusal_of({.model = "A secret model,,,,,,,,"}),
            "model shape not stated: layers, hidden, heads");
  EXPECT_EQ(refusal_of({.after = "dp_shard=64,zero=3,mbs=1,precision=fp8(rowwise)"}),
            "8-bit products with a scale a row: their kernels not measured");
}

TEST(Changes, AMalformedNumberIsAnErrorWithItsLine) {
  const describe::DataStore data;
  for (const char* effect : {"fast", "-100", "-250", "1e9", "nan", "inf"}) {
    const auto rows = parse_table(text_of({.effect = effect}), "wins.csv", data);
    ASSERT_FALSE(rows) << effect;
    EXPECT_NE(to_text(rows.error()).find("wins.csv:2"), std::string::npos);
  }
}

// Free text anywhere ends in a row that is refused or predicted, never in anything else.
TEST(Changes, HostileCellsEndInARow) {
  const std::string junk = "((((=,;->,\x01 9e999 -> " + std::string(3000, 'x');
  for (int cell = 0; cell < 8; ++cell) {
    Line line;
    std::string* const cells[] = {&line.model,  &line.seq,    &line.batch, &line.devices,
                                  &line.device, &line.before, &line.after, &line.conditions};
    *cells[cell] =
        cell == 0 ? "\"" + junk + "\",9999999999,1e30,->,->,-5,(,x,x" : "\"" + junk + "\"";
    if (cell == 5 || cell == 6) {
      *cells[cell] = junk;  // quoted already
    }
    row_of(line);
  }
}

}  // namespace
}  // namespace sextant::measured
