// The rules in words about devices, and about what a framework has at all.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

constexpr std::array kDeviceRules{
    Rule{"ATTENTION-DEVICE", "FlashAttention 2 and cuDNN's kernel need Ampere or later",
         "not (attention is flash or cudnn, and the device is Volta or Turing)",
         "Both are written for the asynchronous copies and bf16 units of compute capability 8.0.",
         "Use attention=fused-softmax or attention=eager, or leave the kernel to the framework.",
         "",
         "FlashAttention README (Ampere, Ada, Hopper); PyTorch sdp_utils.cpp, "
         "check_flash_attention_hardware_support",
         ""},
    Rule{"FRAMEWORK-AXES", "The framework has the axis",
         "accelerate: pp == 1; fsdp1: tp == cp == pp == ep == 1",
         "Accelerate's ParallelismConfig knows replicas, shards, tp, cp and sp; FSDP 1 wraps flat "
         "parameters and knows data parallelism only.",
         "Set the axis to 1, or use a framework that has it.", "",
         "Accelerate parallelism_config.py; PyTorch distributed/fsdp", ""},
    Rule{"FRAMEWORK-DEVICE", "The framework runs on the device",
         "TPUs: maxtext (accelerate and other frameworks are not known to fail)",
         "Megatron-LM, Megatron-DeepSpeed, DeepSpeed, torchtitan, FSDP 1 and nanotron launch CUDA "
         "or HIP kernels and NCCL or RCCL messages.",
         "Run MaxText on TPUs.", "", "when the first device is asked for", ""},
    Rule{"MXFP8-DEVICE", "Block-scaled 8-bit products need Blackwell or CDNA 4",
         "precision == mxfp8 needs a device with units for block-scaled formats (mxfp8, 4 bits)",
         "MXFP8 scales blocks of 32 values inside the product; Hopper and CDNA 3 scale whole "
         "tensors or tiles only. Transformer Engine asks for compute capability 10.0.",
         "Use precision=fp8 there.", "", "Transformer Engine, MXFP8 support check", ""},
    Rule{"PRECISION-FRAMEWORK", "The framework trains in the format", "int8: maxtext (AQT)",
         "Transformer Engine, torchtitan and DeepSpeed train in 8 bits as floats only.",
         "Use precision=fp8 or bf16.", "", "nowhere: there is no such setting", ""},
    Rule{
        "SCHEDULE-FRAMEWORK", "The framework has the schedule",
        "megatron-core: 1f1b, interleaved-1f1b; megatron-deepspeed, deepspeed: 1f1b; torchtitan: "
        "all but dualpipe; maxtext: its circular pipeline (1f1b, interleaved-1f1b, gpipe, "
        "looped-bfs)",
        "A schedule is code: Megatron-LM's schedules.py runs 1F1B and its interleaved form, "
        "DeepSpeed's pipeline engine 1F1B, PyTorch's pipelining has the zero-bubble forms.",
        "Use a schedule that it has.", "",
        "Megatron core/pipeline_parallel/schedules.py; DeepSpeed runtime/pipe/schedule.py; PyTorch "
        "distributed/pipelining/schedules.py",
        ""},
    Rule{"TP-OVERLAP-DEVICE", "Hiding tensor-parallel messages needs Ampere or later",
         "not (overlap has tp, and the device is Volta or Turing), in Megatron",
         "Transformer Engine, whose user buffers do it, needs compute capability 8.0.",
         "Leave tp out of overlap.", "", "Transformer Engine, when it is imported", ""},
    Rule{"TP-OVERLAP-DOMAIN", "Tensor-parallel messages hide inside a scale-up domain only",
         "overlap without tp, or tp <= devices of a scale-up domain",
         "User buffers and symmetric memory are written by peers directly, over NVLink. Across "
         "nodes there is no such path (NVIDIA/TransformerEngine#1071).",
         "Lower tp to the domain's size, or leave tp out of overlap.", "",
         "Transformer Engine userbuffers; PyTorch symmetric memory", ""},
};

}  // namespace

std::span<const Rule> device_rules() {
  return kDeviceRules;
}

}  // namespace sextant::describe
