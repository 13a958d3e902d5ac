#include "step/difference.h"

#include <utility>

namespace sextant::step {
namespace {

double tokens_of(const describe::Job& job) {
  return static_cast<double>(job.global_batch) * static_cast<double>(job.sequences.length);
}

}  // namespace

Difference difference_of(double speed, double devices, describe::DifferenceWidth width) {
  const double spread = width.spread(speed / devices);
  return {speed, speed / spread, speed * spread, std::move(width.name), std::move(width.outside)};
}

Difference difference(const TimedJob& one, const TimedJob& other,
                      const describe::DifferenceSpreads& spreads, std::string_view left_out) {
  describe::DifferenceWidth width = spreads.width(one.job, other.job, left_out);
  const double speed = (tokens_of(one.job) / tokens_of(other.job)) * (other.step / one.step);
  if (width.name.empty()) {
    if (speed == 1.0) {
      return {};
    }
    width = spreads.widest(left_out);  // the same layouts, on machines with other numbers
  }
  const double devices =
      static_cast<double>(one.job.cluster.devices) / static_cast<double>(other.job.cluster.devices);
  return difference_of(speed, devices, std::move(width));
}

}  // namespace sextant::step
