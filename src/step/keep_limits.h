// How much a search keeps of what it worked out (memo.h: each in two generations). One thread's is
// about 110 MB when all is full.
#pragma once

#include <cstddef>

namespace sextant::step {

struct KeepLimits {
  // In bytes: they hold lists.
  std::size_t plans = std::size_t{4} << 20U;
  std::size_t operators = std::size_t{8} << 20U;
  std::size_t messages = std::size_t{8} << 20U;
  std::size_t tables = std::size_t{12} << 20U;  // of schedules
  // In number.
  std::size_t once = 16384;
  std::size_t passes = 32768;
  std::size_t places = 16384;
  std::size_t prices = 65536;  // then all are forgotten: none is held
};

// Of a list, without what its elements hold.
template <class List>
std::size_t bytes_of(const List& list) {
  return list.capacity() * sizeof(typename List::value_type);
}

// So little that every layout makes the memos forget: tests.
inline constexpr KeepLimits kKeepNothing{1, 1, 1, 1, 1, 1, 1, 1};

}  // namespace sextant::step
