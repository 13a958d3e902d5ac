#include "explain/fitted.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

const std::string kPlan =
    "plan       tp=4,sp=1,pp=4,vpp=7,schedule=interleaved-1f1b,layers_per_stage=1+3*26+1,zero=1,"
    "loss=fused,overlap=grad_reduce+param_gather+tp+p2p\n";

std::string without_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(Fitted, WhatFitsStaysAsItIs) {
  EXPECT_EQ(fitted("", 80), "");
  EXPECT_EQ(fitted("short\n\nlines\n", 80), "short\n\nlines\n");
  EXPECT_EQ(fitted(kPlan, 0), kPlan);
}

TEST(Fitted, LongLinesGoOnBelowTheirLastField) {
  EXPECT_EQ(fitted(kPlan, 80),
            "plan       tp=4,sp=1,pp=4,vpp=7,schedule=interleaved-1f1b,layers_per_stage=1+\n"
            "           3*26+1,zero=1,loss=fused,overlap=grad_reduce+param_gather+tp+p2p\n");
}

TEST(Fitted, NoLineIsLongerAndNoLetterIsLost) {
  std::string words;
  for (int i = 0; i < 60; ++i) {
    words += (i % 7 == 0 ? "  · micro×batch" : " some") + std::to_string(i * 31);
  }
  for (const std::size_t width : {40U, 63U, 80U, 200U}) {
    for (const std::string& text : {kPlan, words + "\n", std::string(300, 'x') + "\n"}) {
      const std::string made = fitted(text, width);
      EXPECT_EQ(without_space(made), without_space(text));
      for (const std::string_view line : split(made, '\n')) {
        EXPECT_LE(display_width(line), width) << made;
      }
    }
  }
}

TEST(Fitted, AttributesTakeNoRoom) {
  const Style colored{Format::kTable, true};
  const std::string line = bold(std::string(60, 'a'), colored) + " " + std::string(10, 'b');
  EXPECT_EQ(fitted(line + "\n", 75), line + "\n");
}

TEST(Fitted, OtherFormatsAreNotTouched) {
  Style json{Format::kJson, false, 40};
  EXPECT_EQ(fitted(kPlan, json), kPlan);
  json.format = Format::kTable;
  EXPECT_NE(fitted(kPlan, json), kPlan);
}

}  // namespace
}  // namespace sextant::explain
