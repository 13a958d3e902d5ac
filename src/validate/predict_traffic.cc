#include "validate/predict_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "describe/layout/rules.h"
#include "workload/traffic.h"

namespace sextant::validate {
namespace {

using measured::Prediction;
using measured::Refusal;
using measured::StepCollectiveSubject;

// How far a message is from the one asked for: group sizes first, then bytes, both by ratio.
double distance(const MessageKind& a, const MessageKind& b) {
  constexpr double kGroupWeight = 1e3;
  const auto ratio = [](std::int64_t x, std::int64_t y) {
    return std::abs(std::log(static_cast<double>(std::max<std::int64_t>(x, 1)) /
                             static_cast<double>(std::max<std::int64_t>(y, 1))));
  };
  return kGroupWeight * ratio(a.group_size, b.group_size) + ratio(a.whole_bytes, b.whole_bytes) +
         ratio(a.part_bytes, b.part_bytes) + (a.dtype == b.dtype ? 0.0 : 1e-3);
}

double carried(const MessageCount& message) {
  return static_cast<double>(message.count) * static_cast<double>(message.kind.whole_bytes);
}

}  // namespace

std::vector<MessageCount> predicted_messages(const describe::Job& job) {
  std::map<MessageKind, std::int64_t> counts;
  for (const workload::Collective& message : workload::step_collectives(job)) {
    if (message.phase == workload::Phase::kUpdate ||
        workload::pipeline_rank_of(message.stage, job.layout) != 0) {
      continue;
    }
    counts[{.op = message.op,
            .functional = workload::is_tensor_parallel(message.group),
            .group_size = message.group_size,
            .part_bytes = std::min(message.input_bytes, message.output_bytes),
            .whole_bytes = std::max(message.input_bytes, message.output_bytes),
            .dtype = std::string(message.dtype)}] += message.count;
  }
  std::vector<MessageCount> messages;
  messages.reserve(counts.size());
  for (const auto& [kind, count] : counts) {
    messages.push_back({kind, count});
  }
  return messages;
}

MessageKind kind_of(const StepCollectiveSubject& subject) {
  const auto input = std::llround(subject.input / 1_B);
  const auto output = std::llround(subject.output / 1_B);
  return {.op = subject.op,
          .functional = subject.functional,
          .group_size = subject.group_size,
          .part_bytes = std::min(input, output),
          .whole_bytes = std::max(input, output),
          .dtype = subject.dtype};
}

measured::Answer predict_step_collective(const measured::Row& row) {
  const auto* subject = std::get_if<StepCollectiveSubject>(&row.subject);
  if (subject == nullptr || !subject->job) {
    return Refusal{"not a message of a step"};
  }
  if (const auto broken = describe::check_rules(*subject->job); !broken.empty()) {
    return Refusal{"the job is not legal: " + broken.front().message};
  }
  const MessageKind asked = kind_of(*subject);
  Prediction prediction;
  double nearest = std::numeric_limits<double>::infinity();
  for (const MessageCount& message : predicted_messages(*subject->job)) {
    if (message.kind.op != asked.op || message.kind.functional != asked.functional) {
      continue;
    }
    if (const double away = distance(message.kind, asked); away < nearest) {
      nearest = away;
      prediction.value = carried(message);
    }
  }
  return prediction;
}

}  // namespace sextant::validate
