// One side of a published change as a runs row, so that both kinds of table are read by the same
// rules: models, machines, layouts and what nobody said.
#pragma once

#include <string>

#include "base/result.h"
#include "measured/change_cells.h"
#include "measured/change_words.h"
#include "measured/hardware.h"
#include "measured/run_cells.h"
#include "measured/run_job.h"

namespace sextant::measured {

enum class Side { kBefore, kAfter };

// The job of a side, or why there is none. An Error only where a file of data/ is broken.
Result<RunJob> side_job(const ChangeCells& change, const ChangeWords& words, Side side,
                        Hardware& hardware);

// The text of a two-valued column ("512->2048") that is the side's.
std::string_view side_text(std::string_view column, Side side);

}  // namespace sextant::measured
