#include "validate/kernel_rows.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::validate {
namespace {

using Sizes = std::array<std::optional<std::int64_t>, 6>;

const cost::DeviceModel& h200() {
  static const cost::DeviceModel kModel = [] {
    const describe::DataStore data;
    return *cost::device_model(data, *describe::load_device("h200-sxm", data));
  }();
  return kModel;
}

measured::KernelSubject kernel_row(std::string kind, std::string variant, const Sizes& sizes) {
  return {.device = "h200-sxm",
          .kind = std::move(kind),
          .variant = std::move(variant),
          .dtype = "bf16",
          .sizes = sizes};
}

Call kernel_call(const measured::KernelSubject& subject) {
  Call call(h200());
  EXPECT_TRUE(add_kernel(subject, h200(), call)) << subject.kind << " " << subject.variant;
  return call;
}

bool is_known(const measured::KernelSubject& subject) {
  Call call(h200());
  return add_kernel(subject, h200(), call);
}

TEST(KernelRows, OtherKindsAndVariantsAreNotKnown) {
  EXPECT_FALSE(is_known(kernel_row("gemm", "sideways", {64, 64, 64})));
  EXPECT_FALSE(is_known(kernel_row("attention", "flex_fwd", {1, 8, 8, 1024, 64})));
  EXPECT_FALSE(is_known(kernel_row("attention", "efficient_bwd", {1, 8, 8, 1024, 64})));
  EXPECT_FALSE(is_known(kernel_row("memory", "rotary", {1024, 8, 8, 64})));
  EXPECT_FALSE(is_known(kernel_row("bmm", "wgrad_acc_fp32", {2, 64, 64, 64})));
  EXPECT_FALSE(is_known(kernel_row("launch", "empty_kernel_graph", {0})));
  EXPECT_FALSE(is_known(kernel_row("teapot", "fprop", {1, 2, 3})));
}

// The host waits for the device or the other way round; in a graph there is no host.
TEST(KernelRows, AGraphHasTheDevicesTimeAlone) {
  const Call eager = kernel_call(kernel_row("gemm", "fprop", {64, 512, 512}));
  const Call graph = kernel_call(kernel_row("gemm", "fprop_graph", {64, 512, 512}));
  EXPECT_EQ(graph.total(), eager.total());
  EXPECT_EQ(graph.alone(), eager.total());
  EXPECT_GT(eager.alone(), eager.total());
}

TEST(KernelRows, AWindowAsLongAsTheSequenceIsNone) {
  const Seconds plain =
      kernel_call(kernel_row("attention", "flash-fwd", {1, 16, 4, 8192, 128})).total();
  EXPECT_EQ(
      kernel_call(kernel_row("attention", "flash_window_fwd", {1, 16, 4, 8192, 128, 8192})).total(),
      plain);
  EXPECT_LT(
      kernel_call(kernel_row("attention", "flash_window_fwd", {1, 16, 4, 8192, 128, 1024})).total(),
      plain * 0.5);
}

TEST(KernelRows, WithoutAMaskThereAreTwiceTheKeys) {
  const Seconds causal =
      kernel_call(kernel_row("attention", "flash-bwd", {1, 32, 8, 32768, 128})).total();
  const Seconds full =
      kernel_call(kernel_row("attention", "flash_full_bwd", {1, 32, 8, 32768, 128})).total();
  EXPECT_NEAR(full / causal, 2.0, 0.1);
}

// Kernels pad values to the size of keys; only bytes differ.
TEST(KernelRows, NarrowValuesSaveNoArithmetic) {
  const Seconds padded =
      kernel_call(kernel_row("attention", "flash-fwd", {1, 16, 16, 8192, 192})).total();
  EXPECT_EQ(kernel_call(kernel_row("attention", "flash-fwd", {1, 16, 16, 8192, 192, 128})).total(),
            padded);
}

TEST(KernelRows, AWiderGradientTakesLonger) {
  const Seconds bf16 = kernel_call(kernel_row("gemm", "wgrad", {4096, 4096, 4096})).total();
  const Seconds fp32 =
      kernel_call(kernel_row("gemm", "wgrad_out_fp32", {4096, 4096, 4096})).total();
  const Seconds added =
      kernel_call(kernel_row("gemm", "wgrad_acc_fp32", {4096, 4096, 4096})).total();
  EXPECT_LT(bf16, fp32);
  EXPECT_LT(fp32, added);
}

TEST(KernelRows, GroupsPayForEachExpert) {
  const Seconds batched = kernel_call(kernel_row("bmm", "fprop", {16, 1024, 2048, 2048})).total();
  const Seconds grouped =
      kernel_call(kernel_row("grouped", "fprop", {16, 1024, 2048, 2048})).total();
  EXPECT_NEAR((grouped - batched) / h200().product.group_launch, 16.0, 1e-6);
}

TEST(KernelRows, ALossWithoutACastIsShorter) {
  measured::KernelSubject fp32 = kernel_row("loss", "ce_fwd", {4096, 128256});
  fp32.dtype = "fp32";
  const Seconds cast = kernel_call(kernel_row("loss", "ce_fwd_fp32cast", {4096, 128256})).total();
  EXPECT_LT(kernel_call(fp32).total(), cast);
}

}  // namespace
}  // namespace sextant::validate
