#include "profile/torch_count.h"

#include <string>

#include <gtest/gtest.h>

#include "profile/tensor_words.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::Label;

// Of one event of the operator, as the reader makes its label.
Label label_of(const std::string& name, const std::string& dims, const std::string& types,
               const std::string& values = "[]") {
  const auto recording = read_profile_bytes(
      R"([{"ph":"X","cat":"cpu_op","name":")" + name +
          R"(","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Input Dims":)" + dims + R"(,"Input type":)" +
          types + R"(,"Concrete Inputs":)" + values + "}}]",
      "rank0.json", options_of_tests());
  EXPECT_TRUE(recording);
  return recording->timeline.label_of(recording->timeline.spans()[0]);
}

constexpr const char* kHalves = R"(["c10::Half","c10::Half"])";
constexpr const char* kThreeHalves = R"(["c10::Half","c10::Half","c10::Half"])";

// 8192 x 4096 times 4096 x 1536: 2 M N K, and three matrices of two bytes an element.
TEST(TorchCount, OfAProductIsTwoForEachOfItsSums) {
  const Label label = label_of("aten::mm", "[[8192,4096],[4096,1536]]", kHalves);
  EXPECT_EQ(label.flops, Flops(2.0 * 8192 * 1536 * 4096));
  EXPECT_EQ(label.bytes, Bytes(2.0 * (8192 * 4096 + 4096 * 1536 + 8192 * 1536)));
  EXPECT_EQ(label_of("aten::addmm", "[[1536],[8192,4096],[4096,1536],[],[]]", kThreeHalves).flops,
            label.flops);
  EXPECT_EQ(label_of("aten::bmm", "[[32,2048,64],[32,64,1024]]", kHalves).flops,
            Flops(32.0 * 2.0 * 2048 * 1024 * 64));
}

// 4 sequences, 16 heads of 64, 2048 tokens: two products forward, five backward, half if causal.
TEST(TorchCount, OfAttentionIsHalvedByACausalMask) {
  const double product = 2.0 * 4 * 16 * 2048.0 * 2048 * 64;
  const std::string heads = "[4,16,2048,64]";
  const std::string forward = "[" + heads + "," + heads + "," + heads + ",[],[],[],[],[],[],[],[]]";
  const auto values = [](const char* mask) {
    return R"(["","","","","","","2048","2048","True","0.",")" + std::string(mask) + R"("])";
  };
  const char* name = "aten::_cudnn_attention_forward";
  EXPECT_EQ(label_of(name, forward, kThreeHalves, values("False")).flops, Flops(2.0 * product));
  EXPECT_EQ(label_of(name, forward, kThreeHalves, values("True")).flops, Flops(product));
  EXPECT_EQ(label_of(name, forward, kThreeHalves, values("True")).bytes,
            Bytes(4.0 * 2.0 * 4 * 16 * 2048 * 64));
  const std::string tokens = "[4,2048,16,64]";
  EXPECT_EQ(label_of("aten::_flash_attention_backward",
                     "[" + tokens + "," + tokens + "," + tokens + "," + tokens + "," + tokens +
                         ",[4,16,2048],[],[],[],[],[],[]]",
                     R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float"])")
                .flops,
            Flops(5.0 * product));
}

// Fewer heads of keys, and more keys than queries.
TEST(TorchCount, OfAttentionGoesByTheQueriesHeads) {
  EXPECT_EQ(label_of("aten::_flash_attention_forward",
                     "[[1,100,32,128],[1,300,8,128],[1,300,8,128],[],[],[],[],[],[]]", kThreeHalves)
                .flops,
            Flops(2.0 * 2.0 * 32 * 100 * 300 * 128));
}

TEST(TorchCount, WhatShapesDoNotSayIsUnknown) {
  for (const auto& [name, dims, types] : std::vector<std::array<std::string, 3>>{
           {"aten::mm", "[[4,8],[9,2]]", kHalves},       // no product
           {"aten::mm", "[[4,8]]", kHalves},             // one factor
           {"aten::mm", "[]", "[]"},                     // nothing recorded
           {"aten::mm", "[[4,8],[8,2]]", R"(["x"])"},    // a type that we don't know
           {"aten::mm", "[[0,0],[0,0]]", kHalves},       // empty
           {"aten::bmm", "[[3,4,8],[2,8,2]]", kHalves},  // other batches
           {"aten::linear", "[[4,8],[2,8]]", kHalves},   // counted where it calls a product
           {"aten::_flash_attention_forward",  // packed: one row of 300 tokens of any lengths
            "[[1,300,8,64],[1,300,8,64],[1,300,8,64],[4],[4],[],[],[],[]]", kThreeHalves}}) {
    EXPECT_FALSE(label_of(name, dims, types).flops) << name << dims;
  }
}

TEST(TensorWords, ShapesAreOfOneInputEach) {
  const std::vector<TensorShape> shapes = tensor_shapes("[[4, 2048], [], [[2], [3, 5]], [7]]");
  EXPECT_EQ(shapes, (std::vector<TensorShape>{{4, 2048}, {}, {}, {7}}));
  EXPECT_EQ(tensor_shapes("]]]["), std::vector<TensorShape>());
}

}  // namespace
}  // namespace sextant::profile
