// What the step model says of published single changes: how much faster, and within what.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "machine/machine.h"
#include "measured/validate.h"
#include "step/difference.h"

namespace sextant::validate {

class ChangePredictor {
 public:
  // `data` must outlive it.
  explicit ChangePredictor(const describe::DataStore& data) : data_(data), machines_(data) {}
  // The ratio of speeds a device, with the interval of the difference. REQUIRES: the row is of a
  // change.
  measured::Answer operator()(const measured::Row& row);
  // The same with the interval's class. Rows of the change's own source do not count in it.
  std::variant<step::Difference, measured::Refusal> difference(const measured::Row& row);

 private:
  // How long a step takes; a refusal where the job is not legal or its machine not known.
  std::variant<Seconds, measured::Refusal> step_of(const describe::Job& job);

  const describe::DataStore& data_;
  machine::Machines machines_;
  std::optional<describe::DifferenceSpreads> spreads_;
};

}  // namespace sextant::validate
