// Values remembered by key, so that layouts which share a part of their answer work it out once.
// Forgets everything when it holds `most`: a search may go on for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
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

template <class Key, class Value>
class Memo {
 public:
  explicit Memo(std::size_t most) : most_(most) {}

  struct Found {
    Value& value;              // good until the next call
    std::uint64_t number = 0;  // of this value and no other, before or after
  };
  // The value of `key`: the remembered one, or make(). `key` may be of another type that a Key can
  // be compared with and made from, so that asking copies nothing.
  // REQUIRES: equal keys have equal hashes.
  template <class Probe, class Make>
  Found get(std::size_t hash, const Probe& key, Make&& make) {
    if (2 * (entries_.size() + 1) > slots_.size()) {
      grow();
    }
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot].entry != 0; slot = (slot + 1) & mask) {
      if (slots_[slot].tag != tag_of(hash)) {
        continue;
      }
      Entry& entry = entries_[slots_[slot].entry - 1];
      if (entry.key == key) {
        return {entry.value, entry.number};
      }
    }
    entries_.push_back({hash, made_++, Key{key}, make()});
    slots_[slot] = {static_cast<std::uint32_t>(entries_.size()), tag_of(hash)};
    return {entries_.back().value, entries_.back().number};
  }

 private:
  struct Entry {
    std::size_t hash = 0;
    std::uint64_t number = 0;
    Key key;
    Value value;
  };

  // Where an entry is, and bits of its hash that say which not to look at.
  struct Slot {
    std::uint32_t entry = 0;  // 1 + its place; 0: free
    std::uint32_t tag = 0;
  };
  static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

  void grow() {
    constexpr std::size_t kFirst = 16;
    if (entries_.size() >= most_) {
      entries_.clear();
    }
    slots_.assign(entries_.empty() ? kFirst : 2 * slots_.size(), {});
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = entries_[i].hash & mask;
      while (slots_[slot].entry != 0) {
        slot = (slot + 1) & mask;
      }
      slots_[slot] = {static_cast<std::uint32_t>(i + 1), tag_of(entries_[i].hash)};
    }
  }

  std::size_t most_;
  std::uint64_t made_ = 0;
  std::vector<Slot> slots_;    // a power of two, at most half full
  std::deque<Entry> entries_;  // where they are, they stay
};

}  // namespace sextant::step
