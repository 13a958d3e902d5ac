#include "cost/compute/device_model.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "cost/compute/operator_time.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::cost {
namespace {

using describe::AttentionKernel;
using describe::DType;

DeviceModel device_model_of(std::string_view device,
                            AttentionKernel kernel = AttentionKernel::kFlash) {
  const describe::DataStore data;
  const auto model = device_model(data, *describe::load_device(device, data), kernel);
  EXPECT_TRUE(model) << (model ? "" : to_text(model.error()));
  return model ? *model : DeviceModel();
}

double sustained_tflops(const DeviceModel& model, DType dtype) {
  const ProductRate& rate = model.rate(dtype);
  return 1e-12 / (rate.burst.base() * (1.0 + rate.slowdown));
}

TEST(DeviceModel, AMeasuredDeviceIsUsedAsItIs) {
  const DeviceModel h200 = device_model_of("h200-sxm");
  EXPECT_EQ(h200.units, 132.0);
  EXPECT_NEAR(sustained_tflops(h200, DType::kBf16), 0.715 * 989.4, 1.0);
  EXPECT_EQ(sustained_tflops(h200, DType::kFp16), sustained_tflops(h200, DType::kBf16));
}

// The same chip at the same power with slower memory.
TEST(DeviceModel, ASiblingDiffersByItsDatasheet) {
  const DeviceModel h200 = device_model_of("h200-sxm");
  const DeviceModel h100 = device_model_of("h100-sxm");
  EXPECT_NEAR(sustained_tflops(h100, DType::kBf16), sustained_tflops(h200, DType::kBf16), 1e-6);
  EXPECT_NEAR(h100.stream.memory / h200.stream.memory, 4.8 / 3.35, 1e-6);
}

// 350 W for 756 TFLOP/s instead of 700 W for 989: √((350/756) / (700/989.4)) = 0.81 of the share.
TEST(DeviceModel, LessPowerForItsPeakMeansALowerSustainedRate) {
  const DeviceModel pcie = device_model_of("h100-pcie");
  const double factor = std::sqrt(350.0 / 756.0 / (700.0 / 989.4));
  EXPECT_NEAR(sustained_tflops(pcie, DType::kBf16), 0.715 * factor * 756.0, 8.0);
}

TEST(DeviceModel, AFormatWithoutAUnitUsesAWiderOne) {
  const DeviceModel a100 = device_model_of("a100-sxm-80g");
  EXPECT_EQ(a100.peak[static_cast<std::size_t>(DType::kFp8)].base(),
            a100.peak[static_cast<std::size_t>(DType::kBf16)].base());
  const DeviceModel v100 = device_model_of("v100-sxm-32g");
  EXPECT_EQ(v100.peak[static_cast<std::size_t>(DType::kBf16)].base(),
            v100.peak[static_cast<std::size_t>(DType::kFp16)].base());
}

TEST(DeviceModel, CudnnIsFasterThanFlash2OnHopper) {
  EXPECT_LT(device_model_of("h200-sxm", AttentionKernel::kCudnn).attention.forward,
            device_model_of("h200-sxm", AttentionKernel::kFlash).attention.forward);
}

TEST(DeviceModel, EveryDeviceOfTheCatalogueHasOne) {
  const describe::DataStore data;
  for (const std::string& id : data.list("devices", "toml")) {
    const DeviceModel model = device_model_of(id);
    for (const auto& [kind, word] : workload::kOpKindWords) {
      workload::Operator op{.kind = kind, .batch = 2, .m = 512, .n = 512, .k = 512};
      op.heads = 4;
      op.value_dim = 64;
      op.keys = 256.0;
      op.flops = 1_TFLOP;
      op.read = 1_MB;
      op.written = 1_MB;
      const OperatorCost cost = operator_time(op, model);
      EXPECT_TRUE(std::isfinite(cost.alone().base())) << id << " " << word;
      EXPECT_GT(cost.total(), cost.launch) << id << " " << word;
    }
  }
}

TEST(DeviceModel, AFileWithAKeyLessIsAnErrorThatNamesIt) {
  const ScratchFolder folder;
  (void)folder.write(
      "kernels/h100-sxm.toml",
      "[rates.bf16.burst]\nvalue = \"0.9 ratio\"\nkind = \"measured\"\nsource = \"here\"\n");
  const auto data = describe::DataStore::with_override(folder.path());
  ASSERT_TRUE(data);
  const auto model = device_model(*data, *describe::load_device("h100-sxm", *data));
  ASSERT_FALSE(model);
  EXPECT_NE(to_text(model.error()).find("sustained"), std::string::npos) << to_text(model.error());
}

}  // namespace
}  // namespace sextant::cost
