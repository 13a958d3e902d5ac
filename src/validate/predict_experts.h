// Times and bandwidths of expert dispatches and combines as the tables print them.
#pragma once

#include <optional>

#include "cost/comm/expert_exchange.h"
#include "describe/data_store.h"
#include "describe/expert_comm_facts.h"
#include "measured/hardware.h"
#include "measured/validate.h"

namespace sextant::validate {

// Answers rows of expert tables; refuses others, and what no table determines: other libraries,
// devices whose kernels were not measured, bandwidths that are not defined. Where the network's
// rate is not stated, the device's reference system's is taken and the interval is wide.
class ExpertPredictor {
 public:
  // `data` must outlive it.
  explicit ExpertPredictor(const describe::DataStore& data) : data_(data), hardware_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  const describe::DataStore& data_;
  measured::Hardware hardware_;
  std::optional<describe::ExpertCommFacts> facts_;  // read at the first row
};

}  // namespace sextant::validate
