#include "cost/memory/record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"

namespace sextant::cost {

std::string MemoryRecord::place(std::size_t block) const {
  return fmt::format("stage {} block {}", stage_, block);
}

void MemoryRecord::forget(MemoryItem item, MomentSet moments) {
  std::erase_if(parts_, [=](const MemoryPart& part) {
    return part.item == item && (part.moments & moments) != 0;
  });
}

void MemoryRecord::take_apart(bool experts) {
  MemoryPart& part = last();
  const MemoryFactor all = part.factors.front();
  for (const Held& held : held_) {
    const auto each = as_double(experts ? held.each.experts : held.each.dense);
    if (each <= 0.0) {
      continue;
    }
    MemoryPart own{part.item, part.moments, held.what, part.factors, {}, {}};
    own.factors.front() = parameters(each / all.shards, all.shards);
    if (held.times != 1.0) {
      own.factors.insert(own.factors.begin(), count(held.times, "layers"));
    }
    own.bytes = part.bytes * (held.times * each / all.shards / all.number);
    part.parts.push_back(std::move(own));
  }
}

std::vector<const MemoryPart*> MemoryRecord::parts(MemoryItem item, MemoryMoment moment) const {
  std::vector<const MemoryPart*> list;
  for (const MemoryPart& part : parts_) {
    if (part.item == item && holds(part.moments, moment) && part.bytes > Bytes()) {
      list.push_back(&part);
    }
  }
  return list;
}

}  // namespace sextant::cost
