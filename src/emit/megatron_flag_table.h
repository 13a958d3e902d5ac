// The flags of Megatron-LM (data/frameworks/megatron_flags.json).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "describe/data_store.h"

namespace sextant::emit {

// What Megatron-LM calls its flags, and which destination each sets.
struct FlagTable {
  struct Flag {
    std::string destination;
    bool negates = false;
  };
  std::map<std::string, Flag, std::less<>> flags;
  std::map<std::string, std::string, std::less<>> renamed;  // old flag → what is written now
  std::map<std::string, bool, std::less<>> destinations;
};

// The embedded table is read once; one of a user's folder each time. Empty where it cannot be read.
std::shared_ptr<const FlagTable> flag_table(const describe::DataStore& data);

}  // namespace sextant::emit
