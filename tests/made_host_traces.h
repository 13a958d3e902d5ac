// PyTorch profiles of a small decoder's training, made by playing its host against its device: a
// thread launches, a stream runs what was launched, and waits are what comes of that. With one
// fault of the host each, the same that scripts/measure/fault_traces.py puts into a real run, or
// none.
#pragma once

#include <string>

namespace sextant::tests {

enum class HostFault {
  kNone,
  kSlowLoader,       // a DataLoader takes 60 ms
  kSlowFetch,        // the same without a loader that records itself
  kLaunchBound,      // many layers of tiny kernels
  kItemEachBlock,    // a number is read after each block
  kCollect,          // gc.collect() every step, recorded
  kEmptyCache,       // torch.cuda.empty_cache() every step
  kNoRoom,           // the allocator frees its cache within an operator and asks again
  kPageable,         // 1 GiB from pageable memory every step
  kSmallCopies,      // 400 tensors of 256 bytes from pageable memory
  kHostWork,         // 12 ms of Python after each block, with stacks
  kHostWorkUnnamed,  // the same without
  kStacks,           // tiny kernels, and every function of Python recorded
  kSave,             // torch.save() every step
  kSaveNamed,        // within a range "save_checkpoint"
  kRecompile,        // torch.compile meets a new shape every step
  kOffload,          // the optimizer runs on the host
  kLostCore,         // the launching thread is taken off its core
};
// `is_mended`: the same run without the fault, as fault_traces.py records it beside.
std::string made_host_trace(HostFault fault, bool is_mended = false);

}  // namespace sextant::tests
