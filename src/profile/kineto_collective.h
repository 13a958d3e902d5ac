// What the arguments of an event say of a collective.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "profile/kineto_arguments.h"
#include "timeline/label.h"
#include "timeline/timeline.h"

namespace sextant::profile {

// Whether they are those of a collective at all.
bool says_collective(const KinetoArguments& arguments);

// The collective, its group made in the timeline. REQUIRES: says_collective().
timeline::Collective collective_of(const KinetoArguments& arguments, timeline::Timeline& timeline);

// Of an operator's arguments: the bytes of its tensors, where shapes and element types were
// recorded; nothing where they were not, or are of a type that we don't know.
std::optional<Bytes> tensor_bytes(const KinetoArguments& arguments);
// The element type of its first tensor.
std::optional<timeline::ElementType> tensor_element(const KinetoArguments& arguments);

// "[0, 1, 2]"; nothing if it is no list of whole numbers or cut short ("[0, 1, ..., 7]").
std::optional<std::vector<RankId>> rank_list(std::string_view text);

}  // namespace sextant::profile
