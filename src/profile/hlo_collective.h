// What XLA's instructions communicate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/hlo_module.h"
#include "timeline/label.h"

namespace sextant::profile {

// "all-reduce-start.3", "reduce-scatter-fusion": it communicates. Nothing where it does not.
struct HloCollective {
  std::optional<CollectiveOp> op;  // nothing: none of those we have words for
  std::string word;                // XLA's: "all-reduce-start"
};
std::optional<HloCollective> collective_of_word(std::string_view name_or_opcode);

struct HloCommunication {
  timeline::Collective collective;       // without its group
  std::optional<timeline::Group> group;  // of the rank that was asked for
  std::optional<Bytes> bytes;            // the larger of its buffers
};
// Of an instruction that communicates, or is an asynchronous one (async-start, fusion) around one.
// `device`: whose groups are asked for, as XLA numbers devices; its own where the module says which
// they are.
std::optional<HloCommunication> communication_of(const HloModule& module,
                                                 const HloComputation& where,
                                                 const HloInstruction& instruction,
                                                 std::int64_t device);

}  // namespace sextant::profile
