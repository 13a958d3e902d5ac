#include "metrics/work_class.h"

#include <gtest/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

TEST(WorkClass, IsToldFromTheKernelOrWhatLaunchedIt) {
  EXPECT_EQ(work_class("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", ""),
            WorkClass::kAttention);
  EXPECT_EQ(work_class("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", ""),
            WorkClass::kAttention);
  EXPECT_EQ(work_class("void cutlass::Kernel2<cutlass_80_GemmGrouped>", ""), WorkClass::kExperts);
  EXPECT_EQ(work_class("nvjet_tst_128x256_64x4_2x1_v_bz_TNT", "_GroupedLinear"),
            WorkClass::kExperts);
  EXPECT_EQ(work_class("nvjet_tst_128x256_64x4_2x1_v_bz_TNT", "aten::mm"), WorkClass::kOther);
  // The kernel says what it is, whatever range holds it.
  EXPECT_EQ(work_class("flash_bwd_kernel", "GroupedMLP"), WorkClass::kAttention);
}

TEST(WorkClass, TimesOfAStepAreThoseOfWhatItLaunched) {
  MadeRecording made;
  made.step(0, 0, 1'000);
  made.step(1, 1'000, 2'000);
  made.host({timeline::SpanKind::kHost, "_GroupedLinear", {}, {}}, 100, 50);
  made.launch(110, 5, 120, 30);                         // by the range: an expert's product
  made.launch(200, 5, 210, 70);                         // another product
  made.launch(900, 5, 1'200, 40, MadeRecording::kMain,  // runs in the next step's window
              {timeline::SpanKind::kCompute, "flash_fwd_kernel", {}, {}});
  made.launch(1'500, 5, 1'600, 20);
  const timeline::Recording recording = made.take();
  const View view = view_of(recording);
  const std::vector<WorkTimes> times = work_times(view, view.ranks.at(0), steps_of(view), 0);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0], (WorkTimes{40, 30, 70}));
  EXPECT_EQ(times[1], (WorkTimes{0, 0, 20}));
}

}  // namespace
}  // namespace sextant::metrics
