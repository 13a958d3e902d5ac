// Values remembered by key, so that layouts which share a part of their answer work it out once.
//
// A search may go on for ever, so old values are forgotten: they live in two generations. When the
// younger is full the older one goes and the younger takes its place. A value that is asked for
// again moves to the younger one: its place in memory stays, so who holds it goes on holding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

namespace sextant::step {

// Mixes numbers into a hash.
inline std::size_t hash_of(std::initializer_list<std::int64_t> numbers) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
  std::uint64_t hash = 0;
  for (const std::int64_t number : numbers) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * kOdd;
    hash ^= hash >> 32U;
  }
  return hash;
}

// What a value counts for, where values are about as large as one another.
struct WeighsOne {
  template <class Value>
  std::size_t operator()(const Value& /*value*/) const {
    return 1;
  }
};

// `Weigh` says what a value counts for, at least 1; both generations together hold values of twice
// `most`, and the last of each beyond.
template <class Key, class Value, class Weigh = WeighsOne>
class Memo {
 public:
  explicit Memo(std::size_t most) : most_(most) {}

  struct Found {
    // Good until values of `most` in all were made or brought back from the older generation, and
    // always through the next call.
    Value& value;
    std::uint64_t number = 0;  // of this value and no other, before or after
  };
  // The value of `key`: the remembered one, or make(). `key` may be of another type that a Key can
  // be compared with and made from, so that asking copies nothing.
  // REQUIRES: equal keys have equal hashes; make() asks this memo nothing.
  template <class Probe, class Make>
  Found get(std::size_t hash, const Probe& key, Make&& make) {
    if (const Slot* const known = younger_.find(hash, key)) {
      return found(*known->at);
    }
    Entries one;
    if (const Slot* const known = older_.find(hash, key)) {
      one.splice(one.begin(), older_.entries, known->at);
    } else {
      Key own{key};  // before make(), which may change what `key` was taken from
      one.push_back({hash, made_++, 1, std::move(own), make()});
      one.back().weight = Weigh()(one.back().value);
    }
    if (younger_.weight >= most_) {
      older_ = std::move(younger_);
      younger_ = {};
    }
    younger_.add(one);
    return found(younger_.entries.back());
  }

 private:
  struct Entry {
    std::size_t hash = 0;
    std::uint64_t number = 0;
    std::size_t weight = 1;
    Key key;
    Value value;
  };
  using Entries = std::list<Entry>;  // where they are, they stay
  static Found found(Entry& entry) { return {entry.value, entry.number}; }

  // Where an entry is, and bits of its hash that say which not to look at.
  struct Slot {
    typename Entries::iterator at;
    std::uint32_t tag = 0;
    bool used = false;
  };
  static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

  struct Generation {
    Entries entries;
    // A power of two, at most half full. Of the older generation some are of entries that have
    // moved to the younger, where they are found first.
    std::vector<Slot> slots;
    std::size_t weight = 0;

    template <class Probe>
    [[nodiscard]] const Slot* find(std::size_t hash, const Probe& key) const {
      if (slots.empty()) {
        return nullptr;
      }
      const std::size_t mask = slots.size() - 1;
      for (std::size_t i = hash & mask; slots[i].used; i = (i + 1) & mask) {
        if (slots[i].tag == tag_of(hash) && slots[i].at->key == key) {
          return &slots[i];
        }
      }
      return nullptr;
    }
    // REQUIRES: one entry, which is not here.
    void add(Entries& one) {
      weight += one.front().weight;
      entries.splice(entries.end(), one);
      if (2 * entries.size() > slots.size()) {
        grow();
      } else {
        place(std::prev(entries.end()));
      }
    }
    void grow() {
      constexpr std::size_t kFirst = 16;
      slots.assign(slots.empty() ? kFirst : 2 * slots.size(), {});
      for (auto at = entries.begin(); at != entries.end(); ++at) {
        place(at);
      }
    }
    void place(typename Entries::iterator at) {
      const std::size_t mask = slots.size() - 1;
      std::size_t i = at->hash & mask;
      while (slots[i].used) {
        i = (i + 1) & mask;
      }
      slots[i] = {at, tag_of(at->hash), true};
    }
  };

  std::size_t most_;
  std::uint64_t made_ = 0;
  Generation younger_;
  Generation older_;
};

}  // namespace sextant::step
