// What the communication model says of measured collectives.
#pragma once

#include <optional>

#include "app/comm_models.h"
#include "cost/comm/collective_time.h"
#include "describe/comm_spread.h"
#include "measured/validate.h"

namespace sextant::app {

// The ways that a row's library may choose from: all, or what the row says was forced.
cost::CommLines lines_of(const measured::CollectiveSubject& subject, const cost::GroupShape& shape,
                         const cost::CommModel& model);
// What the row's timer adds.
Seconds timer_of(const measured::CollectiveSubject& subject, const cost::CommModel& model);

class CommPredictor {
 public:
  // `data` must outlive it.
  explicit CommPredictor(const describe::DataStore& data) : models_(data), data_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  CommModels models_;
  const describe::DataStore& data_;
  std::optional<describe::CommSpread> spread_;
};

}  // namespace sextant::app
