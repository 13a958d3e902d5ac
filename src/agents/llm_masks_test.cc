#include "agents/llm_masks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::agents {
namespace {

TEST(LlmMasks, NamesAndPathsGetWordsAndComeBack) {
  Masks masks({"Falcon-X", "corp-cluster", "Falcon"});
  const std::string text =
      "model falcon-x (falcon) on corp-cluster, from /data/corp/train.sh:12 and ~/runs/a.json, "
      "see https://wiki.corp/x; tokens/s, 1/2, falcons";
  const std::string masked = masks.masked(text);
  EXPECT_EQ(masked,
            "model name_1 (name_3) on name_2, from path_1 and path_2, see path_3; tokens/s, 1/2, "
            "falcons");
  EXPECT_EQ(masks.plain("raise it on name_2, in path_1; name_22 is none"),
            "raise it on corp-cluster, in /data/corp/train.sh:12; name_22 is none");
  EXPECT_EQ(masks.masked("again ~/runs/a.json"), "again path_2");
}

TEST(LlmMasks, APathIsSeenBehindWhateverStandsBeforeIt) {
  for (const char* before : {"", " ", "(", "\"", "=", ":", "rank0:", "--file=", "@", "+", "-", "→",
                             "where: train.sh:", "copy:https://h/", "/"}) {
    Masks masks({"m"});
    const std::string text = std::string(before) + "/home/ada/x.json";
    const std::string masked = masks.masked(text);
    EXPECT_EQ(masked.find("ada"), std::string::npos) << masked;
    EXPECT_EQ(masks.plain(masked), text);
  }
}

TEST(LlmMasks, LayoutsAndFiguresStayAsTheyAre) {
  Masks masks({"m"});
  for (const char* text : {"tp=8,pp=4,recompute=none", "step 3.2 s (2.9 s … 3.4 s)",
                           "x0.7 to x0.85", "ici:fsdp=16,tensor=8;mbs=2", "GiB/s a / b"}) {
    EXPECT_EQ(masks.masked(text), text);
  }
}

TEST(LlmMasks, WithoutMasksNothingChanges) {
  Masks none;
  EXPECT_EQ(none.masked("/a/b of corp"), "/a/b of corp");
  EXPECT_EQ(none.plain("name_1"), "name_1");
}

RC_GTEST_PROP(LlmMasks, NoNameStaysInWhatIsMasked, (const std::string& before)) {
  Masks masks({"secretname"});
  const std::string masked = masks.masked(before + " SecretName /secretname/x " + before);
  RC_ASSERT(masked.find("ecret") == std::string::npos || before.find("ecret") != std::string::npos);
}

}  // namespace
}  // namespace sextant::agents
