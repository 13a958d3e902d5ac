// What a host takes to issue a training step (data/host.toml): the other side of a step that small
// kernels leave waiting.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct HostFacts {
  // PyTorch code line by line.
  Sourced<Seconds> forward_kernel;   // each kernel of a forward: Python, dispatch, launch
  Sourced<Seconds> backward_kernel;  // each kernel of a backward: autograd's thread
  Sourced<Seconds> layer;            // beside that, each layer forward: its modules
  // torch.compile: launches from generated code, and entering it once a pass.
  Sourced<Seconds> compiled_kernel;
  Sourced<Seconds> compiled_step;
  Sourced<Seconds> graph_kernel;  // CUDA graphs
  // Beside the kernels: tensor parallelism by DTensor, each product.
  Sourced<Seconds> dtensor_forward;
  Sourced<Seconds> dtensor_backward;
  Sourced<Seconds> dtensor_sequence;  // each layer forward, where the sequence is split
  // FSDP2: hooks of each unit that is gathered, and the first gather, which nothing hides.
  Sourced<Seconds> fsdp_entry;
  Sourced<Seconds> fsdp_forward;
  Sourced<Seconds> fsdp_backward;
  // Megatron's expert layers outside of CUDA graphs: the host waits for the number of tokens of
  // each expert, then issues their products one by one while the device waits. Each expert of a
  // rank, layer and pass.
  Sourced<Seconds> expert;
  Sourced<Seconds> expert_8bit;  // which quantises as well
  Sourced<Seconds> copy;         // a plain copy from C++
  Sourced<Seconds> copy_beside;  // what it takes from the kernels it runs beside
  // Optimizer step, each parameter tensor.
  Sourced<Seconds> fused_tensor;
  Sourced<Seconds> foreach_tensor;
  Sourced<Seconds> loop_tensor;
};

Result<HostFacts> host_facts(const DataStore& data);

}  // namespace sextant::describe
