// The communication matrix as a picture: senders down, receivers across, bytes as colour on a
// logarithmic scale. More than 256 ranks share cells with their neighbours.
#pragma once

#include <string>
#include <vector>

#include "explain/drawing.h"
#include "workload/matrix.h"

namespace sextant::explain {

struct HeatMap {
  workload::MatrixBy by = workload::MatrixBy::kRank;
  std::int64_t size = 0;      // ranks, nodes or rails
  std::int64_t per_cell = 1;  // of them in a row or column of the picture
  std::int64_t cells = 0;     // rows and columns of the picture
  std::vector<double> bytes;  // [from · cells + to]
};

HeatMap heat_map(const workload::CommunicationMatrix& matrix, workload::MatrixBy by);

// `title` stands above it: model, layout.
Drawing to_drawing(const HeatMap& map, const std::string& title);

}  // namespace sextant::explain
