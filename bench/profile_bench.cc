#include <string>

#include <fmt/format.h>
#include <malloc.h>

#include "instructions.h"
#include "profile/read.h"

namespace sextant::bench {
namespace {

// As PyTorch writes a training step: of sixteen events six operators with their shapes (one a
// product), a call, an arrow's two ends
// and a kernel for each of three launches, and one in eight kernels a collective.
std::string kineto_text(std::int64_t events) {
  std::string text = R"({"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":8},)"
                     R"("baseTimeNanoseconds":1790857026000000000,"traceEvents":[)";
  for (std::int64_t i = 0; i < events / 16; ++i) {
    for (int j = 0; j < 6; ++j) {
      text += fmt::format(
          R"({{"ph": "X", "cat": "cpu_op", "name": "aten::{}", "pid": 505, "tid": 505, "ts": {}.123, "dur": 9.500, "args": {{"External id": {},"Record function id": 0, "Input Dims": [[{}, 4096], [4096, 1536]], "Input type": ["c10::Half", "c10::Half"], "Sequence number": {}, "Fwd thread id": 1, "Ev Idx": {}}}}},)"
          "\n",
          j == 0 ? "mm" : fmt::format("op_{}", j), 100 * i + 10 * j, i, 1024 * (1 + i % 8), i, i);
    }
    for (int j = 0; j < 3; ++j) {
      const std::int64_t correlation = 3 * i + j;
      text += fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 505, "tid": 505, "ts": {}.001, "dur": 5.000, "args": {{"External id": {}, "cbid": 211, "correlation": {}}}}},)"
          "\n"
          R"({{"ph": "s", "id": {}, "pid": 505, "tid": 505, "ts": {}.001, "cat": "ac2g", "name": "ac2g"}},)"
          "\n",
          100 * i + 30 * j, i, correlation, correlation, 100 * i + 30 * j);
      const bool is_collective = correlation % 8 == 0;
      text += fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}.123, "dur": 30.456, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, "registers per thread": 16, "shared memory": 0, "grid": [24, 1, 1], "block": [128, 1, 1]{}}}}},)"
          "\n",
          is_collective
              ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
              : "void at::native::vectorized_elementwise_kernel<4, at::native::"
                "CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)",
          100 * i + 30 * j + 12, i, correlation,
          is_collective
              ? R"(, "Collective name": "allreduce", "In msg nelems": 6637568, "dtype": "Float", "Group size": 8, "Process Group Name": "0")"
              : "");
    }
  }
  text.resize(text.rfind(','));
  return text + "]}";
}

// Read and sorted. Bytes: of the heap, by the allocator's own account, beyond the text.
void read_kineto_profile(benchmark::State& state) {
  const std::string text = kineto_text(state.range(0));
  const auto names = profile::RecognitionTable::parse(
      "pattern,says,value,source\nncclDevKernel_*,kind,communication,NCCL\n", "names.csv");
  const Instructions instructions(state);
  for (auto _ : state) {
    const auto before = mallinfo2();
    const auto recording = profile::read_profile_bytes(text, "rank0.json", {.names = *names});
    const auto after = mallinfo2();
    state.counters["spans"] = static_cast<double>(recording->timeline.spans().size());
    state.counters["heap_bytes"] =
        static_cast<double>(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_kineto_profile)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant::bench
