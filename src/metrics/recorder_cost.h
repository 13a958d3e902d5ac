// What recording costs the host, told from the recording itself.
//
// PyTorch's profiler works at the start and at the end of each operator: it takes the time, the
// shapes, what memory was asked for. An operator that does nothing but call another (aten::t calls
// aten::transpose) starts that one as soon as the recorder is through with its start, so the median
// time between two such starts is what one call of the recorder takes; an operator costs two.
// Checked against steps timed without a profiler (docs/diagnosis_recorded.md).
//
// It leaves out that the driver's calls are recorded too, and counts the fraction of a microsecond
// that a call takes by itself.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "metrics/view.h"

namespace sextant::metrics {

struct RecorderCost {
  std::int64_t each_ns = 0;              // of one operator; 0: not known
  std::vector<std::int64_t> started_ns;  // operators of all those threads, in order
};

// Of a recording in which few operators call another: unknown.
RecorderCost recorder_cost(const View& view, const std::vector<std::uint32_t>& lanes);

// How much further ahead the host would be without the recorder. Goes along with moments that never
// go back.
class RecorderLead {
 public:
  explicit RecorderLead(RecorderCost cost) : cost_(std::move(cost)) {}
  // Takes from what operators up to then cost, at most so much; gives how much.
  std::int64_t take(std::int64_t moment_ns, std::int64_t most_ns);
  // Up to then the host waited for the device: any lead would be lost.
  void lose(std::int64_t moment_ns);

 private:
  void go_on(std::int64_t moment_ns);
  RecorderCost cost_;
  std::size_t behind_ = 0;  // operators
  std::int64_t lead_ns_ = 0;
};

}  // namespace sextant::metrics
