#include "step/message_prices.h"

#include <utility>

namespace sextant::step {

void MessagePrices::enter(const describe::Layout& layout, const workload::Shard& shard) {
  const Place place{.sizes = {shard.tp, shard.cp, shard.dp, shard.pp, shard.ep, shard.etp,
                              shard.expert_dp, shard.zero_shards, shard.expert_shards},
                    .order = layout.order,
                    .dispatcher = layout.dispatcher};
  const std::size_t hash = hash_of({shard.tp, shard.cp, shard.dp, shard.pp, shard.ep, shard.etp,
                                    shard.zero_shards, shard.expert_shards});
  place_ = static_cast<std::uint32_t>(places_.get(hash, place, [] { return true; }).number);
}

void MessagePrices::grow() {
  constexpr std::size_t kFirst = 64;
  const std::vector<Priced> old = std::move(table_);
  const bool full = used_ >= most_;
  table_.assign(old.empty() || full ? kFirst : 2 * old.size(), {});
  used_ = 0;
  for (const Priced& priced : old) {
    if (priced.key.size != 0 && !full) {
      *find(priced.key) = priced;
      ++used_;
    }
  }
}

// The key's place in the table, or the free one where it belongs.
MessagePrices::Priced* MessagePrices::find(const Key& key) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at =
      hash_of({key.place, key.rank,
               static_cast<std::int64_t>(key.op) * 32 + static_cast<std::int64_t>(key.group),
               key.input, key.output}) &
      mask;
  while (table_[at].key.size != 0 && table_[at].key != key) {
    at = (at + 1) & mask;
  }
  return &table_[at];
}

Seconds MessagePrices::once(const MessagePricer& pricer, const workload::Collective& message) {
  if (2 * (used_ + 1) > table_.size()) {
    grow();
  }
  const Key key{.size = message.group_size,
                .input = message.input_bytes,
                .output = message.output_bytes,
                .place = place_,
                .rank = static_cast<std::uint32_t>(pricer.rank),
                .op = message.op,
                .group = message.group,
                .returns = message.returns};
  Priced* const at = find(key);
  if (at->key.size == 0) {
    *at = {key, pricer.once(message)};
    ++used_;
  }
  return at->price;
}

}  // namespace sextant::step
