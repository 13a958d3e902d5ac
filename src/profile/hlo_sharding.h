// XLA's annotations of how an array lies on devices, as text.
#pragma once

#include <string>

namespace sextant::profile {

class Wire;

struct HloSharding {
  std::string text;  // "{devices=[2,1]<=[2]}", "[{data,fsdp}, {}]"; empty: not understood
  std::string mesh;  // "data=2,fsdp=4"; empty: not said
};

// Of an OpSharding.
HloSharding read_sharding(Wire& sharding);

}  // namespace sextant::profile
