#include "diagnose/communication_rules.h"

#include <gtest/gtest.h>

#include "diagnose/imbalance_rules.h"
#include "diagnose/laid_over.h"
#include "metrics/recording_testing.h"

namespace sextant::diagnose {
namespace {

using metrics::MadeRecording;
using metrics::Summary;
using timeline::Label;
using timeline::SpanKind;

constexpr std::int64_t kStep = 100'000;

// Each rank computes, then its group communicates, then it computes again; five steps.
struct MadeRank {
  std::int64_t compute = 40'000;
  std::int64_t communication = 20'000;
  std::int64_t late = 0;   // how much later the communication begins, and with it ends as others'
  bool is_hidden = false;  // compute goes on beside it
  CollectiveOp op = CollectiveOp::kAllGather;
  std::string description = "TENSOR_MODEL_PARALLEL_GROUP";
};

Summary summary_of_pair(const std::vector<MadeRank>& ranks) {
  Summary summary;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const MadeRank& rank = ranks[i];
    MadeRecording made(RankId{static_cast<std::int64_t>(i)});
    timeline::Group group{.name = "3", .size = 2, .ranks = {{0}, {1}}};
    group.description = rank.description;
    Label label = metrics::all_reduce_label(made.recording(), 64_MiB, 2);
    label.collective->op = rank.op;
    label.collective->group = made.recording().timeline.group(group);
    for (std::int64_t step = 0; step < 5; ++step) {
      const std::int64_t at = step * kStep;
      made.step(step, at, at + kStep);
      made.launch(at + 1, 5, at + 10, rank.compute + (rank.is_hidden ? rank.communication : 0));
      made.launch(at + 10, 5, at + 10 + rank.compute + rank.late, rank.communication - rank.late,
                  MadeRecording::kSide, label);
      made.launch(at + 20, 5, at + 10 + rank.compute + rank.communication,
                  kStep - 20 - rank.compute - rank.communication);
    }
    summary = merge(std::move(summary), metrics::summarize(made.take()));
  }
  return summary;
}

Findings exposed_findings(const Summary& summary) {
  const Scene scene = scene_of(summary, {}, std::nullopt);
  return exposed_communication(scene, communication_times(scene));
}

TEST(ExposedCommunication, IsWhatStandsAloneOfTheAxis) {
  const Findings findings = exposed_findings(summary_of_pair({{}, {}}));
  ASSERT_EQ(findings.found.size(), 1U);
  const Finding& one = findings.found[0];
  EXPECT_EQ(one.rule, "exposed-tp");
  EXPECT_NEAR(one.per_step / 1_us, 20.0, 0.1);
  EXPECT_EQ(one.status, Status::kVerified);
  EXPECT_FALSE(one.evidence.empty());
  EXPECT_LE(one.evidence.size(), kMostEvidence);
  Seconds parts;
  for (const Seconds part : one.parts) {
    parts += part;
  }
  EXPECT_DOUBLE_EQ(parts / one.per_step, 1.0);
}

TEST(ExposedCommunication, IsNoneWhereComputeHidesIt) {
  const MadeRank hidden{.is_hidden = true};
  EXPECT_TRUE(exposed_findings(summary_of_pair({hidden, hidden})).found.empty());
}

// Rank 1 comes 15 of 20 µs late: 5 µs are the transfer, and hiding those frees no more.
TEST(ExposedCommunication, CountsNoWaitingForWhoComesLate) {
  const Findings findings = exposed_findings(summary_of_pair({{}, {.late = 15'000}}));
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_LE(findings.found[0].per_step, 7.5_us);
  EXPECT_GE(findings.found[0].per_step, 5_us);
}

TEST(ExposedCommunication, OfOneRankSaysThatItHoldsWaiting) {
  const Findings findings = exposed_findings(summary_of_pair({{}}));
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_EQ(findings.found[0].status, Status::kInferred);
  EXPECT_NE(findings.found[0].cause.find("one rank alone"), std::string::npos);
}

// A peer advised DDP's flags for a sequence-parallel job of sends and receives.
TEST(ExposedCommunication, AdvisesWhatFitsTheJob) {
  const MadeRank ring{.op = CollectiveOp::kSendReceive, .description = "CONTEXT_PARALLEL_GROUP"};
  const Findings sends = exposed_findings(summary_of_pair({ring, ring}));
  ASSERT_EQ(sends.found.size(), 1U);
  EXPECT_EQ(sends.found[0].rule, "exposed-cp");
  const MadeRank sharded{.op = CollectiveOp::kAllGather, .description = "mesh_dp_shard"};
  const Findings gathers = exposed_findings(summary_of_pair({sharded, sharded}));
  ASSERT_EQ(gathers.found.size(), 1U);
  EXPECT_EQ(gathers.found[0].rule, "exposed-dp");
  EXPECT_EQ(std::ranges::count(gathers.found[0].advice, "buckets"), 0);
  const MadeRank replicated{.op = CollectiveOp::kAllReduce, .description = "mesh_dp_replicate"};
  const Findings reduces = exposed_findings(summary_of_pair({replicated, replicated}));
  ASSERT_EQ(reduces.found.size(), 1U);
  EXPECT_EQ(std::ranges::count(reduces.found[0].advice, "prefetch"), 0);
}

TEST(ExposedCommunication, AbstainsWhereNobodySaysWhatGroupsAreFor) {
  const MadeRank unknown{.op = CollectiveOp::kAllGather, .description = ""};
  const Findings findings = exposed_findings(summary_of_pair({unknown, unknown}));
  EXPECT_TRUE(findings.found.empty());
  EXPECT_EQ(findings.abstained.size(), 5U);
}

const LaidRow* laid_row_of(const LaidOver& laid, std::string_view what) {
  const auto row = std::ranges::find(laid.rows, what, &LaidRow::what);
  return row == laid.rows.end() ? nullptr : &*row;
}

// What waits is in no axis; the rows of the part add up to it.
TEST(LaidOver, ExposedCommunicationStandsByAxis) {
  const Summary summary = summary_of_pair({{}, {.late = 15'000}});
  const Scene scene = scene_of(summary, {}, std::nullopt);
  step::RecordedEstimate prediction;
  prediction.estimate.step.step = 90_us;
  prediction.estimate.step.exposed[Axis::kTensor] = 4_us;
  prediction.estimate.step.exposed[Axis::kData] = 7_us;
  const LaidOver laid = laid_over(scene, prediction);
  const LaidRow* tensor = laid_row_of(laid, "exposed communication: tp");
  const LaidRow* data = laid_row_of(laid, "exposed communication: dp");
  const LaidRow* waiting = laid_row_of(laid, "exposed communication: waiting for other ranks");
  ASSERT_TRUE(tensor != nullptr && data != nullptr && waiting != nullptr);
  EXPECT_NEAR(tensor->predicted / 1_us, 4.0, 1e-9);
  EXPECT_NEAR(tensor->measured / 1_us, 5.0, 0.1);
  EXPECT_NEAR(data->predicted / 1_us, 7.0, 1e-9);
  EXPECT_EQ(data->measured, Seconds());
  EXPECT_NEAR(waiting->measured / 1_us, 7.5, 0.1);  // 15 of one rank, none of the other
  Seconds all;
  for (const LaidRow& row : laid.rows) {
    all += row.part == StepPart::kExposedCommunication ? row.measured : Seconds();
  }
  const Seconds exposed = scene.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)];
  EXPECT_NEAR(all / exposed, 1.0, 1e-9);
}

// Two ranks of a data-parallel group; `lengths`: of the attention of each in each step.
Summary uneven(const std::array<std::vector<std::int64_t>, 2>& lengths, const char* kernel,
               const char* description, double others = 1.0) {
  Summary summary;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    MadeRecording made(RankId{rank});
    timeline::Group group{.name = "3", .size = 2, .ranks = {{0}, {1}}};
    group.description = description;
    Label label = metrics::all_reduce_label(made.recording(), 64_MiB, 2);
    label.collective->group = made.recording().timeline.group(group);
    const std::vector<std::int64_t>& own = lengths[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * kStep;
      const std::int64_t longest = std::max(lengths[0][i], lengths[1][i]);
      const auto gemm = static_cast<std::int64_t>(20'000 * (rank == 0 ? others : 1.0));
      made.step(static_cast<std::int64_t>(i), at, at + kStep);
      made.launch(at + 1, 5, at + 10, gemm);
      made.launch(at + 10, 5, at + 10 + gemm, own[i], MadeRecording::kMain,
                  {SpanKind::kCompute, kernel, {}, {}});
      made.launch(at + 20, 5, at + 10 + gemm + own[i], longest - own[i] + 5'000,
                  MadeRecording::kSide, label);
      made.launch(at + 30, 5, at + 15'010 + gemm + longest, 10'000);
    }
    summary = merge(std::move(summary), metrics::summarize(made.take()));
  }
  return summary;
}

std::vector<std::string> uneven_rules(const Summary& summary) {
  const Scene scene = scene_of(summary, {}, std::nullopt);
  std::vector<std::string> rules;
  for (const Finding& finding : uneven_work(scene, communication_times(scene)).found) {
    rules.push_back(finding.rule);
    EXPECT_GT(finding.per_step, Seconds());
    EXPECT_LE(finding.per_step, scene.step);
  }
  return rules;
}

constexpr const char* kFlash = "void flash::flash_fwd_kernel<128>";
constexpr const char* kGrouped = "void cutlass::Kernel2<GemmGrouped>";

TEST(UnevenWork, LengthsThatChangeFromStepToStepAreSequences) {
  EXPECT_EQ(uneven_rules(uneven(
                {{{20'000, 5'000, 30'000, 9'000, 20'000}, {6'000, 26'000, 9'000, 28'000, 5'000}}},
                kFlash, "DATA_PARALLEL_GROUP")),
            std::vector<std::string>{"sequence-imbalance"});
}

TEST(UnevenWork, ARankThatIsAlwaysSlowerHasNoUnevenSequences) {
  EXPECT_TRUE(uneven_rules(uneven({{{30'000, 30'100, 29'900, 30'000, 30'000},
                                    {20'000, 20'100, 19'900, 20'000, 20'000}}},
                                  kFlash, "DATA_PARALLEL_GROUP", 1.5))
                  .empty());
}

TEST(UnevenWork, ExpertsLongerThanAllElseAreRouting) {
  EXPECT_EQ(uneven_rules(uneven({{{30'000, 30'000, 30'000, 30'000, 30'000},
                                  {20'000, 20'000, 20'000, 20'000, 20'000}}},
                                kGrouped, "EXPERT_MODEL_PARALLEL_GROUP")),
            std::vector<std::string>{"expert-imbalance"});
}

TEST(UnevenWork, ExpertsOfASlowDeviceAreNoRouting) {
  EXPECT_TRUE(uneven_rules(uneven({{{30'000, 30'000, 30'000, 30'000, 30'000},
                                    {20'000, 20'000, 20'000, 20'000, 20'000}}},
                                  kGrouped, "EXPERT_MODEL_PARALLEL_GROUP", 1.5))
                  .empty());
}

// The same pair of ranks whose shapes are known: products of so many FLOPs, in so many calls.
std::vector<std::string> shaped_rules(double flops_of_second, std::int64_t calls_of_second) {
  Summary summary =
      uneven({{{20'000, 20'000, 20'000}, {20'000, 20'000, 20'000}}}, "gemm", "DATA_PARALLEL_GROUP");
  for (metrics::RankSummary& rank : summary.ranks) {
    const bool is_first = rank.rank == RankId{0};
    metrics::OperatorRow row{.name = "aten::mm", .category = {}, .module = {}};
    row.flops.add(is_first ? 1e12 : flops_of_second);
    row.time.count = is_first ? 12 : calls_of_second;
    rank.operators = {row};
    rank.has_shapes = true;
  }
  return uneven_rules(summary);
}

TEST(UnevenWork, MoreFlopsInAsManyOperatorsAreLongerSequences) {
  EXPECT_EQ(shaped_rules(1.5e12, 12), std::vector<std::string>{"sequence-imbalance"});
}

TEST(UnevenWork, MoreOperatorsAreAnotherProgram) {
  EXPECT_TRUE(shaped_rules(1.5e12, 18).empty());
}

TEST(UnevenWork, EqualShapesAreEven) {
  EXPECT_TRUE(shaped_rules(1e12, 12).empty());
}

}  // namespace
}  // namespace sextant::diagnose
