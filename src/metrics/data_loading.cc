#include "metrics/data_loading.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sextant::metrics {

bool is_data_loading(const timeline::Label& label) {
  const auto mentions = [&](const char* part) {
    return label.name.find(part) != std::string::npos;
  };
  return mentions("DataLoader") || mentions("dataloader") || mentions("Infeed") ||
         mentions("IteratorGetNext") || label.name.starts_with("data-load");
}

Intervals data_loading(const View& view, const RankLanes& rank) {
  std::vector<bool> loads;
  for (const timeline::Label& label : view.timeline().labels()) {
    loads.push_back(is_data_loading(label));
  }
  if (std::find(loads.begin(), loads.end(), true) == loads.end()) {
    return {};
  }
  std::vector<Interval> pieces;
  for (const timeline::LaneId lane : rank.threads) {
    for (const timeline::Span& span : view.timeline().spans_of(lane)) {
      if (loads[static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value)]) {
        pieces.push_back({span.start_ns, span.end_ns()});
      }
    }
  }
  return united(std::move(pieces));
}

}  // namespace sextant::metrics
