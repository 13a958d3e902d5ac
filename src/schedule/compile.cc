#include "schedule/compile.h"

#include <utility>

#include <fmt/format.h>

#include "schedule/places.h"

namespace sextant::schedule {

namespace {

// Every rank goes on until it must wait, and is woken by the one it waits for: linear in actions.
class Ordering {
 public:
  explicit Ordering(const PlacedTable& table)
      : table_(table),
        next_(table.first.begin(), table.first.end() - 1),
        step_(table.places.size(), kNoPlace),
        waiter_(table.places.size(), kNoPlace),
        out_{static_cast<std::int64_t>(next_.size()), table.stages, table.microbatches, {}} {
    out_.steps.reserve(table.places.size());
  }

  Result<CompiledTable> run() {
    for (auto rank = static_cast<std::uint32_t>(next_.size()); rank-- > 0;) {
      ready_.push_back(rank);
    }
    while (!ready_.empty()) {
      const std::uint32_t rank = ready_.back();
      ready_.pop_back();
      while (advance(rank)) {
      }
    }
    for (std::uint32_t rank = 0; rank < next_.size(); ++rank) {
      if (next_[rank] != table_.first[rank + 1]) {
        return invalid(fmt::format("rank {} waits for ever before {}", rank,
                                   to_text(*table_.places[next_[rank]].action)),
                       "", "an order in which some rank can always go on");
      }
    }
    return std::move(out_);
  }

 private:
  // Takes the rank's next slot; false at the end, and where it must wait, noted with the one it
  // waits for.
  bool advance(std::uint32_t rank) {
    const std::uint32_t from = next_[rank];
    if (from == table_.first[rank + 1]) {
      return false;
    }
    const std::uint32_t to = from + (table_.places[from].action->with_next ? 2 : 1);
    for (std::uint32_t place = from; place < to; ++place) {
      const std::uint32_t needed = table_.needed_by(*table_.places[place].action);
      if (needed != kNoPlace && step_[needed] == kNoPlace) {
        waiter_[needed] = rank;
        return false;
      }
    }
    for (std::uint32_t place = from; place < to; ++place) {
      take(place);
    }
    next_[rank] = to;
    return true;
  }

  void take(std::uint32_t number) {
    const Place& place = table_.places[number];
    const auto elsewhere = [&](std::uint32_t other) {
      return other != kNoPlace && table_.places[other].rank != place.rank;
    };
    const std::uint32_t needed = table_.needed_by(*place.action);
    step_[number] = static_cast<std::uint32_t>(out_.steps.size());
    out_.steps.push_back({.action = *place.action,
                          .rank = place.rank,
                          .after = needed == kNoPlace ? 0 : step_[needed] + 1,
                          .receives = elsewhere(needed),
                          .sends = elsewhere(table_.served_by(*place.action))});
    if (waiter_[number] != kNoPlace) {
      ready_.push_back(waiter_[number]);
    }
  }

  const PlacedTable& table_;
  std::vector<std::uint32_t> next_;    // the rank's next place
  std::vector<std::uint32_t> step_;    // of a place, once taken
  std::vector<std::uint32_t> waiter_;  // the rank that waits for a place
  std::vector<std::uint32_t> ready_;   // ranks that may go on
  CompiledTable out_;
};

}  // namespace

Result<CompiledTable> compiled(const ActionTable& table) {
  SEXTANT_TRY(const PlacedTable ready, placed(table));
  return Ordering(ready).run();
}

}  // namespace sextant::schedule
