#include "made_host_traces.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

constexpr int kSteps = 4;
// Of a launch and of an operator while shapes and memory are recorded, and the time that a launch
// takes to an idle device; microseconds, as in the profiles of an H200 in ../shared/traces/h200.
constexpr double kLaunchUs = 6.0;
constexpr double kOperatorUs = 14.0;
constexpr double kLatencyUs = 5.0;
constexpr double kFunctionUs = 3.0;       // of a function of Python that is recorded
constexpr double kQuietFunctionUs = 0.3;  // and of one that is not

// What a step of the model is made of; kernel times in microseconds.
struct ModelScale {
  int layers = 3;
  int forward_kernels = 10;  // of a block
  double kernel_us = 330.0;
  double head_us = 7000.0;
};
constexpr int kCallsToAnOperator = 5;
constexpr ModelScale kLarge{};  // 2048 wide, 16384 tokens: 40 ms of kernels
constexpr ModelScale kTiny{6, 10, 6.0, 40.0};
constexpr ModelScale kMiddle{12, 10, 26.0, 900.0};

// One host with two threads, one device with one stream, and what a profiler writes of them.
class PlayedHost {
 public:
  explicit PlayedHost(bool has_stacks) : has_stacks_(has_stacks) {}

  [[nodiscard]] double now() const { return host_us_; }
  void pass(double us) { host_us_ += us; }
  void use_thread(int thread) { thread_ = thread; }

  // An event of the host around what `inside` does, which takes `own_us` more.
  template <typename Inside>
  void range(const char* category, const std::string& name, double own_us, const Inside& inside) {
    const double from = host_us_;
    host_us_ += own_us / 2;
    inside();
    host_us_ += own_us / 2;
    event(category, name, "1234", std::to_string(thread_), from, host_us_ - from);
  }
  // A function of Python: on the main thread, where they are recorded; else it only takes time.
  template <typename Inside>
  void function(const std::string& name, const Inside& inside) {
    if (has_stacks_ && thread_ == 1) {
      range("python_function", name, kFunctionUs, inside);
    } else {
      host_us_ += kQuietFunctionUs;
      inside();
    }
  }

  // A call that takes so long, and work of the device that it launches.
  void launch(const std::string& kernel, double us, double call_us = kLaunchUs) {
    enqueue("cudaLaunchKernel", "kernel", kernel, us, call_us, "");
  }
  void operation(const std::string& name, const std::string& kernel, double us) {
    range("cpu_op", name, kOperatorUs, [&] { launch(kernel, us); });
  }
  void call(const std::string& name, double us) {
    range("cuda_runtime", name, us, [] {});
  }

  // cudaMemcpyAsync and, where the host waits, cudaStreamSynchronize.
  void copy(const std::string& name, double bytes, double us, bool waits) {
    enqueue("cudaMemcpyAsync", "gpu_memcpy", name, us, waits ? 10.0 : kLaunchUs,
            fmt::format(R"(, "bytes": {:.0f})", bytes));
    if (waits) {
      wait("cudaStreamSynchronize");
    }
  }
  void wait(const std::string& call) {
    const double from = host_us_;
    host_us_ = std::max(host_us_ + 2.0, device_us_ + 8.0);
    event("cuda_runtime", call, "1234", std::to_string(thread_), from, host_us_ - from);
  }
  void read_number() {
    range("cpu_op", "aten::item", 4.0, [&] {
      range("cpu_op", "aten::_local_scalar_dense", 4.0,
            [&] { copy("Memcpy DtoH (Device -> Pinned)", 4.0, 1.2, true); });
    });
  }
  // `.to("cuda")` of memory that is not pinned; large copies are as fast as staging, 6 GB/s.
  void copy_in(double bytes) {
    range("cpu_op", "aten::to", 4.0, [&] {
      range("cpu_op", "aten::_to_copy", 4.0, [&] {
        range("cpu_op", "aten::copy_", 4.0, [&] {
          copy("Memcpy HtoD (Pageable -> Device)", bytes, std::max(1.2, bytes / 6e3), true);
        });
      });
    });
  }
  void copy_out(double bytes, double gigabytes_per_second) {
    range("cpu_op", "aten::copy_", 4.0, [&] {
      copy("Memcpy DtoH (Device -> Pageable)", bytes, bytes / gigabytes_per_second / 1e3, true);
    });
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(
        R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150000000000}}],
"record_shapes": 1, "profile_memory": 1, "with_stack": {}, "traceEvents": [
{}
]}}
)",
        has_stacks_ ? 1 : 0, events_);
  }

 private:
  void enqueue(const std::string& call, const char* category, const std::string& name, double us,
               double call_us, const std::string& more) {
    ++correlation_;
    event("cuda_runtime", call, "1234", std::to_string(thread_), host_us_, call_us,
          fmt::format(R"("correlation": {})", correlation_));
    host_us_ += call_us;
    // On a stream that has work the next kernel follows within a microsecond.
    const double from = std::max(host_us_ + kLatencyUs, device_us_ + 0.8);
    device_us_ = from + us;
    event(category, name, "0", "7", from, us,
          fmt::format(R"("device": 0, "stream": 7, "correlation": {}{})", correlation_, more));
  }
  void event(const char* category, const std::string& name, const char* process,
             const std::string& thread, double at_us, double takes_us,
             const std::string& more = {}) {
    events_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
        events_.empty() ? "" : ",\n", category, name, process, thread, at_us, takes_us, more);
  }

  bool has_stacks_ = false;
  double host_us_ = 1'000'000.0;
  double device_us_ = 0.0;  // when all that was launched is done
  int thread_ = 1;
  int correlation_ = 0;
  std::string events_;
};

// The training loop of fault_traces.py, played.
class PlayedTraining {
 public:
  PlayedTraining(HostFault fault, bool is_mended)
      : fault_(is_mended ? HostFault::kNone : fault),
        ends_with_loss_(fault != HostFault::kLaunchBound && fault != HostFault::kItemEachBlock &&
                        fault != HostFault::kStacks),
        scale_(fault == HostFault::kLaunchBound || fault == HostFault::kStacks ? kTiny
               : fault == HostFault::kItemEachBlock                            ? kMiddle
                                                                               : kLarge),
        host_(fault == HostFault::kHostWork || (fault == HostFault::kStacks && !is_mended)) {}

  std::string text() {
    step();  // the profiler's own start: not in the profile's marks
    for (int i = 0; i < kSteps; ++i) {
      host_.range("user_annotation", fmt::format("ProfilerStep#{}", 5 + i), 40.0, [&] { step(); });
    }
    host_.wait("cudaDeviceSynchronize");
    return host_.text();
  }

 private:
  void step() {
    host_.function("train.py(120): step", [&] {
      fetch();
      forward();
      backward();
      update();
      end();
    });
  }

  void fetch() {
    if (fault_ == HostFault::kSlowLoader) {
      host_.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                  60'200.0, [] {});
    } else if (fault_ == HostFault::kSlowFetch) {
      host_.pass(60'200.0);
    }
    host_.range("cpu_op", "aten::to", 10.0,
                [&] { host_.copy("Memcpy HtoD (Pinned -> Device)", 131'136.0, 6.0, false); });
    if (fault_ == HostFault::kPageable) {
      host_.copy_in(1 << 30);
    }
    for (int i = 0; fault_ == HostFault::kSmallCopies && i < 400; ++i) {
      host_.range("cpu_op", "aten::full", 6.0, [] {});
      host_.copy_in(256);
    }
  }

  void forward() {
    if (fault_ == HostFault::kRecompile) {
      host_.range("user_annotation", "_compile.compile_inner (dynamo_timed)", 900'000.0, [] {});
    }
    host_.operation("aten::embedding", "vectorized_gather_kernel", scale_.kernel_us / 4);
    for (int layer = 0; layer < scale_.layers; ++layer) {
      host_.function("nn.Module: Block_" + std::to_string(layer), [&] { block(); });
    }
    host_.operation("aten::mm", "nvjet_tst_head", scale_.head_us / 3);
  }

  void block() {
    host_.function("train.py(80): forward", [&] {
      for (int i = 0; i < scale_.forward_kernels; ++i) {
        called_through(kCallsToAnOperator, [&] {
          host_.pass(3.0);
          allocate(i);
          host_.range("cpu_op", "aten::transpose", 3.0, [] {});
          host_.operation("aten::mm", "nvjet_tst_128x256", scale_.kernel_us);
        });
      }
      if (!ends_with_loss_) {
        host_.operation("aten::sum", "reduce_kernel", 8.0);
      }
      if (fault_ == HostFault::kItemEachBlock) {
        host_.read_number();
      }
      if (fault_ == HostFault::kHostWork || fault_ == HostFault::kHostWorkUnnamed) {
        for (int i = 0; i < 60; ++i) {
          host_.function("<built-in function sum>", [&] { host_.pass(194.0); });
        }
      }
      if (fault_ == HostFault::kLostCore) {
        host_.range("cpu_op", "aten::transpose", 12'000.0, [] {});
      }
    });
  }

  // The functions of Python between a module and its operator.
  template <typename Inside>
  void called_through(int functions, const Inside& inside) {
    if (functions == 0) {
      inside();
      return;
    }
    host_.function("torch/nn/modules/module.py(1780): _call_impl",
                   [&] { called_through(functions - 1, inside); });
  }

  // What the caching allocator asks the driver for, in the first operator of a block.
  void allocate(int kernel) {
    if (kernel != 0) {
      return;
    }
    if (fault_ == HostFault::kEmptyCache) {
      host_.range("cpu_op", "aten::empty", 4.0, [&] {
        host_.call("cudaMalloc", 900.0);
        host_.call("cudaMalloc", 900.0);
      });
    } else if (fault_ == HostFault::kNoRoom) {
      host_.range("cpu_op", "aten::empty", 4.0, [&] {
        host_.wait("cudaDeviceSynchronize");
        for (int i = 0; i < 4; ++i) {
          host_.call("cudaFree", 700.0);
        }
        host_.call("cudaMalloc", 900.0);
      });
    }
  }

  void backward() {
    host_.use_thread(2);
    for (int i = 0; i < 2; ++i) {
      host_.operation("aten::mm", "nvjet_tst_head_backward", scale_.head_us / 3);
    }
    for (int i = 0; i < 2 * scale_.layers * scale_.forward_kernels; ++i) {
      host_.range("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 4.0,
                  [&] { host_.operation("aten::mm", "nvjet_tst_backward", scale_.kernel_us); });
    }
    host_.use_thread(1);
    host_.pass(30.0);
  }

  void update() {
    if (fault_ == HostFault::kOffload) {
      update_on_host();
      return;
    }
    host_.range("user_annotation", "Optimizer.step#AdamW.step", 300.0, [&] {
      for (int i = 0; i < 4; ++i) {
        host_.operation("aten::_fused_adamw_", "multi_tensor_apply_kernel", scale_.kernel_us);
      }
    });
  }

  void update_on_host() {
    for (int i = 0; i < 20; ++i) {
      host_.range("cpu_op", "aten::to", 4.0, [&] { host_.copy_out(28e6, 5.0); });
    }
    host_.range("user_annotation", "Optimizer.step#AdamW.step", 400.0,
                [&] { host_.range("cpu_op", "aten::_fused_adamw_", 110'000.0, [] {}); });
    for (int i = 0; i < 20; ++i) {
      host_.copy_in(28e6);
    }
  }

  void end() {
    if (ends_with_loss_) {
      host_.read_number();  // loss.item()
    }
    if (fault_ == HostFault::kCollect) {
      host_.range("python_function", "Python GC", 90'000.0, [] {});
    } else if (fault_ == HostFault::kEmptyCache) {
      for (int i = 0; i < 24; ++i) {
        host_.call("cudaFree", 400.0);
      }
    } else if (fault_ == HostFault::kSave) {
      save();
    } else if (fault_ == HostFault::kSaveNamed) {
      host_.range("user_annotation", "save_checkpoint", 10.0, [&] { save(); });
    }
  }

  // Each tensor is copied to the host and written to a file, at 1.5 GB/s.
  void save() {
    for (int i = 0; i < 20; ++i) {
      host_.copy_out(28e6, 5.0);
      host_.pass(28e6 / 1.5e3);
    }
  }

  HostFault fault_;
  bool ends_with_loss_ = true;
  ModelScale scale_;
  PlayedHost host_;
};

}  // namespace

std::string made_host_trace(HostFault fault, bool is_mended) {
  return PlayedTraining(fault, is_mended).text();
}

}  // namespace sextant::tests
