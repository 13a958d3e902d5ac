#include "step/step_timeline.h"

#include <cmath>

#include <gtest/gtest.h>

#include "app/job_request.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

using timeline::Span;
using timeline::Timeline;

struct Case {
  std::string model = "llama-3.1-8b";
  std::string cluster = "32xh100-sxm";
  std::string layout;
  std::string batch = "64";
  std::string framework = {};
};

struct Drawn {
  step::Estimate result;
  Timeline timeline;
};

Drawn drawn(const Case& asked) {
  Context context;
  context.settings["framework"] = {"megatron-core", "default"};
  const JobRequest request{.model = asked.model,
                           .cluster = asked.cluster,
                           .layout = asked.layout,
                           .framework = asked.framework,
                           .sequences = {},
                           .global_batch = asked.batch,
                           .workload = {}};
  const auto reading = read_job(request, context);
  EXPECT_TRUE(reading && reading->violations.empty()) << asked.layout;
  const auto machine = machine::step_machine(reading->job, context.data);
  EXPECT_TRUE(machine) << asked.layout;
  Drawn made{step::whole_estimate(reading->job, *machine), {}};
  auto timeline = step::step_timeline(made.result, reading->job.layout);
  EXPECT_TRUE(timeline) << asked.layout;
  made.timeline = std::move(*timeline);
  return made;
}

TEST(StepTimeline, EndsWithTheStepOnEveryRankAndNothingOverlaps) {
  for (const Case& asked : {Case{.layout = "tp=2"}, Case{.layout = "tp=2,pp=4"},
                            Case{.layout = "pp=4,vpp=2"}, Case{.layout = "tp=4,pp=8,vpp=4"},
                            Case{.layout = "pp=2,schedule=gpipe", .framework = "other"},
                            Case{.layout = "pp=4,vpp=2,schedule=zbv", .framework = "other"},
                            Case{.layout = "pp=4,vpp=2,schedule=dualpipev", .framework = "other"},
                            Case{.model = "mixtral-8x7b", .layout = "ep=8,pp=4"},
                            // More groups of microbatches than the estimate runs one by one.
                            Case{.layout = "tp=2,pp=4,vpp=2", .batch = "512"}}) {
    const Drawn made = drawn(asked);
    const auto step = std::llround(made.result.step.step / 1_ns);
    EXPECT_TRUE(made.timeline.is_sorted());
    std::vector<std::int64_t> ends(made.timeline.lanes().size(), 0);
    for (const Span& span : made.timeline.spans()) {
      if (span.duration_ns == 0) {
        continue;  // a bubble of less than a nanosecond, at the start of what follows
      }
      std::int64_t& end = ends[span.lane];
      EXPECT_GE(span.start_ns, end) << asked.layout << " " << made.timeline.label_of(span).name;
      end = span.end_ns();
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_LE(ends[i], step + 1) << asked.layout;
      if (made.timeline.lanes()[i].stream == schedule::kComputeStream) {
        EXPECT_NEAR(static_cast<double>(ends[i]), static_cast<double>(step), 1.0) << asked.layout;
      }
    }
  }
}

// Passes, update and loop on the slowest rank: all but idle time and what is exposed after passes.
TEST(StepTimeline, TheSlowestRankIsBusyAsLongAsTheEstimateSays) {
  Drawn made = drawn({.layout = "tp=2,pp=4"});
  const step::Estimate& result = made.result;
  const timeline::LaneId lane =
      made.timeline.lane({result.step.slowest_rank}, schedule::kComputeStream);
  const Seconds passes =
      result.slowest_microbatch() * static_cast<double>(result.microbatches) + result.step.update;
  EXPECT_NEAR(made.timeline.busy(lane, timeline::SpanKind::kCompute) / passes, 1.0, 1e-6);
}

TEST(StepTimeline, WithoutAPipelineMicrobatchesFollowOneAnother) {
  const Drawn made = drawn({.cluster = "8xh100-sxm", .layout = "tp=2", .batch = "16"});
  std::string names;
  for (const Span& span : made.timeline.spans()) {
    if (made.timeline.lane_of(span).stream == schedule::kComputeStream) {
      names += made.timeline.label_of(span).name + " ";
    }
  }
  EXPECT_TRUE(names.starts_with("F0 B0 F1 B1 F2 B2 F3 B3 ")) << names;
  EXPECT_TRUE(names.ends_with("update loop and uneven devices ")) << names;
}

TEST(StepTimeline, TooManyPassesAreRefused) {
  step::Estimate result;
  result.step.stages.resize(4);
  result.microbatches = 1'000'000;
  describe::Layout layout;
  layout.pp = 4;
  const auto timeline = step::step_timeline(result, layout);
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().where, "‹timeline›");
}

}  // namespace
}  // namespace sextant::app
