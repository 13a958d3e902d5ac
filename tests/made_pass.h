// A pass of a microbatch through one layer as a list of what its rank launches, in order, and what
// waits for what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "made_fault.h"

namespace sextant::tests {

enum class ItemKind : std::uint8_t {
  kKernel,
  kMessage,  // starts when the kernel before it is done
  kJoin,     // the next kernel waits for the messages that were not to be waited for at once
};

struct Item {
  ItemKind kind = ItemKind::kKernel;
  const MadeKernel* kernel = nullptr;
  double share = 1.0;  // of the kernel
  const MadeMessage* message = nullptr;
  bool waits = false;   // the next kernel waits for the message at once
  bool yields = false;  // another microbatch's turn
};

// Which messages nothing hides.
struct Hiding {
  bool experts = true;  // else nothing hides those of ep
  bool tensor = true;   // else those of tp
  bool context = true;  // else those of cp
};

// The pass must outlive the answer. Messages of data parallelism are not among them.
std::vector<Item> items_of(const MadePass& pass, const Hiding& hiding);

// The same with all kernels of a kind as one, attention apart.
MadePass folded(const MadePass& pass);

}  // namespace sextant::tests
