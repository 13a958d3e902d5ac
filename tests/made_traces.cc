#include "made_traces.h"

#include <fmt/format.h>

namespace sextant::tests {
namespace {

constexpr int kFirstStep = 3;
constexpr int kStepUs = 10'000;

class TraceText {
 public:
  explicit TraceText(const MadeTrace& made) : made_(made) {}

  void host(const char* category, const std::string& name, double at_us, double takes_us,
            const std::string& more = {}) {
    event(category, name, "1234", "1234", at_us, takes_us, more);
  }

  // A call of 10 µs, and its work on stream 7.
  void launch(const std::string& kernel, double call_us, double at_us, double takes_us,
              const std::string& more = {}) {
    ++correlation_;
    host("cuda_runtime", "cudaLaunchKernel", call_us, 10,
         fmt::format(R"("correlation": {})", correlation_));
    event("kernel", kernel, "0", "7", at_us, takes_us,
          fmt::format(R"("device": 0, "stream": 7, "correlation": {}{})", correlation_, more));
  }

  std::string text() const {
    const std::string distributed = made_.says_rank ? fmt::format(R"(
"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},)",
                                                                  made_.rank, made_.world)
                                                    : std::string();
    return fmt::format(
        R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "{}", "totalGlobalMem": 85029158912}}],{}
"traceEvents": [
{}
]}}
)",
        made_.device, distributed, events_);
  }

 private:
  void event(const char* category, const std::string& name, const char* process, const char* thread,
             double at_us, double takes_us, const std::string& more) {
    events_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
        events_.empty() ? "" : ",\n", category, name, process, thread, at_us, takes_us, more);
  }

  MadeTrace made_;
  int correlation_ = 0;
  std::string events_;
};

std::string collective_arguments(int world) {
  std::string ranks;
  for (int i = 0; i < world; ++i) {
    ranks += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      R"(, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "dtype": "Float", "Group size": {}, "Process Group Name": "0", "Process Group Ranks": "[{}]")",
      world, ranks);
}

}  // namespace

std::string made_trace(const MadeTrace& made) {
  TraceText trace(made);
  for (int i = 0; i < made.steps; ++i) {
    const double at = 1'000'000.0 + i * kStepUs;
    if (made.is_marked) {
      trace.host("user_annotation", fmt::format("ProfilerStep#{}", kFirstStep + i), at, kStepUs);
    }
    const double product_us = 4000.0 + made.late_us;
    trace.host("cpu_op", "aten::mm", at + 100, 100);
    trace.launch("ampere_sgemm_128x64_nn", at + 150, at + 200, product_us);
    double end = at + 200 + product_us;
    if (made.world > 1) {
      trace.host("cpu_op", "c10d::allreduce_", at + 300, 100);
      trace.launch(made.nccl, at + 350, end, 2000.0 - made.late_us,
                   collective_arguments(made.world));
      end += 2000.0 - made.late_us;
    }
    trace.host("cpu_op", "aten::add_", at + 500, 100);
    trace.launch("void at::native::vectorized_elementwise_kernel<4, add>(int)", at + 550, end,
                 1000);
  }
  return trace.text();
}

}  // namespace sextant::tests
