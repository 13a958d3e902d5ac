#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/model/parameters.h"
#include "emit/canonical.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::Job;
using describe::Layout;

std::optional<std::int64_t> launch_number(const std::vector<Setting>& launch,
                                          std::string_view key) {
  const Setting* setting = find(launch, key);
  if (setting == nullptr || setting->values.empty()) {
    return std::nullopt;
  }
  const auto value = to_integer(setting->values.back());
  return value && *value >= 1 && *value <= describe::kMostDevices ? value : std::nullopt;
}

void read_devices(ArgumentReader& in, const Settings& settings, Reading& reading) {
  reading.devices_per_node = launch_number(settings.launch, "devices_per_node");
  reading.devices = launch_number(settings.launch, "devices");
  const auto nodes = launch_number(settings.launch, "nodes");
  if (!reading.devices && nodes && reading.devices_per_node) {
    reading.devices = saturating_product({*nodes, *reading.devices_per_node});
  }
  in.field("devices");
  if (!reading.devices) {
    reading.devices = in.number("world_size", 1, describe::kMostDevices);
  }
  for (const auto* const key : {"devices", "nodes", "devices_per_node"}) {
    const Setting* setting = find(settings.launch, key);
    if (setting != nullptr && reading.devices) {
      reading.facts.push_back({"devices", std::to_string(*reading.devices),
                               fmt::format("{} {}", key, setting->values.back()), setting->place});
    }
  }
}

// A recipe's model comes before; sizes given beside it make a model of their own.
void read_whole_model(ArgumentReader& in, const describe::DataStore& data, Reading& reading) {
  std::optional<describe::Model> model = read_model(in);
  if (!model) {
    if (!reading.model) {
      reading.unresolved.push_back(
          {"model", "its layers, hidden size and attention heads are not all given", {}});
    }
    return;
  }
  if (auto known = catalogue_model(*model, data)) {
    if (model->vocab == 0) {
      known->assumed.push_back({"vocab",
                                std::to_string(known->vocab),
                                fmt::format("of {}, which has the file's sizes; the tokenizer is "
                                            "not read",
                                            known->name),
                                {}});
    }
    reading.model = std::move(known);
    return;
  }
  if (model->vocab == 0) {
    reading.unresolved.push_back(
        {"vocab_size", "the vocabulary is the tokenizer's, which is not read", {}});
  }
  reading.model = std::move(model);
}

void read_batch(ArgumentReader& in, Reading& reading) {
  in.field("seq");
  reading.sequence = in.number("seq_length");
  if (!reading.sequence) {
    reading.sequence = in.number("dataset_seq_length");
  }
  in.field("gbs");
  reading.global_batch = in.number("global_batch_size");
  // Without a global batch Megatron-LM runs one microbatch a replica.
  if (!reading.global_batch && in.program() == Megatron::kLm && reading.layout.dp > 0) {
    reading.global_batch = saturating_product({reading.layout.mbs, reading.layout.dp});
  }
}

// `vocab_said`: as it is said; a tokenizer may add to it.
void name_values(Reading& reading, std::optional<std::int64_t> vocab_said) {
  const auto text = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string();
  };
  const auto values = describe::layout_values(reading.layout);
  for (Fact& fact : reading.facts) {
    if (!fact.value.empty()) {
      continue;
    }
    if (fact.field == "seq") {
      fact.value = text(reading.sequence);
    } else if (fact.field == "gbs") {
      fact.value = text(reading.global_batch);
    } else if (fact.field == "devices") {
      fact.value = text(reading.devices);
    } else if (fact.field == "model" || fact.field == "vocab") {
      const bool vocab = fact.field == "vocab";
      fact.value = !reading.model ? std::string()
                   : vocab        ? std::to_string(vocab_said.value_or(reading.model->vocab))
                                  : reading.model->name;
    } else {
      const auto found = std::find_if(values.begin(), values.end(),
                                      [&](const auto& pair) { return pair.first == fact.field; });
      fact.value = found == values.end() ? std::string() : found->second;
    }
  }
}

// Why Megatron has no words for a value.
std::string why_not(std::string_view field, Megatron program) {
  struct Why {
    std::string_view field;
    std::string_view why;
  };
  static constexpr std::array kWhys{
      Why{"schedule", "Megatron runs 1F1B, interleaved where a rank holds several chunks"},
      Why{"order", "Megatron has tp-cp-ep-dp-pp and, by a switch, tp-cp-ep-pp-dp"},
      Why{"reshard", "Megatron-FSDP always frees parameters after the forward pass"},
      Why{"recompute", "Megatron recomputes whole layers or the modules it has names for"},
      Why{"precision", "there is no switch for products in this format"},
      Why{"parameters", "Megatron keeps parameters in the compute format, or in fp8"},
      Why{"gradients", "gradients are kept in fp32 or in the compute format"},
      Why{"optimizer",
          "Megatron has Adam, SGD and Muon with an fp32 or fp16 master; other formats of states "
          "and offload need the distributed optimizer"},
      Why{"attention", "no attention backend of that name"},
      Why{"compile", "kernels are issued one by one or as CUDA graphs"},
      Why{"overlap",
          "ring exchange of context parallelism is always overlapped and other exchange never is; "
          "pipeline sends overlap only under the interleaved schedule"}};
  if (field == "loss") {
    return program == Megatron::kLm
               ? "Megatron-LM trains with its plain or its fused cross entropy only"
               : "there is no chunked cross entropy";
  }
  const auto* const found =
      std::find_if(kWhys.begin(), kWhys.end(), [&](const Why& one) { return one.field == field; });
  return found == kWhys.end() ? "Megatron has no words for this value" : std::string(found->why);
}

}  // namespace

Arguments write_arguments(const Job& job, Megatron program) {
  ArgumentWriter out(program);
  write_axes(job, out);
  out.number("global_batch_size", job.global_batch);
  out.number("seq_length", job.sequences.length);
  if (program == Megatron::kBridge) {
    out.number("dataset_seq_length", job.sequences.length);
  }
  write_kernels(job, out);
  write_formats(job.layout, out);
  write_model(job, out);
  return out.arguments();
}

void read_arguments(ArgumentReader& in, const Settings& settings, const describe::DataStore& data,
                    Reading& reading) {
  read_devices(in, settings, reading);
  read_whole_model(in, data, reading);
  read_axes(in, reading);
  read_formats(in, reading.layout);
  const bool experts =
      in.has("num_experts") || (reading.model && describe::has_experts(*reading.model));
  read_kernels(in, experts, reading);
  read_batch(in, reading);
  in.field("vocab");
  const bool said = std::any_of(reading.facts.begin(), reading.facts.end(),
                                [](const Fact& fact) { return fact.field == "vocab"; });
  name_values(reading, said ? in.number("vocab_size") : std::nullopt);
}

std::vector<Inexpressible> left_out(const Job& job, const Arguments& arguments, Megatron program) {
  Reading back;
  Arguments plain = arguments;
  for (Argument& argument : plain) {
    argument.values = plain_values(argument.values);
  }
  ArgumentReader in(program, plain, back);
  back.devices = job.cluster.devices;
  back.model = job.model;
  read_axes(in, back);
  read_formats(in, back.layout);
  read_kernels(in, describe::has_experts(job.model), back);
  const Layout wanted = canonical_layout(job);
  std::vector<Inexpressible> missing;
  const auto asked = describe::layout_values(wanted);
  const auto said = describe::layout_values(back.layout);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& [key, value] = asked[i];
    if (value != said[i].second) {
      missing.push_back({std::string(key), value, why_not(key, program)});
    }
  }
  const auto model = read_model(in);
  const bool countable = describe::check_size(job.model).has_value();
  if (!model || !countable || !same_shape(*model, job.model)) {
    missing.push_back({"model", job.model.name,
                       "Megatron's model arguments describe decoders of one kind of attention"});
  }
  if (job.sequences.kind != describe::Sequences::Kind::kFixed) {
    missing.push_back({"seq", "packed", "how documents are packed is the data's business"});
  }
  if (job.workload == describe::Workload::kLora || job.workload == describe::Workload::kForward) {
    missing.push_back({"workload", job.workload == describe::Workload::kLora ? "lora" : "forward",
                       "only whole training is written"});
  }
  return missing;
}

std::vector<Setting> launch_settings(const describe::Cluster& cluster) {
  const std::int64_t each =
      std::max<std::int64_t>(std::min(cluster.devices_per_node(), cluster.devices), 1);
  return {{"nodes", {std::to_string((cluster.devices + each - 1) / each)}, {}},
          {"devices_per_node", {std::to_string(each)}, {}},
          {"devices", {std::to_string(cluster.devices)}, {}}};
}

std::vector<Setting> megatron_environment(const Job& job) {
  const Layout& layout = job.layout;
  const bool fsdp =
      layout.zero == describe::Zero::kGradients || layout.zero == describe::Zero::kParameters;
  // Source: Megatron-LM d98e8a64, arguments.py (connections), and Megatron-Bridge's performance
  // recipes (the others).
  std::string connections = "8";
  if (layout.overlaps(describe::Overlap::kExpert)) {
    connections = "32";
  } else if (!fsdp && (layout.tp > 1 || layout.cp > 1) &&
             job.cluster.device.generation != "blackwell") {
    connections = "1";
  }
  std::vector<Setting> variables{{"CUDA_DEVICE_MAX_CONNECTIONS", {connections}, {}},
                                 {"TORCH_NCCL_AVOID_RECORD_STREAMS", {"1"}, {}},
                                 {"NVTE_FWD_LAYERNORM_SM_MARGIN", {"16"}, {}},
                                 {"NVTE_BWD_LAYERNORM_SM_MARGIN", {"16"}, {}},
                                 {"PYTORCH_CUDA_ALLOC_CONF", {"expandable_segments:True"}, {}}};
  if (layout.launch == describe::Launch::kCudaGraph) {
    variables.push_back({"NCCL_GRAPH_REGISTER", {"0"}, {}});
  }
  if (layout.activation_offload) {
    variables.push_back({"NVTE_CPU_OFFLOAD_V1", {"1"}, {}});
  }
  return variables;
}

}  // namespace sextant::emit
