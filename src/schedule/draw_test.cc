#include "schedule/draw.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

using describe::Schedule;
using timeline::SpanKind;
using timeline::Timeline;

Timeline drawn(const ScheduleShape& shape, const OwnedCosts& costs,
               const DrawOptions& options = {}) {
  const CompiledTable table = compiled_table(shape);
  Workspace work;
  simulate(table, costs.view(), work);
  return timeline_of(table, costs.view(), work, options);
}

std::string spans_text(const Timeline& timeline) {
  std::string text;
  for (const timeline::Span& span : timeline.spans()) {
    text += std::to_string(timeline.lane_of(span).rank.value) + "." +
            std::to_string(timeline.lane_of(span).stream.value) + " " +
            timeline.label_of(span).name + " " + std::to_string(span.start_ns) + "-" +
            std::to_string(span.end_ns()) + "\n";
  }
  return text;
}

TEST(Drawing, ShowsComputeBubblesAndTransfers) {
  const OwnedCosts costs = equal_costs(2, split_costs(10_ns, 10_ns, 10_ns), 1_ns, 2_ns);
  EXPECT_EQ(spans_text(drawn({Schedule::k1f1b, 2, 1, 1}, costs)),
            "0.0 F0 0-10\n"
            "0.0 bubble 10-43\n"
            "0.0 B0 43-63\n"
            "0.1 send activations 10-11\n"
            "1.0 bubble 0-11\n"
            "1.0 F0 11-21\n"
            "1.0 B0 21-41\n"
            "1.0 bubble 41-63\n"
            "1.2 send gradients 41-43\n");
}

TEST(Drawing, AMicrobatchHasOneNameOnAllRanks) {
  const OwnedCosts costs = equal_costs(8, split_costs(10_ns, 10_ns, 10_ns));
  const Timeline timeline = drawn({Schedule::kInterleaved1f1b, 4, 2, 8}, costs, {.bubbles = false});
  EXPECT_EQ(timeline.spans().size(), 128U);
  // Forward and backward of 8 microbatches in 2 chunks, and the bubble that was not drawn.
  EXPECT_EQ(timeline.labels().size(), 33U);
  EXPECT_EQ(timeline.label_of(timeline.spans().front()).name, "F0 chunk 0");
}

TEST(Drawing, ASharedSlotIsOneSpan) {
  const OwnedCosts costs = equal_costs(4, split_costs(10_ns, 10_ns, 10_ns));
  const std::string text = spans_text(drawn({Schedule::kDualPipeV, 2, 2, 4}, costs));
  EXPECT_NE(text.find("0.0 F3 chunk 0 + B1 chunk 1 "), std::string::npos) << text;
}

TEST(Drawing, ATransferIsAMessageOfThePipelinesGroup) {
  const OwnedCosts costs = equal_costs(2, split_costs(10_ns, 10_ns, 10_ns), 1_ns, 2_ns);
  const Timeline timeline = drawn({Schedule::k1f1b, 2, 1, 1}, costs);
  ASSERT_EQ(timeline.groups().size(), 1U);
  EXPECT_EQ(timeline.groups().front(), (timeline::Group{.name = "pp", .size = 2}));
  std::int64_t messages = 0;
  for (const timeline::Span& span : timeline.spans()) {
    const timeline::Label& label = timeline.label_of(span);
    EXPECT_EQ(label.collective.has_value(), label.kind == SpanKind::kCommunication);
    if (label.collective) {
      messages += 1;
      EXPECT_EQ(label.collective->op, CollectiveOp::kSendReceive);
      EXPECT_EQ(label.collective->group, timeline::GroupId{0});
    }
  }
  EXPECT_EQ(messages, 2);
}

// Nanosecond rounding: each span and each rank's sum may be off by one a span.
RC_GTEST_PROP(DrawingLaws, ComputeAndBubblesAreThoseOfTheRun, ()) {
  const ScheduleShape shape = random_shape();
  const CompiledTable table = compiled_table(shape);
  OwnedCosts costs = random_costs(table.stages);
  Workspace work;
  const PipelineTime time = simulate(table, costs.view(), work);
  Timeline timeline = timeline_of(table, costs.view(), work);
  RC_ASSERT(timeline.is_sorted());
  const double slack = 1e-9 * static_cast<double>(table.steps.size() + 1);
  RC_ASSERT(std::abs((timeline.extent() - time.makespan).base()) <= slack);
  for (std::size_t rank = 0; rank < time.ranks.size(); ++rank) {
    const timeline::LaneId lane = timeline.lane({static_cast<std::int64_t>(rank)}, kComputeStream);
    RC_ASSERT(std::abs((timeline.busy(lane, SpanKind::kCompute) - time.ranks[rank].busy).base()) <=
              slack);
    RC_ASSERT(std::abs((timeline.busy(lane, SpanKind::kIdle) - time.ranks[rank].idle).base()) <=
              slack);
  }
}

}  // namespace
}  // namespace sextant::schedule
