#include "measured/origin.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

TEST(Origin, IsTheRepositoryHoweverItIsWritten) {
  for (const char* text :
       {"github:InternLM/InternEvo/doc/en/train_performance.md@c628a8c87411",
        "github:InternLM/InternEvo:doc/en/train_performance.md", "InternLM/InternEvo doc/en",
        "https://github.com/InternLM/InternEvo/pull/1869", "github:InternLM/InternEvo@6a7 (PR)"}) {
    EXPECT_EQ(origin_of(text), "internlm-internevo") << text;
  }
}

TEST(Origin, IsThePaperWhereOneIsNamedFirst) {
  EXPECT_EQ(origin_of("arXiv:2205.05198; stored full text, read_file id 69442322288"),
            "arxiv-2205-05198");
  EXPECT_EQ(origin_of("arXiv:2104.04473 Table 1 = github:NVIDIA/Megatron-LM/images/a.png"),
            "arxiv-2104-04473");
}

TEST(Origin, EveryReleaseOfMlperfIsOne) {
  EXPECT_EQ(origin_of("github:mlcommons/training_results_v5.1/NVIDIA/results/theia"),
            origin_of("github:mlcommons/training_results_v3.0/Dell/results/a"));
}

TEST(Origin, OtherTextIsItsFirstWords) {
  EXPECT_EQ(origin_of("stored full text, read"), "stored-full-text-read");
  EXPECT_EQ(origin_of(""), "");
  EXPECT_EQ(origin_of("/ / //"), "");
  EXPECT_EQ(origin_of("arxiv"), "arxiv");
  EXPECT_EQ(origin_of("arxiv 12"), "arxiv-12");
}

// Keys of a data file: letters, digits and hyphens, whatever was written.
TEST(Origin, IsAShortWord) {
  std::string all;
  for (int c = 1; c < 256; ++c) {
    all.push_back(static_cast<char>(c));
  }
  for (const std::string& text : {all, std::string(100000, 'a'), std::string(5000, '/')}) {
    const std::string origin = origin_of(text);
    EXPECT_LE(origin.size(), 48U);
    EXPECT_EQ(origin.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  }
}

}  // namespace
}  // namespace sextant::measured
