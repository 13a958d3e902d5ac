#include "front/mcp/answer_store.h"

#include <gtest/gtest.h>

namespace sextant::front::mcp {
namespace {

KeptAnswer answer_of(std::string text) {
  return {.handle = {}, .text = std::move(text), .json = "{}", .outcome = "fine"};
}

TEST(AnswerStore, AnAnswerIsFoundByItsHandleAndByItsQuestion) {
  AnswerStore store;
  const Kept kept = store.keep(answer_of("a"), "question");
  EXPECT_EQ(store.find(kept->handle), kept);
  EXPECT_EQ(store.answer_to("question"), kept);
  EXPECT_EQ(store.find("0123456789abcdef"), nullptr);
  EXPECT_EQ(store.answer_to("another"), nullptr);
}

TEST(AnswerStore, TheSameAnswerHasTheSameHandleAndAnotherAnother) {
  AnswerStore store;
  AnswerStore other;
  EXPECT_EQ(store.keep(answer_of("a"), "one")->handle, other.keep(answer_of("a"), "two")->handle);
  EXPECT_NE(store.keep(answer_of("b"), "one")->handle, store.answer_to("one")->handle + "x");
  EXPECT_EQ(store.answer_to("one")->text, "b");
}

TEST(AnswerStore, WhatWasNotAskedForLongestGoesFirst) {
  AnswerStore store(9'000);
  const std::string large(3'000, 'x');
  const Kept first = store.keep(answer_of("1" + large), "1");
  const Kept second = store.keep(answer_of("2" + large), "2");
  EXPECT_NE(store.find(first->handle), nullptr);
  store.keep(answer_of("3" + large), "3");
  EXPECT_NE(store.find(first->handle), nullptr);
  EXPECT_EQ(store.find(second->handle), nullptr);
  EXPECT_EQ(store.answer_to("2"), nullptr);
  EXPECT_NE(store.answer_to("3"), nullptr);
}

TEST(AnswerStore, AFileThatIsTooLargeIsCountedAndNotKept) {
  const KeptFile file = kept_file({.path = "folder/t.json", .pour = [](const auto& sink) {
                                     const std::string piece(kMostFile / 2, 'x');
                                     for (int i = 0; i < 3; ++i) {
                                       sink(piece);
                                     }
                                   }});
  EXPECT_EQ(file.name, "t.json");
  EXPECT_FALSE(file.is_kept);
  EXPECT_EQ(file.size, kMostFile / 2 * 3);
  EXPECT_TRUE(file.bytes.empty());
}

}  // namespace
}  // namespace sextant::front::mcp
