#include "measured/run_cells.h"

#include <vector>

#include <fmt/format.h>

namespace sextant::measured {

namespace {

constexpr double kMostParts = 1e6;
constexpr double kMostSize = 1e9;
constexpr double kMostBatch = 1e12;

Trust trust_of(Cells& cells) {
  const std::vector<std::string> allowed{"A", "B", "C"};
  const auto word = cells.word("trust", allowed);
  if (!word || *word == "B") {
    return Trust::kB;
  }
  return *word == "A" ? Trust::kA : Trust::kC;
}

void read_texts(Cells& cells, RunCells& run) {
  run.id = cells.has("id") ? std::string(cells.text("id")) : cells.line_id();
  run.source = cells.text("source");
  run.date = cells.text("date");
  run.model = cells.text("model");
  run.arch = cells.text("arch");
  run.hardware = cells.text("hw");
  run.interconnect = cells.text("interconnect");
  run.framework = cells.text("framework");
  run.attention = cells.text("attn_kernel");
  run.flags = cells.text("flags");
  run.notes = cells.text("notes");
  run.precision_text = cells.text("precision");
  run.recompute_text = cells.text("recompute");
  run.memory_kind = cells.text("mem_kind");
  run.flops_convention = cells.text("flops_convention");
  run.device = cells.text("device");
  run.fabric = cells.text("fabric");
  run.recompute_kind =
      cells.word("recompute_kind", {"none", "selective", "full", "custom"}).value_or("");
  run.precision_kind = cells
                           .word("precision_kind", {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8",
                                                    "nvfp4", "fp4", "int8"})
                           .value_or("");
  run.workload_kind = cells.word("workload_kind", {"pretrain", "sft", "lora"}).value_or("");
}

void read_shape(Cells& cells, RunCells& run) {
  run.layers = cells.count("layers");
  run.hidden = cells.count("hidden");
  run.ffn = cells.count("ffn_hidden");
  run.heads = cells.count("heads");
  run.kv_heads = cells.count("kv_heads");
  run.head_dim = cells.count("head_dim");
  run.vocab = cells.count("vocab");
  run.parameters = cells.count("n_params");
  run.experts = cells.count("moe_experts");
  run.topk = cells.count("moe_topk");
  run.expert_ffn = cells.count("moe_ffn_hidden");
  run.shared_ffn = cells.count("moe_shared_ffn_hidden");
  run.dense_layers = cells.count("moe_dense_layers");
  run.gated = cells.flag("gated_mlp");
  run.seq = cells.count("seq_len");
}

void read_layout(Cells& cells, RunCells& run) {
  run.devices = cells.count("num_devices");
  run.devices_per_node = cells.count("devices_per_node");
  run.domain_size = cells.count("domain_size");
  run.memory_gb = cells.number("hbm_gb");
  run.nic_gbps_per_device = cells.number("nic_gbps_per_device");
  run.tp = cells.count("tp");
  run.sp = cells.flag("sp");
  run.cp = cells.count("cp");
  run.pp = cells.count("pp");
  run.vpp = cells.count("vpp");
  run.dp = cells.count("dp");
  run.ep = cells.count("ep");
  run.etp = cells.count("etp");
  run.zero = cells.count("zero");
  run.zero_group = cells.count("zero_group");
  run.global_batch = cells.count("global_batch");
  run.micro_batch = cells.number("micro_batch");
  run.grad_accum = cells.number("grad_accum");
  if (run.zero && *run.zero > 3) {
    cells.reject("zero", "not a ZeRO stage", "0, 1, 2, 3, or empty");
  }
}

// Downstream divides by these and multiplies them: each has a range in which that is safe.
void check_ranges(Cells& cells) {
  const auto check = [&cells](std::string_view column, double most) {
    const auto value = cells.number(column);
    if (value && (*value <= 0.0 || *value > most)) {
      cells.reject(column, "out of range", fmt::format("above 0, at most {:g}, or empty", most));
    }
  };
  for (const std::string_view column :
       {"tp", "cp", "pp", "vpp", "dp", "ep", "etp", "devices_per_node", "domain_size", "layers",
        "heads", "kv_heads", "head_dim", "moe_experts", "moe_topk", "zero_group"}) {
    check(column, kMostParts);
  }
  for (const std::string_view column :
       {"hidden", "ffn_hidden", "moe_ffn_hidden", "vocab", "seq_len", "num_devices", "hbm_gb"}) {
    check(column, kMostSize);
  }
  for (const std::string_view column : {"micro_batch", "global_batch", "grad_accum", "step_time_s",
                                        "tokens_per_s_per_device", "tflops_per_device"}) {
    check(column, kMostBatch);
  }
  const auto shared = cells.number("moe_shared_ffn_hidden");
  if (shared && *shared > kMostSize) {
    cells.reject("moe_shared_ffn_hidden", "out of range", "at most 1e9, or empty");
  }
}

}  // namespace

Result<RunCells> read_run_cells(Cells cells) {
  RunCells run;
  read_texts(cells, run);
  read_shape(cells, run);
  read_layout(cells, run);
  run.step_time_s = cells.number("step_time_s");
  run.tokens_per_s_per_device = cells.number("tokens_per_s_per_device");
  run.tflops_per_device = cells.number("tflops_per_device");
  run.mfu_pct = cells.number("mfu_pct");
  run.mem_gib = cells.number("mem_gib");
  run.trust = trust_of(cells);
  check_ranges(cells);
  SEXTANT_CHECK_OK(cells.ok());
  return run;
}

}  // namespace sextant::measured
