// Prices of messages, each asked of the MessagePricer once: stages and layouts repeat them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "step/keep_limits.h"
#include "step/memo.h"
#include "step/message_time.h"

namespace sextant::step {

// Keeps what it was told: one a thread.
class MessagePrices {
 public:
  explicit MessagePrices(const KeepLimits& keep) : most_(keep.prices), places_(keep.places) {}

  // Where groups lie from here on. REQUIRES: model, grid and routing of `pricer` follow from the
  // job, the layout and the shard alone.
  void enter(const describe::Layout& layout, const workload::Shard& shard);
  // The same number wherever groups lie the same.
  [[nodiscard]] std::int64_t place() const { return place_; }
  // One of the message's calls.
  Seconds once(const MessagePricer& pricer, const workload::Collective& message);

 private:
  // Sizes and order of the axes, and who sends tokens to their experts.
  struct Place {
    std::array<std::int64_t, 9> sizes{};
    std::array<describe::Axis, 5> order{};
    describe::Dispatcher dispatcher = describe::Dispatcher::kAllToAll;
    bool operator==(const Place&) const = default;
  };
  // What MessagePricer::once reads of a message, small: a line of cache holds it with its price.
  struct Key {
    std::int64_t size = 0;
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::uint32_t place = 0;
    std::uint32_t rank = 0;
    describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
    workload::GroupKind group = workload::GroupKind::kTp;
    bool returns = false;
    bool operator==(const Key&) const = default;
  };
  struct Priced {
    Key key;
    Seconds price;
  };
  static_assert(sizeof(workload::Collective) == 88,
                "does its price go by a new field of a message?");
  void grow();
  Priced* find(const Key& key);

  std::size_t most_;          // then all are forgotten
  Memo<Place, bool> places_;  // for their numbers
  std::uint32_t place_ = 0;
  std::vector<Priced> table_;  // a power of two, at most half full; free where size is 0
  std::size_t used_ = 0;
};

}  // namespace sextant::step
