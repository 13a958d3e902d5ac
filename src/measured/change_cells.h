// One line of a table of published changes with its types: a job, what was changed, the effect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "measured/cells.h"
#include "measured/row.h"
#include "measured/run_cells.h"

namespace sextant::measured {

// Views point into the table. Columns may hold two values, "512->2048": before and after.
struct ChangeCells {
  std::string id;
  std::string_view title, address, date, model, device, network, framework, before, after, kind,
      metric, conditions;
  std::string_view layers, hidden, heads, kv_heads, ffn, vocab, experts, topk, seq, batch, devices;
  Trust trust = Trust::kB;
  std::optional<double> effect;  // a share: 0.1 is ten per cent faster
};

// A malformed effect or trust is an Error at file:line. Other columns are free text: what is no
// number there refuses its row later.
Result<ChangeCells> read_change_cells(Cells cells);

// Does the metric say how fast a step is?
bool is_speed(const ChangeCells& change);

}  // namespace sextant::measured
