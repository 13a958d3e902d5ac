// Values stored once each and numbered as they came: what many spans share.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sextant::timeline {

// T has == and hash_of(). Beside the values it takes 8 to 16 bytes each; a copy is a copy.
template <typename T>
class Interned {
 public:
  [[nodiscard]] std::optional<std::uint32_t> find(const T& value) const {
    const std::uint32_t number = slots_.empty() ? 0 : slots_[slot_of(value)];
    return number == 0 ? std::nullopt : std::optional(number - 1);
  }

  // The new value's number. REQUIRES: find() finds nothing, fewer than 2^31 values.
  std::uint32_t insert(T value) {
    assert(!find(value));
    values_.push_back(std::move(value));
    if (2 * values_.size() > slots_.size()) {
      grow();
    } else {
      slots_[slot_of(values_.back())] = static_cast<std::uint32_t>(values_.size());
    }
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  [[nodiscard]] const std::vector<T>& values() const { return values_; }
  // What it holds but for what its values point to.
  [[nodiscard]] std::size_t held_bytes() const {
    return values_.capacity() * sizeof(T) + slots_.capacity() * sizeof(std::uint32_t);
  }

 private:
  // Where the value is, or where it would be. REQUIRES: a slot is free.
  [[nodiscard]] std::size_t slot_of(const T& value) const {
    const std::size_t mask = slots_.size() - 1;
    // Multiplied, since the low bits of a hash of small numbers differ little. Source: Knuth, The
    // Art of Computer Programming 3, 6.4: 2^64 over the golden ratio.
    std::size_t slot = (hash_of(value) * 0x9e3779b97f4a7c15U >> 32U) & mask;
    while (slots_[slot] != 0 && !(values_[slots_[slot] - 1] == value)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      slots_[slot_of(values_[i])] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<T> values_;
  std::vector<std::uint32_t> slots_;  // 1 + number, 0 where free; a power of two, half full at most
};

}  // namespace sextant::timeline
