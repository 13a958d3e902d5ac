#include "emit/measured_row.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "base/units.h"

namespace sextant::emit {
namespace {

using describe::Job;
using describe::Layout;
using describe::Overlap;

using Cell = std::pair<std::string_view, std::string>;
using Row = std::vector<Cell>;

// A size that is not there is an empty cell.
std::string count_cell(std::int64_t number) {
  return number > 0 ? std::to_string(number) : "";
}
std::string number_cell(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

// The sizes of the model that such a table has columns for: those of its last layer's block, which
// has the experts where there are any.
void add_model(Row& row, const describe::Model& model) {
  describe::Attention attention;
  describe::DenseFfn dense;
  describe::MoeFfn experts;
  std::int64_t dense_layers = 0;
  for (const int layer : model.layers) {
    const describe::Block& block = model.blocks.at(static_cast<std::size_t>(layer));
    if (const auto* found = std::get_if<describe::Attention>(&block.mixer)) {
      attention = *found;
    }
    if (const auto* found = std::get_if<describe::DenseFfn>(&block.ffn)) {
      dense = *found;
      ++dense_layers;
    }
    if (const auto* found = std::get_if<describe::MoeFfn>(&block.ffn)) {
      experts = *found;
    }
  }
  const bool moe = experts.experts > 0;
  row.insert(row.end(), {{"model", model.name},
                         {"layers", count_cell(model.layer_count())},
                         {"hidden", count_cell(model.hidden)},
                         {"ffn_hidden", count_cell(dense.width)},
                         {"heads", count_cell(attention.heads)},
                         {"kv_heads", count_cell(attention.kv_heads)},
                         {"head_dim", count_cell(attention.head_dim)},
                         {"vocab", count_cell(model.vocab)},
                         {"moe_experts", count_cell(experts.experts)},
                         {"moe_topk", count_cell(experts.topk)},
                         {"moe_ffn_hidden", count_cell(experts.width)},
                         {"moe_shared_ffn_hidden", count_cell(experts.shared_width)},
                         {"moe_dense_layers", moe ? std::to_string(dense_layers) : ""},
                         {"gated_mlp", (moe ? experts.gated : dense.gated) ? "1" : "0"}});
}

void add_cluster(Row& row, const describe::Cluster& cluster) {
  const std::optional<BytesPerSecond> network = cluster.network_per_device();
  row.insert(row.end(), {{"num_devices", count_cell(cluster.devices)},
                         {"devices_per_node", count_cell(cluster.system.devices_per_node.value)},
                         {"device", cluster.device.id},
                         {"fabric", cluster.fabric.id},
                         {"nic_gbps_per_device", network ? number_cell(*network / 1_Gbitps) : ""},
                         {"domain_size", count_cell(cluster.system.domain_size.value)}});
}

// Settings without a column, in the words that a table's `flags` have.
std::string flags_cell(const Layout& layout) {
  std::string flags;
  constexpr std::array<std::pair<Overlap, std::string_view>, 4> kOverlaps{
      {{Overlap::kGradReduce, "OVERLAP_GRAD_REDUCE"},
       {Overlap::kParamGather, "OVERLAP_PARAM_GATHER"},
       {Overlap::kTensorParallel, "TP_COMM_OVERLAP"},
       {Overlap::kExpert, "moe_a2a_overlap"}}};
  for (const auto& [overlap, word] : kOverlaps) {
    flags += fmt::format("{}={}; ", word, layout.overlaps(overlap) ? 1 : 0);
  }
  if (layout.cp_method == describe::CpMethod::kAllToAll) {
    flags += "cp_comm_type=a2a; ";
  }
  return flags + fmt::format("schedule {}", describe::word_of<describe::Schedule>(
                                                describe::kScheduleWords, layout.schedule));
}

void add_layout(Row& row, const Job& job) {
  const Layout& layout = job.layout;
  row.insert(row.end(),
             {{"tp", count_cell(layout.tp)},
              {"sp", layout.sp ? "1" : "0"},
              {"cp", count_cell(layout.cp)},
              {"pp", count_cell(layout.pp)},
              {"vpp", count_cell(layout.vpp)},
              {"dp", count_cell(layout.dp)},
              {"ep", count_cell(layout.ep)},
              {"etp", count_cell(layout.etp)},
              {"zero", std::to_string(static_cast<int>(layout.zero))},
              {"zero_group", count_cell(layout.zero_group)},
              {"micro_batch", count_cell(layout.mbs)},
              {"seq_len", count_cell(job.sequences.length)},
              {"global_batch", count_cell(job.global_batch)},
              {"recompute_kind", std::string(describe::word_of<describe::Recompute>(
                                     describe::kRecomputeWords, layout.recompute.granularity))},
              {"precision_kind", std::string(describe::word_of<describe::Precision>(
                                     describe::kPrecisionWords, layout.precision))},
              {"workload_kind", std::string(describe::word_of<describe::Workload>(
                                    describe::kWorkloadWords, job.workload))},
              {"framework", std::string(describe::word_of<describe::Framework>(
                                describe::kFrameworkWords, job.framework))},
              {"flags", flags_cell(layout)}});
}

void add_measurement(Row& row, const MeasuredRun& run) {
  const bool reserved = run.max_reserved.has_value();
  const std::optional<Bytes> memory = reserved ? run.max_reserved : run.max_allocated;
  row.insert(row.end(), {{"step_time_s", run.step ? number_cell(*run.step / 1_s) : ""},
                         {"tokens_per_s_per_device", number_cell(run.tokens_per_second_per_device)},
                         {"tflops_per_device", number_cell(run.tflops_per_device)},
                         {"flops_convention", ""},
                         {"mem_gib", memory ? number_cell(*memory / 1_GiB) : ""},
                         {"mem_kind", !memory ? "" : (reserved ? "max reserved" : "max allocated")},
                         {"trust", "A"},
                         {"notes", fmt::format("{}", fmt::join(run.notes, "; "))}});
}

Row row_of(const Job& job, const MeasuredRun& run, std::string_view id) {
  Row row{{"id", std::string(id)}};
  add_model(row, job.model);
  add_cluster(row, job.cluster);
  add_layout(row, job);
  add_measurement(row, run);
  return row;
}

}  // namespace

std::string row_header() {
  std::vector<std::string> names;
  for (const Cell& cell : row_of({}, {}, "")) {
    names.emplace_back(cell.first);
  }
  return join(names, ",") + "\n";
}

std::string measured_row(const Job& job, const MeasuredRun& run, std::string_view id) {
  std::vector<std::string> fields;
  for (const Cell& cell : row_of(job, run, id)) {
    fields.push_back(csv_field(cell.second));
  }
  return join(fields, ",") + "\n";
}

}  // namespace sextant::emit
