#include "describe/layout/attention_kernel.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::describe {
namespace {

Job attending_on(const char* cluster) {
  Job job;
  job.cluster = *load_cluster(cluster, DataStore());
  return job;
}

TEST(AttentionKernel, ThatIsOpenIsWhatTheDevicesLibrariesPick) {
  EXPECT_EQ(attention_kernel(attending_on("8xh100-sxm")), AttentionKernel::kCudnn);
  EXPECT_EQ(attention_kernel(attending_on("8xb200-sxm")), AttentionKernel::kCudnn);
  EXPECT_EQ(attention_kernel(attending_on("8xa100-sxm-80g")), AttentionKernel::kFlash);
  Job stated = attending_on("8xh100-sxm");
  stated.stated.emplace("attention");
  EXPECT_EQ(attention_kernel(stated), AttentionKernel::kFlash);
  Job eager = attending_on("8xh100-sxm");
  eager.layout.attention = AttentionKernel::kEager;
  EXPECT_EQ(attention_kernel(eager), AttentionKernel::kEager);
}

}  // namespace
}  // namespace sextant::describe
