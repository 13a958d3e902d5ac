#include "measured/change_words.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

TEST(ChangeWords, KeysOfTheLayoutLanguageBecomeColumns) {
  const ChangeWords side = change_words(
      "tp=8,pp=4,vpp=5,cp=2,dp=2,sp=1,mbs=1,zero=1,gbs=512,precision=fp8(tensorwise),recompute="
      "selective(op),compile=1,overlap=async-tp,attention=flash1,dispatch=deepep");
  EXPECT_EQ(side.tp, 8);
  EXPECT_EQ(side.pp, 4);
  EXPECT_EQ(side.vpp, 5);
  EXPECT_EQ(side.cp, 2);
  EXPECT_EQ(side.dp, 2);
  EXPECT_EQ(side.sp, true);
  EXPECT_EQ(side.micro_batch, 1);
  EXPECT_EQ(side.zero, 1);
  EXPECT_EQ(side.batch, 512);
  EXPECT_EQ(side.precision, "fp8");
  EXPECT_EQ(side.precision_text, "fp8(tensorwise)");
  EXPECT_EQ(side.recompute, "selective");
  EXPECT_EQ(side.compiled, true);
  EXPECT_EQ(side.attention, "flash v1");
  EXPECT_EQ(side.flag_text(), "async tp; deepep");
  EXPECT_TRUE(side.beyond.empty());
}

// Commas inside parentheses separate nothing; modules of a policy are written with commas.
TEST(ChangeWords, AreSeparatedAsTheyAreMeant) {
  EXPECT_EQ(change_words("precision=fp8(rowwise, wk/wv kept bf16)").precision_text,
            "fp8(rowwise, wk/wv kept bf16)");
  EXPECT_EQ(change_words("ep=8,recompute=selective:norm,act,mbs=1").recompute_text,
            "selective:layernorm+moe_act");
  EXPECT_EQ(change_words("recompute=selective:norm,act").recompute_text,
            "selective:layernorm+activation");
  EXPECT_EQ(change_words("zero=3; FSDP full shard + CPU offload").beyond,
            (std::set<std::string>{"fsdp full shard", "cpu offload"}));
}

TEST(ChangeWords, ShardsAreSpreadOverWhatTheSideSays) {
  EXPECT_FALSE(change_words("zero=1(over all DP ranks)").zero_group);
  EXPECT_EQ(change_words("zero=1(sharded inside 8-GPU node: hybrid ZeRO)").zero_group, 8);
  EXPECT_EQ(change_words("zero=1(group of 4: hybrid ZeRO)").zero_group, 4);
  EXPECT_EQ(change_words("hsdp").zero, 3);
}

TEST(ChangeWords, WhatNoKeySaysStaysBeyond) {
  for (const char* text :
       {"zero=4", "tp=0", "tp=-1", "tp=16 static", "precision=fp8-flow", "precision=fp8 MoE",
        "offload=optimizer 25% to CPU", "compile=regional inductor", "overlap=dp none", "seq2=1",
        "container=26.06", "Liger kernels", "sp=2", "recompute=selective incl. MoE, not experts",
        "tp=99999999999999999999", "zero=1(somewhere)"}) {
    EXPECT_FALSE(change_words(text).beyond.empty()) << text;
  }
}

TEST(ChangeWords, HostileTextEndsInBeyond) {
  for (const std::string& text :
       {std::string(100000, 'a'), std::string(60000, ','), std::string(60000, '('),
        std::string(60000, ')'), std::string("tp=,=,=1,recompute=selective:,zero=1("),
        std::string("\x01\x02\xff=\x01")}) {
    const ChangeWords side = change_words(text);
    EXPECT_FALSE(side.tp) << text.substr(0, 20);
  }
}

TEST(TwoSides, OfAColumn) {
  EXPECT_EQ(two_sides("512->2048").before, "512");
  EXPECT_EQ(two_sides("512 -> 2048").after, "2048");
  EXPECT_EQ(two_sides("4096").before, two_sides("4096").after);
  EXPECT_EQ(two_sides("->").after, "");
}

TEST(TokenCounts, HaveUnitsOfTheirOwn) {
  EXPECT_EQ(side_count("8192"), 8192);
  EXPECT_EQ(side_count("32K"), 32768);
  EXPECT_EQ(side_count("1M"), 1048576);
  for (const char* text : {"", "K", "-1", "0", "1e99", "nan", "18432 dense / 2048 expert", "1.5"}) {
    EXPECT_FALSE(side_count(text)) << text;
  }
}

}  // namespace
}  // namespace sextant::measured
