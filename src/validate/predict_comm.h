// What the communication model says of measured collectives.
#pragma once

#include <optional>

#include "describe/comm_spread.h"
#include "measured/validate.h"
#include "validate/measured_comm.h"

namespace sextant::validate {

class CommPredictor {
 public:
  // `data` must outlive it.
  explicit CommPredictor(const describe::DataStore& data,
                         UnknownLinks unknown = UnknownLinks::kRefused)
      : models_(data, unknown), data_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  MeasuredComm models_;
  const describe::DataStore& data_;
  std::optional<describe::CommSpread> spread_;
};

}  // namespace sextant::validate
