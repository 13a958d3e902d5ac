#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "profile/chrome_reader.h"
#include "profile/testing.h"
#include "timeline/chrome_trace.h"

namespace sextant::profile {
namespace {

using timeline::Collective;
using timeline::Label;
using timeline::Timeline;

template <typename T>
std::optional<T> perhaps(const rc::Gen<T>& value) {
  return *rc::gen::arbitrary<bool>() ? std::optional(*value) : std::nullopt;
}

std::string random_name() {
  return *rc::gen::element<std::string>("gemm", "a\"b\\c\n", "", "allreduce", "\u00e9\u20ac",
                                        "all_reduce", "stream 3", "_allgather_base", "x");
}

Bytes random_bytes() {
  return Bytes(*rc::gen::element(0.0, 1.0, 2.5, 3.0, 4096.0, 1e15, 0.1, 123456789.0));
}

Collective random_collective(Timeline& timeline) {
  Collective collective;
  collective.word = random_name();
  collective.op = perhaps(rc::gen::element(CollectiveOp::kAllReduce, CollectiveOp::kAllGather,
                                           CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll,
                                           CollectiveOp::kSendReceive, CollectiveOp::kBroadcast));
  collective.element =
      perhaps(rc::gen::element(timeline::ElementType::kBfloat16, timeline::ElementType::kFloat32));
  if (*rc::gen::arbitrary<bool>()) {
    collective.group =
        timeline.group({.name = *rc::gen::element<std::string>("tp", "7"),
                        .size = perhaps(rc::gen::inRange<std::int64_t>(1, 9)),
                        .ranks = *rc::gen::element(std::vector<RankId>{}, std::vector<RankId>{{0}},
                                                   std::vector<RankId>{{4}, {2}, {19}}),
                        .description = random_name()});
  }
  if (*rc::gen::arbitrary<bool>()) {
    collective.input = random_bytes();
  }
  if (*rc::gen::arbitrary<bool>()) {
    collective.output = random_bytes();
  }
  if (*rc::gen::arbitrary<bool>()) {
    collective.sender = RankId{*rc::gen::inRange(0, 5)};
    collective.receiver = RankId{*rc::gen::inRange(0, 5)};
  }
  return collective;
}

Label random_label(Timeline& timeline) {
  Label label{
      static_cast<timeline::SpanKind>(*rc::gen::inRange<std::size_t>(0, timeline::kSpanKinds)),
      random_name(),
      {},
      {}};
  if (*rc::gen::arbitrary<bool>()) {
    label.bytes = random_bytes();
  }
  if (*rc::gen::arbitrary<bool>()) {
    label.flops = Flops(*rc::gen::element(0.0, 1e12, 1e22, 0.3));
  }
  if (*rc::gen::arbitrary<bool>()) {
    const Collective collective = random_collective(timeline);
    if (!(collective == Collective{})) {  // which says as much as none
      label.collective = collective;
    }
  }
  if (*rc::gen::arbitrary<bool>()) {
    label.operation = timeline::Operation{random_name(), random_name(), random_name()};
  }
  return label;
}

// A label whose group stands for itself: ids differ from timeline to timeline.
struct Told {
  Label label;
  std::optional<timeline::Group> group;
  timeline::Lane lane;
  timeline::Occurrence what;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

std::vector<Told> told(const Timeline& timeline) {
  std::vector<Told> all;
  for (const timeline::Span& span : timeline.spans()) {
    Told one{timeline.label_of(span), {},
             timeline.lane_of(span),  timeline.occurrence_of(span),
             span.start_ns,           span.duration_ns};
    if (one.label.collective && one.label.collective->group) {
      one.group = timeline.group_of(*one.label.collective->group);
      one.label.collective->group.reset();
    }
    all.push_back(one);
  }
  return all;
}

RC_GTEST_PROP(SextantReader, APredictedStepComesBackAsItWas, ()) {
  Timeline step;
  const int lanes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < lanes; ++i) {
    step.lane({*rc::gen::inRange(0, 3)}, {*rc::gen::inRange(0, 3)},
              *rc::gen::element<std::string>("", "compute", "nccl \"tp\""),
              *rc::gen::element(timeline::Place::kDevice, timeline::Place::kHost));
  }
  const auto many = static_cast<std::int64_t>(step.lanes().size());
  const int spans = *rc::gen::inRange(0, 12);
  for (int i = 0; i < spans; ++i) {
    timeline::Occurrence what{.label = step.label(random_label(step))};
    if (*rc::gen::arbitrary<bool>()) {
      what.correlation = timeline::CorrelationId{*rc::gen::arbitrary<std::int64_t>()};
    }
    if (*rc::gen::arbitrary<bool>()) {
      what.sequence = timeline::SequenceNumber{*rc::gen::arbitrary<std::int64_t>()};
    }
    // Starts that differ: which of spans alike in all times comes first is not written.
    step.add({*rc::gen::inRange<std::int64_t>(0, many)}, what,
             *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000) * 100 + i,
             *rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
  }
  step.sort();
  const auto recording =
      read_profile_bytes(timeline::chrome_trace(step), "step.json", options_of_tests());
  RC_ASSERT(recording.has_value());
  RC_ASSERT(recording->recorder == timeline::Recorder::kSextant);
  RC_ASSERT(recording->unread.empty());
  const auto before = told(step);
  const auto after = told(recording->timeline);
  RC_ASSERT(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    RC_ASSERT(before[i].start_ns == after[i].start_ns);
    RC_ASSERT(before[i].duration_ns == after[i].duration_ns);
    RC_ASSERT(before[i].lane.rank == after[i].lane.rank);
    RC_ASSERT(before[i].lane.stream == after[i].lane.stream);
    RC_ASSERT(before[i].lane.place == after[i].lane.place);
    RC_ASSERT(before[i].lane.name == after[i].lane.name);
    RC_ASSERT(before[i].label == after[i].label);
    RC_ASSERT(before[i].group == after[i].group);
    RC_ASSERT(before[i].what.correlation == after[i].what.correlation);
    RC_ASSERT(before[i].what.sequence == after[i].what.sequence);
  }
}

}  // namespace
}  // namespace sextant::profile
