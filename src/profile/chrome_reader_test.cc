#include "profile/chrome_reader.h"

#include <gtest/gtest.h>

#include "profile/chrome_lanes.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::Recording;
using timeline::SpanKind;

Recording read_job(const std::string& text) {
  auto recording = read_profile_bytes(text, "job.json", options_of_tests());
  EXPECT_TRUE(recording) << to_text(recording.error());
  return recording ? *std::move(recording) : Recording{};
}

TEST(ChromeReader, CoordinatesAreSaidInNames) {
  using Coordinates = std::map<std::string, std::int64_t>;
  EXPECT_EQ(coordinates_of("PP rank 0, TP rank 3, compute"), (Coordinates{{"pp", 0}, {"tp", 3}}));
  EXPECT_EQ(coordinates_of("DP rank [12]"), (Coordinates{{"dp", 12}}));
  EXPECT_EQ(coordinates_of("rank 7"), (Coordinates{{"", 7}}));
  EXPECT_EQ(coordinates_of("Rank: 7 of 8"), (Coordinates{{"", 7}}));
  EXPECT_EQ(coordinates_of("franking"), Coordinates{});
  EXPECT_EQ(coordinates_of("rank"), Coordinates{});
}

// As ByteDance's straggler study draws a job: a process for each data-parallel rank, five threads
// for each worker of it; names come last.
TEST(ChromeReader, WorkersOfAJobAreRanksInMegatronsOrder) {
  std::string text = "[";
  for (const int dp : {0, 1}) {
    for (const int pp : {0, 1}) {
      const int thread = 10 * dp + 2 * pp;
      text += R"({"name":"forward-compute","cat":"forward-compute","pid":)" + std::to_string(dp) +
              R"(,"tid":)" + std::to_string(thread) +
              R"(,"ts":10.0004,"dur":5.0001,"ph":"X","args":{"step":23,"model_chunk":0,"mb_id":4,)"
              R"("seq_id":2}},)" +
              R"({"name":"forward-send","cat":"forward-send","pid":)" + std::to_string(dp) +
              R"(,"tid":)" + std::to_string(thread + 1) +
              R"(,"ts":15,"dur":2.5,"ph":"X","args":{"step":24,"model_chunk":-1,"mb_id":-1,)"
              R"("seq_id":7}},)";
      for (const char* part : {"compute", "pp-comm"}) {
        text += R"({"name":"thread_name","pid":)" + std::to_string(dp) + R"(,"tid":)" +
                std::to_string(thread + (*part == 'p' ? 1 : 0)) +
                R"(,"ph":"M","args":{"name":"PP rank )" + std::to_string(pp) + R"(, TP rank 0, )" +
                part + R"("}},)";
      }
    }
    text += R"({"name":"process_name","pid":)" + std::to_string(dp) +
            R"(,"ph":"M","args":{"name":"DP rank [)" + std::to_string(dp) + R"(]"}},)";
  }
  text.back() = ']';
  const Recording recording = read_job(text);
  EXPECT_EQ(recording.recorder, timeline::Recorder::kChrome);
  EXPECT_TRUE(recording.unread.empty());
  ASSERT_EQ(recording.ranks.size(), 4U);
  // tp is 1 wide, dp 2: (dp 1, pp 0) is rank 1, (dp 0, pp 1) rank 2.
  using Places = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(recording.ranks[1].coordinates, (Places{{"dp", 1}, {"pp", 0}, {"tp", 0}}));
  EXPECT_EQ(recording.ranks[2].coordinates, (Places{{"dp", 0}, {"pp", 1}, {"tp", 0}}));
  EXPECT_FALSE(recording.ranks[1].is_stated);
  ASSERT_EQ(recording.timeline.spans().size(), 8U);
  ASSERT_EQ(recording.timeline.lanes().size(), 8U);
  const timeline::Span& compute = recording.timeline.spans()[0];
  const timeline::Span& send = recording.timeline.spans()[1];
  EXPECT_EQ(recording.timeline.lane_of(compute).name, "compute");
  EXPECT_EQ(recording.timeline.label_of(compute).kind, SpanKind::kCompute);
  EXPECT_EQ(recording.timeline.label_of(compute).operation->name, "microbatch 4");
  EXPECT_EQ(compute.start_ns, 10'000);
  EXPECT_EQ(compute.end_ns(), 15'001);  // 15.0005 µs, both ends rounded
  EXPECT_EQ(recording.timeline.label_of(send).kind, SpanKind::kCommunication);
  EXPECT_EQ(recording.timeline.label_of(send).collective->op, CollectiveOp::kSendReceive);
  EXPECT_EQ(recording.timeline.occurrence_of(send).sequence, timeline::SequenceNumber{7});
  ASSERT_EQ(recording.steps.size(), 8U);
  EXPECT_EQ(recording.steps[1].number, 24);
  EXPECT_EQ(recording.steps[1].start_ns, 15'000);
  EXPECT_EQ(recording.steps[0].end_ns, 15'000);  // a step ends where the next begins
}

TEST(ChromeReader, BeginsAndEndsArePaired) {
  const Recording recording = read_job(R"({"traceEvents":[
    {"ph":"B","pid":1,"tid":1,"ts":1,"name":"outer"},
    {"ph":"B","pid":1,"tid":1,"ts":2,"name":"in\"ner"},
    {"ph":"E","pid":1,"tid":1,"ts":3},
    {"ph":"E","pid":1,"tid":1,"ts":5},
    {"ph":"E","pid":1,"tid":1,"ts":6},
    {"ph":"B","pid":1,"tid":2,"ts":7,"name":"open"},
    {"ph":"C","pid":1,"tid":2,"ts":7,"name":"counter"}]})");
  ASSERT_EQ(recording.timeline.spans().size(), 2U);
  EXPECT_EQ(recording.timeline.label_of(recording.timeline.spans()[0]).name, "outer");
  EXPECT_EQ(recording.timeline.label_of(recording.timeline.spans()[1]).name, "in\"ner");
  EXPECT_EQ(recording.timeline.label_of(recording.timeline.spans()[0]).kind, SpanKind::kMark);
  EXPECT_EQ(recording.timeline.spans()[0].duration_ns, 4000);
  ASSERT_EQ(recording.unread.size(), 2U);
  EXPECT_EQ(recording.unread[0].what, "events of a phase that is not read");
  EXPECT_EQ(recording.unread[1].count, 2);
}

TEST(ChromeReader, ProcessesWithoutANameAreRanksByNumber) {
  const Recording recording = read_job(R"([
    {"ph":"X","pid":900,"tid":1,"ts":1,"dur":1,"name":"a"},
    {"ph":"X","pid":20,"tid":1,"ts":1,"dur":1,"name":"a"}])");
  ASSERT_EQ(recording.ranks.size(), 2U);
  EXPECT_EQ(recording.timeline.lanes()[0].rank, RankId{1});
  EXPECT_EQ(recording.timeline.lanes()[1].rank, RankId{0});
}

}  // namespace
}  // namespace sextant::profile
