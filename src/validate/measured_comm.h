// The communication models of measured systems: where the ranks of a table's row lie, what joins
// them, and the row as the model is asked about it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cost/calibrate/comm_fit.h"
#include "cost/comm/comm_model.h"
#include "describe/data_store.h"
#include "machine/comm_models.h"
#include "measured/hardware.h"
#include "measured/row.h"

namespace sextant::validate {

// Where the ranks of a measured collective lie. An Error says what the row leaves open.
Result<cost::GroupShape> shape_of(const measured::CollectiveSubject& subject);

// What is said of systems whose links nobody fitted: nothing (the yardstick), or what a user is
// told.
enum class UnknownLinks : std::uint8_t { kRefused, kAssumed };

class MeasuredComm {
 public:
  // `data` must outlive it.
  explicit MeasuredComm(const describe::DataStore& data,
                        UnknownLinks unknown = UnknownLinks::kRefused)
      : models_(data), hardware_(data), unknown_(unknown) {}
  // An Error says what is not known of the system. Valid as long as this object.
  Result<const machine::KnownComm*> of(const measured::CollectiveSubject& subject,
                                       const cost::GroupShape& shape);

 private:
  Result<machine::CommPlace> place_of(const measured::CollectiveSubject& subject,
                                      const cost::GroupShape& shape);

  machine::CommModels models_;
  measured::Hardware hardware_;
  UnknownLinks unknown_;
};

// A measured collective as the model is asked about it: what was forced or switched off, and what
// its timer adds. Without what was measured.
cost::TimedCollective collective_call(const measured::CollectiveSubject& subject,
                                      const cost::GroupShape& shape,
                                      const machine::KnownComm& known);

}  // namespace sextant::validate
