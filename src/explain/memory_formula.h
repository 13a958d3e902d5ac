// What an item of a rank's memory is made of, in words with numbers.
#pragma once

#include <string>

#include "explain/memory_view.h"

namespace sextant::explain {

// Of the item as it is at the fullest moment of the fullest rank, which `detail` describes.
std::string memory_formula(cost::MemoryItem item, const MemoryAnswer& answer,
                           const cost::MemoryDetail& detail);

}  // namespace sextant::explain
