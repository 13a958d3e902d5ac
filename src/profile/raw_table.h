// Numbers for byte strings, in bounded room: what a name in a trace means is worked out once, then
// found by its bytes. Strings are given in parts, which are told apart ("a", "bc" is not "ab",
// "c"), so that nothing is put together to look it up.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::profile {

class RawTable {
 public:
  static constexpr std::uint32_t kNoRoom = 0xffffffffU;
  template <std::size_t n>
  using Parts = std::array<std::string_view, n>;

  // `room`: bytes of strings that it keeps.
  explicit RawTable(std::size_t room) : room_(room), slots_(64) {}

  struct Found {
    std::uint32_t number = kNoRoom;  // as strings came, from 0; kNoRoom: a new one that has no room
    bool is_new = false;
  };
  template <std::size_t n>
  Found find_or_add(const Parts<n>& parts) {
    std::uint64_t hash = 0;
    std::size_t bytes = n * sizeof(std::uint32_t);
    for (const std::string_view part : parts) {
      hash = hashed(hash, part);
      bytes += part.size();
    }
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    // Strings made to collide must not cost more than others: after so many steps they are new.
    constexpr std::size_t kMostSteps = 64;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t step = 0; step < kMostSteps; ++step) {
      Slot& slot = slots_[(hash + step) & mask];
      if (slot.number == kNoRoom) {
        return add(parts, slot, tag, bytes);
      }
      if (slot.tag == tag && is_at(starts_[slot.number], parts)) {
        return {slot.number, false};
      }
    }
    return {};
  }
  [[nodiscard]] std::size_t size() const { return starts_.size(); }
  void clear() { *this = RawTable(room_); }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t number = kNoRoom;
  };

  template <std::size_t n>
  Found add(const Parts<n>& parts, Slot& slot, std::uint32_t tag, std::size_t bytes) {
    if (bytes > room_ - text_.size()) {
      return {};
    }
    const auto number = static_cast<std::uint32_t>(starts_.size());
    starts_.push_back(text_.size());
    for (const std::string_view part : parts) {
      const auto size = static_cast<std::uint32_t>(part.size());
      std::array<char, sizeof(size)> length{};
      std::memcpy(length.data(), &size, sizeof(size));
      text_.append(length.data(), length.size()).append(part);
    }
    slot = {tag, number};
    if (2 * starts_.size() > slots_.size()) {
      grow();
    }
    return {number, true};
  }

  template <std::size_t n>
  [[nodiscard]] bool is_at(std::size_t start, const Parts<n>& parts) const {
    const char* at = text_.data() + start;
    for (const std::string_view part : parts) {
      std::uint32_t size = 0;
      std::memcpy(&size, at, sizeof(size));
      at += sizeof(size);
      if (std::string_view(at, size) != part) {
        return false;
      }
      at += size;
    }
    return true;
  }

  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    // The tag is the hash's upper half: the lower half, by which slots are found, is kept beside.
    slots_.assign(2 * before.size(), {});
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.number == kNoRoom) {
        continue;
      }
      std::size_t at = hash_at(slot.number) & mask;
      while (slots_[at].number != kNoRoom) {
        at = (at + 1) & mask;
      }
      slots_[at] = slot;
    }
  }

  // Of the string of that number. The number of its parts is told by where the next begins.
  [[nodiscard]] std::uint64_t hash_at(std::uint32_t number) const {
    std::size_t at = starts_[number];
    const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : text_.size();
    std::uint64_t hash = 0;
    while (at < end) {
      std::uint32_t size = 0;
      std::memcpy(&size, text_.data() + at, sizeof(size));
      hash = hashed(hash, std::string_view(text_).substr(at + sizeof(size), size));
      at += sizeof(size) + size;
    }
    return hash;
  }

  // Two multiplications for sixteen bytes. The constants are odd and without pattern: 2^64 over the
  // golden ratio, and the first fraction digits of pi.
  static std::uint64_t hashed(std::uint64_t seed, std::string_view text) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
    constexpr std::uint64_t kPi = 0x243f6a8885a308d3U;
    std::uint64_t a = (seed ^ text.size()) * kGolden;
    std::uint64_t b = seed ^ kPi;
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 16; left -= 16, at += 16) {
      a = mixed((a ^ word_at(at, 8)) * kGolden);
      b = mixed((b ^ word_at(at + 8, 8)) * kPi);
    }
    if (left > 8) {
      a = mixed((a ^ word_at(at, 8)) * kGolden);
      at += 8;
      left -= 8;
    }
    b = (b ^ word_at(at, left)) * kPi;
    return mixed(mixed(a ^ (b << 1U)) * kGolden);
  }
  static std::uint64_t mixed(std::uint64_t value) { return value ^ value >> 32U; }
  static std::uint64_t word_at(const char* at, std::size_t bytes) {
    std::uint64_t word = 0;
    if (bytes != 0) {
      std::memcpy(&word, at, bytes);
    }
    return word;
  }

  std::size_t room_;
  std::string text_;                 // of each string its parts, each after its length
  std::vector<std::size_t> starts_;  // of each string
  std::vector<Slot> slots_;          // a power of two, half full at most
};

}  // namespace sextant::profile
