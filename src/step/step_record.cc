#include "step/step_record.h"

#include <algorithm>
#include <tuple>

namespace sextant::step {

void add_alike(const NotedMessage& more, std::vector<NotedMessage>& list) {
  const auto kind = [](const NotedMessage& one) {
    const workload::Collective& message = one.message;
    return std::tie(message.what, message.op, message.group, message.group_size,
                    message.input_bytes, message.output_bytes, message.phase, message.hides,
                    one.each);
  };
  const auto like = std::ranges::find_if(
      list, [&](const NotedMessage& known) { return kind(known) == kind(more); });
  if (like == list.end()) {
    list.push_back(more);
  } else {
    like->times += more.times;
  }
}

Seconds StepRecord::once_exposed(Axis axis) const {
  Seconds sum;
  for (const OnceRecord& stage : once) {
    for (const NotedMessage& noted : stage.messages) {
      sum += axis_of(noted.message.group) == axis ? noted.exposed : Seconds();
    }
  }
  return sum;
}

}  // namespace sextant::step
