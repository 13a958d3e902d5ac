// Names under which training runs are scored together, and runs that are one job at growing scale.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "describe/layout/job.h"
#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::measured {

// Device and what its messages cross: "h100-sxm, one domain", "h100-sxm, ib-ndr".
std::string run_system(const describe::Cluster& cluster);

// Equal where the same job ran: model, machine, layout, batch.
std::string run_configuration(const describe::Job& job);

// What the layout splits: "one device", "dp", "sharded dp", "tp", "pp", "tp+pp", "cp", "ep". Of
// several the last.
std::string run_layout_class(const describe::Job& job);

// One job at growing scale: source, framework and its version, model, device, sequence and layout
// the same but for dp; at least four device counts. Weak: the batch grows with the devices; strong:
// it stays.
struct ScalingPoint {
  std::int64_t devices = 0;
  std::int64_t rows = 0;  // measured more than once: means
  double measured = 0.0;  // seconds a step
  double predicted = 0.0;
};
struct ScalingSeries {
  std::string source;
  std::string name;  // model, layout, device
  bool weak = true;
  std::vector<ScalingPoint> points;  // fewest devices first
  // Growth of the step (strong: of devices · step) over the first point's, predicted and measured:
  // the mean of their distances over the other points. 0.05 is five points.
  [[nodiscard]] double difference() const;
  // Growth of point i: 0.1 is a step longer by a tenth.
  [[nodiscard]] double measured_growth(std::size_t i) const;
  [[nodiscard]] double predicted_growth(std::size_t i) const;
};

// Series among the scored rows, by source and name. REQUIRES: `report` is validate's of `rows`.
std::vector<ScalingSeries> scaling_series(const std::vector<Row>& rows,
                                          const ValidationReport& report);

// By source: of its groups of at least four scored step times that differ in layout alone
// (Row::layout_group), the share where the row measured fastest is among the three predicted
// fastest. Of rows measured alike one suffices; rows predicted alike share the better place.
// REQUIRES: as above.
std::map<std::string, double> best_in_predicted_top3(const std::vector<Row>& rows,
                                                     const ValidationReport& report);

}  // namespace sextant::measured
