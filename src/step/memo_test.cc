#include "step/memo.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::step {
namespace {

constexpr std::size_t kMost = 8;

// Values that can be watched: a weak pointer sees whether they are still there.
using Watched = std::shared_ptr<int>;

struct IntWeight {
  std::size_t operator()(const Watched& value) const { return static_cast<std::size_t>(*value); }
};

template <class AnyMemo>
auto ask(AnyMemo& memo, int key) {
  return memo.get(hash_of({key}), key, [key] { return std::make_shared<int>(key); });
}

TEST(Memo, MakesAValueOnce) {
  Memo<int, std::string> memo(kMost);
  int made = 0;
  const auto make = [&made] { return std::to_string(++made); };
  const std::uint64_t number = memo.get(1, 1, make).number;
  EXPECT_EQ(memo.get(1, 1, make).value, "1");
  EXPECT_EQ(memo.get(1, 1, make).number, number);
  EXPECT_EQ(memo.get(1, 2, make).value, "2");  // same hash, another key
  EXPECT_NE(memo.get(1, 2, make).number, number);
  EXPECT_EQ(made, 2);
}

// A layout holds parts while others are asked for.
TEST(Memo, AHeldValueOutlivesAsManyOthers) {
  Memo<int, Watched> memo(kMost);
  std::vector<std::weak_ptr<int>> held;
  std::vector<const Watched*> places;
  for (int key = 0; key < 100; ++key) {
    const auto found = ask(memo, key);
    held.emplace_back(found.value);
    places.push_back(&found.value);
    for (std::size_t back = 0; back <= kMost && back < held.size(); ++back) {
      const std::size_t i = held.size() - 1 - back;
      ASSERT_FALSE(held[i].expired()) << "value " << i << " after " << back << " others";
      ASSERT_EQ(**places[i], static_cast<int>(i));
    }
  }
}

// Bringing values back is no way around the limit.
TEST(Memo, HoldsNoMoreThanTwoGenerations) {
  Memo<int, Watched> memo(kMost);
  std::vector<std::weak_ptr<int>> all;
  for (int key = 0; key < 1000; ++key) {
    all.emplace_back(ask(memo, key).value);
    all.emplace_back(ask(memo, std::max(0, key - 5)).value);
    all.emplace_back(ask(memo, key / 2).value);
  }
  std::set<std::shared_ptr<int>> alive;
  for (const std::weak_ptr<int>& one : all) {
    alive.insert(one.lock());
  }
  alive.erase(nullptr);
  EXPECT_LE(alive.size(), 2 * kMost);
  EXPECT_GE(alive.size(), kMost);
}

// The first is asked for again and again: it stays, at its place and with its number.
TEST(Memo, AValueInUseIsNotForgotten) {
  Memo<int, Watched> memo(kMost);
  const auto first = ask(memo, 0);
  const Watched* const place = &first.value;
  for (int key = 1; key < 1000; ++key) {
    ask(memo, key);
    if (key % static_cast<int>(kMost) == 0) {
      const auto again = ask(memo, 0);
      ASSERT_EQ(again.number, first.number);
      ASSERT_EQ(&again.value, place);
    }
  }
}

TEST(Memo, AForgottenValueIsMadeAnewWithAnotherNumber) {
  Memo<int, Watched> memo(kMost);
  const std::uint64_t number = ask(memo, 0).number;
  for (int key = 1; key < 100; ++key) {
    ask(memo, key);
  }
  EXPECT_NE(ask(memo, 0).number, number);
  EXPECT_EQ(*ask(memo, 0).value, 0);
}

// Each counts its own number: the second, 5, fills the younger generation beyond 6.
TEST(Memo, ValuesCountByTheirWeight) {
  Memo<int, Watched, IntWeight> memo(6);
  const std::weak_ptr<int> two = ask(memo, 2).value;
  const std::weak_ptr<int> five = ask(memo, 5).value;
  const std::weak_ptr<int> nine = ask(memo, 9).value;  // alone beyond the limit: 2 and 5 are older
  EXPECT_FALSE(two.expired());
  EXPECT_FALSE(five.expired());
  ask(memo, 1);
  EXPECT_TRUE(two.expired());
  EXPECT_TRUE(five.expired());
  EXPECT_FALSE(nine.expired());  // through the next call, whatever it weighs
}

}  // namespace
}  // namespace sextant::step
