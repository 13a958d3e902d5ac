// Kernels of communication that say nothing of their collective, until the call that launched them
// is known: where the host's event around that call says what it was, so do they.
//
// Profiles of before 2023, and all of kernels that a framework launches by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/kineto_labels.h"
#include "timeline/timeline.h"

namespace sextant::profile {

class KinetoLinks {
 public:
  static constexpr std::size_t kMostKernels = std::size_t{1} << 20U;

  struct Kernel {
    timeline::LaneId lane;
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
    timeline::CorrelationId correlation;
    const KnownName& known;  // kept by the labels
  };
  struct Event {
    timeline::LaneId lane;  // of the host
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    KinetoLabels::LinkOf link;
  };

  [[nodiscard]] bool has_room() const { return kernels_.size() < kMostKernels; }
  void wait_for_call(const Kernel& kernel) { kernels_.push_back(kernel); }
  void note(const Event& event) {
    if (events_.size() < kMostKernels) {
      events_.push_back(event);
    }
  }
  // Adds the kernels to the timeline, whose calls are there, and begins anew.
  void add_all(timeline::Timeline& timeline, KinetoLabels& labels);

 private:
  std::vector<Kernel> kernels_;
  std::vector<Event> events_;
};

}  // namespace sextant::profile
