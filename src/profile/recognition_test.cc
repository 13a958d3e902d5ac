#include "profile/recognition.h"

#include <gtest/gtest.h>

#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::ElementType;
using timeline::SpanKind;

TEST(Recognition, PatternsAreWholeNamesWithStars) {
  EXPECT_TRUE(fits_pattern("nccl", "nccl"));
  EXPECT_TRUE(fits_pattern("nccl_x", "nccl*"));
  EXPECT_TRUE(fits_pattern("a nccl b", "*nccl*"));
  EXPECT_TRUE(fits_pattern("aXbXc", "a*b*c"));
  EXPECT_TRUE(fits_pattern("", "*"));
  EXPECT_TRUE(fits_pattern("", ""));
  EXPECT_TRUE(fits_pattern("abab", "*ab"));
  EXPECT_FALSE(fits_pattern("xnccl", "nccl*"));
  EXPECT_FALSE(fits_pattern("NCCL", "nccl"));
  EXPECT_FALSE(fits_pattern("ab", "ab?"));
  EXPECT_FALSE(fits_pattern("a", ""));
}

struct Known {
  const char* name;
  std::optional<CollectiveOp> op;
  std::optional<ElementType> element;
};

// Kernels by which today's libraries communicate. Defect 7 of the peers: all but NCCL's own are
// taken for compute there, and the older two take NCCL's for compute since 2.19.
TEST(Recognition, KnowsTheCommunicationOfTodaysLibraries) {
  using Op = CollectiveOp;
  const std::vector<Known> kernels{
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Op::kAllReduce,
       ElementType::kBfloat16},
      {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
       Op::kAllReduce, ElementType::kFloat16},
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Op::kAllReduce,
       ElementType::kFloat32},
      {"ncclKernel_AllReduce_RING_LL_Sum___nv_bfloat16(ncclWorkElem)", Op::kAllReduce,
       ElementType::kBfloat16},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Op::kSendReceive, {}},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*)", Op::kReduceScatter,
       ElementType::kBfloat16},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Op::kAllGather, {}},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", Op::kSendReceive, {}},
      {"void ncclKernel_Generic<1, true>(ncclDevComm*)", {}, {}},
      {"void deep_ep::intranode::dispatch<8, 768>(int4*, float*)", Op::kAllToAll, {}},
      {"void dpsk::ep::internode::combine<true>(void*)", Op::kAllToAll, {}},
      {"nvshmemi_transfer_rma_on_stream", {}, {}},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", Op::kAllReduce,
       ElementType::kBfloat16},
      {"void sglang::cross_device_reduce_2stage<half, 4>(sglang::RankData*)", Op::kAllReduce,
       ElementType::kFloat16},
      {"void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8, true>()", Op::kAllReduce,
       ElementType::kFloat16},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>()",
       Op::kAllReduce,
       {}},
      {"hcom_allReduce__618_2_1", Op::kAllReduce, {}},
      {"gloo:all_reduce", Op::kAllReduce, {}},
      {"mscclKernel_Sum_half_Simple", {}, ElementType::kFloat16}};
  for (const Known& known : kernels) {
    const Recognised what = table_of_names().of(known.name);
    EXPECT_EQ(what.kind, SpanKind::kCommunication) << known.name;
    EXPECT_EQ(what.op, known.op) << known.name;
    EXPECT_EQ(what.element, known.element) << known.name;
  }
}

TEST(Recognition, ComputeIsNotTakenForCommunication) {
  for (const char* name :
       {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<long>>", "sm90_xmma_gemm_bf16",
        "void splitKreduce_kernel<float>", "void cub::DeviceReduceKernel<>", "ampere_fp16_s16816",
        "void at::native::elementwise_kernel<128, 4>", "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias",
        "void moe::dev::routing::routingIndicesHistogramKernel<>", "_combined_routing_compute",
        "triton_red_fused_all_reduced", "", "void dispatch_attention_kernel()"}) {
    EXPECT_NE(table_of_names().of(name).kind, SpanKind::kCommunication) << name;
  }
}

TEST(Recognition, AUsersTableComesBeforeTheProgramsOwn) {
  const auto own = RecognitionTable::parse(
      "pattern,says,value,source\nmy_exchange*,kind,communication,mine\nmy_exchange*,op,all_gather,"
      "mine\nncclDevKernel_*,kind,compute,mine\n",
      "own.csv");
  ASSERT_TRUE(own);
  const RecognitionTable both = own->before(table_of_names());
  EXPECT_EQ(both.of("my_exchange_3").op, CollectiveOp::kAllGather);
  EXPECT_EQ(both.of("ncclDevKernel_AllGather").kind, SpanKind::kCompute);
  EXPECT_EQ(both.of("ncclKernel_AllGather").kind, SpanKind::kCommunication);
  EXPECT_EQ(both.rows(), own->rows() + table_of_names().rows());
}

TEST(Recognition, ATableThatIsWrongSaysWhere) {
  for (const std::string text :
       {"pattern,says,value\na,kind,compute\n", "pattern,says,value,source\na,kind,wait,x\n",
        "pattern,says,value,source\na,op,Float,x\n", "pattern,says,value,source\n,kind,copy,x\n",
        "pattern,says,value,source\na,kind,copy,\n", "pattern,says,value,source\na,b,c,d\n"}) {
    const auto table = RecognitionTable::parse(text, "own.csv");
    ASSERT_FALSE(table) << text;
    EXPECT_TRUE(table.error().where.starts_with("own.csv")) << text;
  }
}

TEST(Recognition, TorchsWordsAreOperationsAndTypes) {
  EXPECT_EQ(op_of_torch_word("_allgather_base"), CollectiveOp::kAllGather);
  EXPECT_EQ(op_of_torch_word("allreduce_coalesced"), CollectiveOp::kAllReduce);
  EXPECT_EQ(op_of_torch_word("all_to_allv"), CollectiveOp::kAllToAll);
  EXPECT_EQ(op_of_torch_word("_reduce_scatter_base"), CollectiveOp::kReduceScatter);
  EXPECT_EQ(op_of_torch_word("recv"), CollectiveOp::kSendReceive);
  EXPECT_EQ(op_of_torch_word("barrier"), std::nullopt);
  EXPECT_EQ(op_of_torch_word("reduce"), std::nullopt);
  EXPECT_EQ(element_of_torch_word("BFloat16"), ElementType::kBfloat16);
  EXPECT_EQ(element_of_torch_word("c10::BFloat16"), ElementType::kBfloat16);
  EXPECT_EQ(element_of_torch_word("TensorList"), std::nullopt);
}

}  // namespace
}  // namespace sextant::profile
