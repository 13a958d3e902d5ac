#include "profile/wire.h"

#include <gtest/gtest.h>

#include "profile/wire_testing.h"

namespace sextant::profile {
namespace {

TEST(Wire, FieldsComeInTheirOrderWithTheirValues) {
  WireWriter inner;
  inner.number(1, -7).bytes(2, "name");
  WireWriter message;
  message.number(1, 300).real(2, 0.5).bytes(3, "text").message(4, inner).packed(5, {1, 200, 3});
  std::vector<std::string> seen;
  EXPECT_TRUE(read_held_wire(message.text(), [&](Wire& fields) {
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          seen.push_back(std::to_string(fields.integer()));
          break;
        case 2:
          seen.push_back(std::to_string(fields.number()));
          break;
        case 3:
          seen.push_back(fields.text(2));
          break;
        case 4:
          EXPECT_TRUE(fields.message([&](Wire& within) {
            while (within.next()) {
              if (within.field() == 1) {
                seen.push_back(std::to_string(within.integer()));
              }
            }
          }));
          break;
        default:
          fields.integers([&](std::int64_t value) { seen.push_back(std::to_string(value)); });
      }
    }
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"300", "0.500000", "te", "-7", "1", "200", "3"}));
}

TEST(Wire, WhatNobodyTakesIsSkipped) {
  WireWriter message;
  message.number(1, 1).bytes(2, std::string(1000, 'x')).real(3, 1.0).number(4, 4);
  std::int64_t last = 0;
  EXPECT_TRUE(read_held_wire(message.text(), [&](Wire& fields) {
    while (fields.next()) {
      // A value of another kind than it is asked for is nothing.
      last = fields.field() == 4 ? fields.integer() : last;
      EXPECT_EQ(fields.field() == 2 ? fields.integer() : 0, 0);
    }
  }));
  EXPECT_EQ(last, 4);
}

TEST(Wire, ADamagedMessageIsLeftAtItsEnd) {
  WireWriter message;
  // A length of 100 within 2 bytes, a group, field number 0; then a whole field.
  message.bytes(1, "\x0a\x64").bytes(1, "\x0b").bytes(1, std::string(1, '\0')).number(2, 9);
  int damaged = 0;
  std::int64_t after = 0;
  EXPECT_TRUE(read_held_wire(message.text(), [&](Wire& fields) {
    while (fields.next()) {
      if (fields.field() == 1) {
        damaged += fields.message([](Wire& inner) {
          while (inner.next()) {
            inner.text(10);
          }
        })
                       ? 0
                       : 1;
      } else {
        after = fields.integer();
      }
    }
  }));
  EXPECT_EQ(damaged, 3);
  EXPECT_EQ(after, 9);
}

TEST(Wire, NestingIsBounded) {
  WireWriter nested;
  nested.number(2, 1);
  for (int level = 0; level < 1000; ++level) {
    WireWriter outer;
    outer.message(1, nested);
    nested = outer;
  }
  int deepest = 0;
  const std::function<void(Wire&, int)> walk = [&](Wire& fields, int depth) {
    deepest = std::max(deepest, depth);
    while (fields.next()) {
      fields.message([&](Wire& inner) { walk(inner, depth + 1); });
    }
  };
  read_held_wire(nested.text(), [&](Wire& fields) { walk(fields, 0); });
  EXPECT_EQ(deepest, Wire::kDeepest);
}

TEST(Wire, AFileThatEndsEarlySaysSo) {
  WireWriter message;
  message.bytes(1, "first").bytes(1, "second");
  const auto count = [](std::string_view bytes, WireEnd& end) {
    int whole = 0;
    const auto read = read_wire(opener(bytes), [&](Wire& field) {
      whole += field.text(100).empty() || field.is_damaged() ? 0 : 1;
    });
    EXPECT_TRUE(read);
    end = *read;
    return whole;
  };
  WireEnd end;
  EXPECT_EQ(count(message.text(), end), 2);
  EXPECT_FALSE(end.is_cut);
  EXPECT_EQ(end.bytes, static_cast<std::int64_t>(message.text().size()));
  EXPECT_EQ(count(std::string_view(message.text()).substr(0, 10), end), 1);
  EXPECT_TRUE(end.is_cut);
}

}  // namespace
}  // namespace sextant::profile
