// What a piece of device work was for: which pass launched it, and which part of a model it is
// (device_work.h says by what they are told).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metrics/device_work.h"
#include "metrics/view.h"

namespace sextant::metrics {

// Of the calls on a rank's threads, by number of the span; kNone and kUnknown for all others.
struct CallPlaces {
  std::vector<std::uint32_t> operator_of;  // the innermost operator's range around it
  std::vector<WorkPass> pass_of;
  std::vector<bool> is_in_written_attention;  // inside PyTorch's attention by its formula
};
CallPlaces call_places(const View& view, const RankLanes& rank);

// Shapes by which scores and logits are told, of all that a recording's labels show.
struct ScoreShape {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  double elements = 0.0;  // of all batches and heads
  auto operator<=>(const ScoreShape&) const = default;
};
struct ModelShapes {
  std::set<ScoreShape> scores;
  std::set<std::int64_t> classes;  // of a loss
};
ModelShapes model_shapes(std::span<const timeline::Label> labels);

// One occurrence, as far as it is known.
struct WorkFacts {
  WorkPass pass = WorkPass::kUnknown;
  std::string name;  // of the operator
  std::optional<timeline::OperatorUse> use;
  const std::vector<timeline::Tensor>* inputs = nullptr;
  const std::vector<timeline::Tensor>* outputs = nullptr;
  bool is_communication = false;
  bool is_host_copy = false;
  bool is_in_written_attention = false;
};
WorkPart part_of(const WorkFacts& facts, const ModelShapes& shapes);

// The largest by elements; null of none.
const timeline::Tensor* largest(const std::vector<timeline::Tensor>& tensors);

}  // namespace sextant::metrics
