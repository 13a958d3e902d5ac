#include "describe/layout/attention_kernel.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sextant::describe {

AttentionKernel attention_kernel(const Job& job) {
  constexpr std::array<std::string_view, 3> kNewer{"hopper", "blackwell", "blackwell-ultra"};
  const bool newer =
      std::find(kNewer.begin(), kNewer.end(), job.cluster.device.generation) != kNewer.end();
  const bool open = job.layout.attention == AttentionKernel::kFlash && !job.states("attention");
  return newer && open ? AttentionKernel::kCudnn : job.layout.attention;
}

}  // namespace sextant::describe
