// Memory as the tables print it: allocated, reserved or device, of the fullest rank or of the one
// that logs.
#pragma once

#include <map>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/memory_facts.h"
#include "measured/validate.h"

namespace sextant::validate {

// Answers rows of memory tables and the memory and `fits` columns of runs; refuses others. Keeps
// the facts of each framework it met. `data` must outlive it.
class MemoryPredictor {
 public:
  explicit MemoryPredictor(const describe::DataStore& data) : data_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  // How the table counts memory.
  struct Counted {
    measured::MemoryKind memory = measured::MemoryKind::kAllocated;
    Bytes memory_unit = 1_GiB;
    bool of_last_stage = false;
  };

  Result<describe::MemoryFacts> facts(describe::Framework framework);
  measured::Answer answer(const measured::Row& row, const describe::Job& job,
                          const Counted& counted);

  const describe::DataStore& data_;
  std::map<describe::Framework, describe::MemoryFacts> facts_;
};

}  // namespace sextant::validate
