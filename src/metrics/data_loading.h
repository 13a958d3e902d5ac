// When a rank's host loads or prepares input.
#pragma once

#include "metrics/intervals.h"
#include "metrics/view.h"
#include "timeline/label.h"

namespace sextant::metrics {

// PyTorch's loaders ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"), XLA's infeed
// and the loading that traces of whole jobs name ("data-load").
bool is_data_loading(const timeline::Label& label);

// The moments at which a thread of the rank is inside a range of that kind.
Intervals data_loading(const View& view, const RankLanes& rank);

}  // namespace sextant::metrics
