// One line of a runs table with its types, before any interpretation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "measured/cells.h"
#include "measured/row.h"

namespace sextant::measured {

using Count = std::optional<std::int64_t>;  // nothing: not stated
// A count that is known to be stated.
inline std::int64_t stated(const Count& count) {
  return count.value_or(1);
}

// Views point into the table. Normalised columns carry their closed sets as checked text.
struct RunCells {
  std::string id;
  std::string_view source, date, model, arch, hardware, interconnect, framework, attention, flags,
      notes;
  std::string_view precision_text, recompute_text, memory_kind, flops_convention;
  // Normalised: "" where not stated.
  std::string_view device, fabric, recompute_kind, precision_kind, workload_kind;

  Count layers, hidden, ffn, heads, kv_heads, head_dim, vocab, parameters;
  Count experts, topk, expert_ffn, shared_ffn, dense_layers;
  std::optional<bool> gated;
  Count seq, devices, devices_per_node, domain_size;
  std::optional<double> memory_gb, nic_gbps_per_device;

  Count tp, cp, pp, vpp, dp, ep, etp, zero, zero_group, global_batch;
  std::optional<bool> sp;
  std::optional<double> micro_batch, grad_accum;  // fractions of a sequence a chip exist on TPUs

  std::optional<double> step_time_s, tokens_per_s_per_device, tflops_per_device, mfu_pct, mem_gib;
  Trust trust = Trust::kB;
};

// A malformed cell, or a word outside a normalised column's set, is an Error at file:line. The
// device and the fabric are open sets, checked against data/ later.
Result<RunCells> read_run_cells(Cells cells);

}  // namespace sextant::measured
