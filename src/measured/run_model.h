// The model of a runs row, from its shape columns.
//
// The columns are the truth; the catalogue fills what they leave out (a row without shape but with
// a known name), and the architecture text says what kind of block it is. Rules that are not
// written in the row go to `assumed`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/data_store.h"
#include "describe/model/model.h"
#include "measured/run_cells.h"

namespace sextant::measured {

struct ModelReading {
  std::optional<describe::Model> model;  // nothing: see refusal
  std::string refusal;
  describe::Assumptions assumed;
};

// An Error only where a catalogue file is broken.
Result<ModelReading> run_model(const RunCells& row, const describe::DataStore& data);

// "MTP 1 layer" → 1; 0 where the flags name none.
int mtp_layers(std::string_view flags);

}  // namespace sextant::measured
