// The sizes of one layer of a configuration, for a given plan of its parts.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "describe/model/hf_family.h"
#include "describe/model/hf_fields.h"
#include "describe/model/hf_layers.h"
#include "describe/model/model.h"

namespace sextant::describe {

Result<Block> block_of(HfFields& fields, const HfFamily& family, const LayerPlan& plan,
                       std::int64_t hidden);

}  // namespace sextant::describe
