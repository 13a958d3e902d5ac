#include "diagnose/difference.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/gate.h"
#include "metrics/recording_testing.h"

namespace sextant::diagnose {
namespace {

using metrics::MadeRecording;

// What a test compares, kept.
struct MadeRun {
  metrics::RankSummary rank;
  Diagnosis diagnosis{};
  [[nodiscard]] ComparedRun compared() const {
    return {.totals = rank.total(),
            .has_device = rank.has_device,
            .kernels = rank.kernels,
            .operators = rank.operators,
            .collectives = rank.collectives,
            .ranges = rank.ranges,
            .signals = rank.signals,
            .diagnosis = &diagnosis};
  }
};

struct MadeKernel {
  std::string name;
  std::int64_t takes = 0;
  std::int64_t gap = 0;  // before it
  std::string range = "block";
  bool beside = false;  // on another stream, with the next
};

// Four steps, of which two are kept, of the same kernels.
MadeRun made_run(const std::vector<MadeKernel>& kernels) {
  MadeRecording made;
  std::int64_t at = 0;
  for (std::int64_t step = 0; step < 4; ++step) {
    const std::int64_t from = at;
    for (const MadeKernel& one : kernels) {
      at += one.gap;
      made.host({timeline::SpanKind::kHost, one.range, {}, {}}, at - 1, 3);
      made.launch(at, 1, at, one.takes, one.beside ? MadeRecording::kSide : MadeRecording::kMain,
                  {timeline::SpanKind::kCompute, one.name, {}, {}});
      at += one.beside ? 5 : one.takes;
    }
    made.step(step, from, at);
  }
  return {.rank = metrics::summarize(made.take()).ranks.at(0)};
}

double ns(Seconds time) {
  return std::round(time / 1_ns);
}

const Change* change_of(const std::vector<Change>& changes, std::string_view name) {
  for (const Change& one : changes) {
    if (one.name == name) {
      return &one;
    }
  }
  return nullptr;
}

double sum_of(const std::vector<Change>& changes) {
  double sum = 0.0;
  for (const Change& one : changes) {
    sum += one.change() / 1_ns;
  }
  return sum;
}

TEST(Difference, OfARunAndItselfIsNone) {
  const MadeRun run = made_run({{"gemm", 100, 10}, {"norm", 20, 5}});
  const Difference difference = difference_of(run.compared(), run.compared());
  EXPECT_EQ(difference.step_a / 1_s, difference.step_b / 1_s);
  for (const Change& one : difference.makeup.changes) {
    EXPECT_EQ(one.change() / 1_s, 0.0) << one.name;
  }
  EXPECT_FALSE(difference.makeup.share_of_first(1));
}

// The gemm takes 60 ns more, the norm is gone (20), a new kernel takes 5; a step 45 ns more.
TEST(Difference, SlowerGoneAndNewAreTold) {
  const MadeRun a = made_run({{"gemm", 100}, {"norm", 20}});
  const MadeRun b = made_run({{"gemm", 160}, {"add", 5}});
  const Difference difference = difference_of(a.compared(), b.compared());
  EXPECT_EQ(ns(difference.step_b - difference.step_a), 45);
  ASSERT_EQ(difference.makeup.of, "kernels");
  ASSERT_GE(difference.makeup.changes.size(), 3U);
  EXPECT_EQ(difference.makeup.changes[0].name, "gemm");
  EXPECT_EQ(ns(difference.makeup.changes[0].change()), 60);
  EXPECT_EQ(difference.makeup.changes[1].name, "norm");
  EXPECT_FALSE(difference.makeup.changes[1].b);
  EXPECT_EQ(difference.makeup.changes[2].name, "add");
  EXPECT_FALSE(difference.makeup.changes[2].a);
  // 60 is 133 % of 45, 60 − 20 is 89 %: all three are needed.
  EXPECT_EQ(difference.makeup.needed, 3U);
  EXPECT_NEAR(difference.makeup.share_of_first(2).value_or(0.0), 40.0 / 45.0, 1e-12);
}

TEST(Difference, IdleTimeIsTheRangesThatCameLate) {
  const MadeRun a = made_run({{"gemm", 100, 0, "forward"}, {"norm", 20, 0, "loss"}});
  const MadeRun b = made_run({{"gemm", 100, 0, "forward"}, {"norm", 20, 70, "loss"}});
  const Difference difference = difference_of(a.compared(), b.compared());
  EXPECT_EQ(ns(difference.step_b - difference.step_a), 70);
  ASSERT_FALSE(difference.ranges.changes.empty());
  EXPECT_EQ(difference.ranges.changes[0].name, "loss");
  EXPECT_EQ(difference.ranges.changes[0].detail, "idle before it");
  EXPECT_EQ(ns(difference.ranges.changes[0].change()), 70);
  EXPECT_EQ(difference.ranges.needed, 1U);
}

// Another maker's names: kernels say nothing, operators do.
TEST(Difference, KernelsOfOtherNamesAreComparedByOperator) {
  const MadeRun a = made_run({{"nvjet_tst", 100, 0, "aten::mm"}, {"flash_fwd", 50, 0, "sdpa"}});
  const MadeRun b = made_run({{"Cijk_Alik", 140, 0, "aten::mm"}, {"attn_fwd", 40, 0, "sdpa"}});
  const Difference difference = difference_of(a.compared(), b.compared());
  EXPECT_EQ(difference.makeup.of, "operators");
  ASSERT_NE(change_of(difference.makeup.changes, "aten::mm"), nullptr);
  EXPECT_EQ(ns(change_of(difference.makeup.changes, "aten::mm")->change()), 40);
  EXPECT_EQ(ns(change_of(difference.kinds, "matrix products")->change()), 40);
  EXPECT_EQ(ns(change_of(difference.kinds, "attention")->change()), -10);
}

TEST(Difference, WhereNothingIsCalledAlikeKindsOfWorkAreCompared) {
  const MadeRun a = made_run({{"nvjet_tst", 100, 0, "linear"}});
  const MadeRun b = made_run({{"Cijk_Alik", 140, 0, "dot"}});
  EXPECT_EQ(difference_of(a.compared(), b.compared()).makeup.of, "kinds of work");
}

TEST(Difference, FindingsAreNewGoneOrInBoth) {
  MadeRun a = made_run({{"gemm", 100}});
  MadeRun b = a;
  const auto finding = [](std::string rule, Seconds lost) {
    Finding made;
    made.rule = std::move(rule);
    made.per_step = lost;
    return made;
  };
  a.diagnosis.findings = {finding("host-sync", 3_ms), finding("input-bound", 1_ms)};
  b.diagnosis.findings = {finding("input-bound", 9_ms), finding("python-gc", 4_ms),
                          finding("late-rank", 50_ms)};
  b.diagnosis.findings.back().explained_by = "python-gc";
  const Difference difference = difference_of(a.compared(), b.compared());
  ASSERT_EQ(difference.findings.size(), 3U);
  EXPECT_EQ(difference.findings[0].rule, "input-bound");  // 8 ms more
  EXPECT_EQ(difference.findings[1].rule, "python-gc");
  EXPECT_FALSE(difference.findings[1].a);
  EXPECT_EQ(difference.findings[2].rule, "host-sync");
  EXPECT_FALSE(difference.findings[2].b);
  EXPECT_EQ(met({.rules = {"input-bound", "python-gc"}}, difference),
            std::vector<std::string>{"python-gc is new"});
}

TEST(Difference, AStepThatGrewByMoreThanAskedIsMet) {
  const MadeRun a = made_run({{"gemm", 100}});
  const MadeRun b = made_run({{"gemm", 110}});
  const Difference slower = difference_of(a.compared(), b.compared());
  EXPECT_EQ(met({.rules = {}, .gain = {}, .slower = 0.05}, slower).size(), 1U);
  EXPECT_TRUE(met({.rules = {}, .gain = {}, .slower = 0.15}, slower).empty());
  EXPECT_TRUE(
      met({.rules = {}, .gain = {}, .slower = 0.05}, difference_of(b.compared(), a.compared()))
          .empty());
}

std::vector<MadeKernel> any_kernels() {
  std::vector<MadeKernel> kernels;
  const auto count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(*rc::gen::inRange(0, 5));
    kernels.push_back({.name = "kernel" + number,
                       .takes = *rc::gen::inRange<std::int64_t>(6, 200),
                       .gap = *rc::gen::inRange<std::int64_t>(0, 50),
                       .range = "range" + std::to_string(i % 3),
                       .beside = i + 1 < count && *rc::gen::inRange(0, 3) == 0});
  }
  return kernels;
}

// Whatever ran at once, and whoever is compared by what.
RC_GTEST_PROP(Difference, ChangesAddUpToTheChangeOfTheStep, ()) {
  const MadeRun a = made_run(any_kernels());
  const MadeRun b = made_run(any_kernels());
  const Difference difference = difference_of(a.compared(), b.compared());
  const double change = (difference.step_b - difference.step_a) / 1_ns;
  RC_ASSERT(std::abs(sum_of(difference.parts) - change) < 1e-3);
  RC_ASSERT(std::abs(sum_of(difference.makeup.changes) - change) < 1e-3);
  RC_ASSERT(std::abs(sum_of(difference.ranges.changes) - change) < 1e-3);
  if (const auto share = difference.makeup.share_of_first(difference.makeup.needed)) {
    RC_ASSERT(std::abs(1.0 - *share) <= 1.0 - kMadeUp + 1e-9);
  }
}

}  // namespace
}  // namespace sextant::diagnose
