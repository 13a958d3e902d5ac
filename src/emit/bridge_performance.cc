// Flags of Megatron-Bridge's performance scripts as its overrides.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/other_words.h"

namespace sextant::emit {
namespace {

struct PerformanceFlag {
  std::string_view flag;
  std::string_view in_short;
  std::string_view key;
};
constexpr std::array kPerformanceFlags{
    PerformanceFlag{"tensor_model_parallel_size", "tp", "model.tensor_model_parallel_size"},
    PerformanceFlag{"pipeline_model_parallel_size", "pp", "model.pipeline_model_parallel_size"},
    PerformanceFlag{"context_parallel_size", "cp", "model.context_parallel_size"},
    PerformanceFlag{"virtual_pipeline_model_parallel_size", "vp",
                    "model.virtual_pipeline_model_parallel_size"},
    PerformanceFlag{"expert_model_parallel_size", "ep", "model.expert_model_parallel_size"},
    PerformanceFlag{"expert_tensor_parallel_size", "et", "model.expert_tensor_parallel_size"},
    PerformanceFlag{"global_batch_size", "gb", "train.global_batch_size"},
    PerformanceFlag{"micro_batch_size", "mb", "train.micro_batch_size"},
    PerformanceFlag{"seq_length", "sl", "model.seq_length"},
    PerformanceFlag{"hidden_size", "", "model.hidden_size"},
    PerformanceFlag{"num_layers", "", "model.num_layers"},
    PerformanceFlag{"pipeline_model_parallel_layout", "", "model.pipeline_model_parallel_layout"},
    PerformanceFlag{"recompute_num_layers", "rl", "model.recompute_num_layers"},
    PerformanceFlag{"recompute_modules", "", "model.recompute_modules"},
    PerformanceFlag{"use_megatron_fsdp", "", "ddp.use_megatron_fsdp"},
    PerformanceFlag{"cuda_graph_impl", "", "model.cuda_graph_impl"},
    PerformanceFlag{"moe_a2a_overlap", "", "comm_overlap.overlap_moe_expert_parallel_comm"},
    PerformanceFlag{"compute_dtype", "c", "mixed_precision"},
    PerformanceFlag{"num_gpus", "ng", "devices"},
    PerformanceFlag{"gpus_per_node", "gn", "devices_per_node"},
    PerformanceFlag{"gpu", "g", "device"},
    PerformanceFlag{"model_recipe_name", "mr", "performance_recipe"}};

// The formats of --compute_dtype, as the recipes of each name set them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPerformanceFormats{
    {{"bf16", "bf16_mixed"},
     {"fp8_cs", "bf16_with_fp8_current_scaling_mixed"},
     {"fp8_mx", "bf16_with_mxfp8_mixed"},
     {"fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed"},
     {"nvfp4", "bf16_with_nvfp4_mixed"}}};

void add_performance(const PerformanceFlag& row, const Setting& setting, Settings& made) {
  std::string value = setting.values.size() == 1 ? setting.values.front() : std::string();
  Setting one{std::string(row.key), setting.values, setting.place};
  if (is_one_of(row.key, {"devices", "devices_per_node", "device"})) {
    if (find(made.launch, row.key) == nullptr) {
      made.launch.push_back(std::move(one));
    }
    return;
  }
  if (row.key == "mixed_precision") {
    const auto* const format =
        std::ranges::find(kPerformanceFormats, std::string_view(value),
                          &std::pair<std::string_view, std::string_view>::first);
    if (format == kPerformanceFormats.end()) {
      made.unresolved.push_back({"--compute_dtype " + printable(value, 40),
                                 "which recipe of that format is meant is not known", setting.place,
                                 "mixed_precision"});
      return;
    }
    one.values = {std::string(format->second)};
  }
  const bool chunks = row.key == "model.virtual_pipeline_model_parallel_size";
  if (chunks && to_lower(value) == "none") {
    one.values = {"1"};
  }
  if (row.key == "model.recompute_modules" || row.key == "model.recompute_num_layers") {
    const bool modules = row.key == "model.recompute_modules";
    Place place = setting.place;
    place.length = 0;
    made.given.push_back({"model.recompute_granularity", {modules ? "selective" : "full"}, place});
    if (!modules) {
      made.given.push_back({"model.recompute_method", {"block"}, place});
    }
    one.values.clear();
    for (const std::string_view part : split(value, ',')) {
      one.values.emplace_back(part);
    }
  }
  made.given.push_back(std::move(one));
}

}  // namespace

Settings bridge_of_performance(const Settings& settings) {
  Settings made = settings;
  made.given.clear();
  for (const Setting& setting : settings.given) {
    const auto* const row =
        std::ranges::find_if(kPerformanceFlags, [&](const PerformanceFlag& each) {
          return each.flag == setting.key || each.in_short == setting.key;
        });
    if (row != kPerformanceFlags.end() && !setting.values.empty() &&
        setting.values.front() != "true") {
      add_performance(*row, setting, made);
    } else if (row != kPerformanceFlags.end() && row->key == "ddp.use_megatron_fsdp") {
      made.given.push_back({std::string(row->key), {"true"}, setting.place});
    }
  }
  for (Unresolved& one : made.unresolved) {
    const auto* const row =
        std::ranges::find_if(kPerformanceFlags, [&](const PerformanceFlag& each) {
          return each.flag == one.key || each.in_short == one.key;
        });
    one.key = row == kPerformanceFlags.end() ? one.key : std::string(row->key);
  }
  const Setting* devices = find(made.launch, "devices");
  const Setting* each = find(made.launch, "devices_per_node");
  if (devices != nullptr && each != nullptr && find(made.launch, "nodes") == nullptr) {
    const auto count = to_integer(devices->values.front());
    const auto a_node = to_integer(each->values.front());
    if (count && a_node && *a_node > 0 && *count % *a_node == 0) {
      made.launch.push_back({"nodes", {std::to_string(*count / *a_node)}, devices->place});
    }
  }
  return made;
}

}  // namespace sextant::emit
