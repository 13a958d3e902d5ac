#include "agents/case_wishes.h"

#include <gtest/gtest.h>

#include "agents/case_testing.h"

namespace sextant::agents {
namespace {

TEST(CaseWishes, AMeshIsReadAsItIsShown) {
  for (const CaseMesh& mesh : {mesh_of(1, 1, 1), mesh_of(16, 4, 8), CaseMesh{{2, 1, 3, 1}}}) {
    const auto read = parse_case_mesh(to_text(mesh), "‹idea›");
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(*read, mesh);
  }
  EXPECT_EQ(*parse_case_mesh(" model = 8 , data=2", "‹idea›"), mesh_of(2, 1, 8));
}

TEST(CaseWishes, WhatIsNoMeshIsSaid) {
  for (const std::string text :
       {"", "tensor=4", "model", "model=", "model=0", "model=-4", "model=4,model=8",
        "model=99999999999", "model=4,,data=2", "model=4=4", "\x1b[31m=4"}) {
    const auto read = parse_case_mesh(text, "‹idea›");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().where, "‹idea›");
    EXPECT_EQ(to_text(read.error()).find('\x1b'), std::string::npos);
  }
}

TEST(CaseWishes, PinsHoldTheirAxesAlone) {
  CaseWishes wishes;
  EXPECT_TRUE(wishes.allows(mesh_of(3, 5, 7)));
  wishes.pins = *parse_axis_pins("model=8,replica=1", "‹pin›");
  EXPECT_TRUE(wishes.allows(mesh_of(3, 5, 8)));
  EXPECT_FALSE(wishes.allows(mesh_of(3, 5, 4)));
  EXPECT_FALSE(wishes.allows(CaseMesh{{2, 3, 5, 8}}));
}

TEST(CaseWishes, AChoiceIsALineAndRemarksAreNone) {
  const auto read =
      read_candidates("# ours\n\n tp=8,pp=4 \r\ntp=4 # the other\ntp=8,pp=4\n", "layouts.txt");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].text, "tp=8,pp=4");
  EXPECT_EQ((*read)[0].where, "layouts.txt:3");
  EXPECT_EQ((*read)[1].text, "tp=4");
}

TEST(CaseWishes, ChoicesAreBounded) {
  const auto error_of = [](const std::string& text) {
    const auto read = read_candidates(text, "layouts.txt");
    return read ? std::string() : to_text(read.error());
  };
  EXPECT_NE(error_of("\n# nothing\n").find("nothing to choose among"), std::string::npos);
  EXPECT_NE(error_of("tp=1\n" + std::string(501, 'x')).find("layouts.txt:2"), std::string::npos);
  std::string many;
  for (std::size_t i = 0; i <= kMostCandidates; ++i) {
    many += "tp=" + std::to_string(i + 1) + "\n";
  }
  EXPECT_NE(error_of(many).find("layouts.txt:1001"), std::string::npos);
}

}  // namespace
}  // namespace sextant::agents
