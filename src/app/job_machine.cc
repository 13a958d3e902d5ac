#include "app/job_machine.h"

#include <algorithm>
#include <array>

#include "app/comm_models.h"
#include "app/device_models.h"
#include "app/step_models.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cost/comm/torus_time.h"
#include "describe/cluster/torus.h"

namespace sextant::app {
namespace {

using describe::AttentionKernel;
using describe::Job;

// Where flash attention is only the default, Hopper and its successors run cuDNN's kernel.
AttentionKernel attention_kernel(const Job& job, const JobRequest& request) {
  constexpr std::array<std::string_view, 3> kNewer{"hopper", "blackwell", "blackwell-ultra"};
  const bool newer =
      std::find(kNewer.begin(), kNewer.end(), job.cluster.device.generation) != kNewer.end();
  const bool open = job.layout.attention == AttentionKernel::kFlash &&
                    !says(request.layout, "attention", "flash");
  return newer && open ? AttentionKernel::kCudnn : job.layout.attention;
}

void add_input(const std::string& path, const Context& context, InputFiles& inputs) {
  if (const auto text = context.data.read(path)) {
    inputs.emplace_back(context.data.where(path), sha256_hex(*text));
  }
}

void add_comm_inputs(const describe::Cluster& cluster, const Context& context, InputFiles& inputs) {
  CommModels models(context.data);
  const bool tpu = describe::is_torus(cluster);
  const auto known = tpu ? models.between_slices(cluster) : models.of(cluster);
  if (known && !known->link.empty()) {
    add_input("comm/links/" + known->link + ".toml", context, inputs);
  }
  if (known && !known->network.empty()) {
    add_input("comm/networks/" + known->network + ".toml", context, inputs);
  }
}

}  // namespace

void add_once(const std::vector<std::string>& from, std::vector<std::string>& into) {
  for (const std::string& text : from) {
    if (std::find(into.begin(), into.end(), text) == into.end()) {
      into.push_back(text);
    }
  }
}

bool says(std::string_view layout, std::string_view key, std::string_view value) {
  std::string text(layout);
  std::replace(text.begin(), text.end(), ';', ',');
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && trimmed(part.substr(0, equals)) == key &&
        (value.empty() || to_lower(trimmed(part.substr(equals + 1))) == value)) {
      return true;
    }
  }
  return false;
}

Result<Machine> machine_of(const Job& job, const JobRequest& request, const Context& context) {
  const describe::Device& device = job.cluster.device;
  const AttentionKernel kernel = attention_kernel(job, request);
  Machine machine;
  SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(context.data, device));
  machine.device = cost::device_model(facts, device, kernel);
  SEXTANT_TRY(machine.host, describe::host_facts(context.data));
  if (kernel != job.layout.attention) {
    machine.assumed.emplace_back(
        "attention=cudnn (what PyTorch and Transformer Engine pick on this device)");
  }
  add_input("kernels/" + facts.measured_on + ".toml", context, machine.inputs);
  if (facts.scaled) {
    machine.assumed.push_back(scaled_kernels(facts, device));
    add_input("kernels/generations.toml", context, machine.inputs);
  }
  add_input("host.toml", context, machine.inputs);
  machine.assumed.emplace_back(kHostAssumed);
  machine.assumed.emplace_back("a fused optimizer, gradients clipped");
  return machine;
}

Result<StepMachine> step_machine(const Job& job, const JobRequest& request,
                                 const Context& context) {
  SEXTANT_TRY(Machine machine, machine_of(job, request, context));
  Job priced = job;
  priced.layout.attention = attention_kernel(job, request);
  std::vector<std::string> assumed;
  auto model = StepModels(context.data).of(priced, assumed);
  if (!model && job.cluster.devices == 1) {
    // Alone, it sends nothing: no link matters.
    SEXTANT_TRY(const describe::StepFacts facts, describe::step_facts(context.data));
    model = step::StepModel();
    model->device = machine.device;
    model->host = machine.host;
    model->facts = facts;
  }
  if (!model) {
    Error error = model.error();
    error.what += "; compute alone: sextant explain compute";
    return tl::unexpected(std::move(error));
  }
  StepMachine made{std::move(*model),        {}, {}, {}, std::move(machine.assumed),
                   std::move(machine.inputs)};
  if (job.cluster.device.power_limit.kind != describe::SourceKind::kAssumed) {
    SEXTANT_TRY(const describe::DrawFacts power, describe::draw_facts(context.data));
    made.power = step::power_draw(job.cluster.device, power);
    made.assumed.emplace_back(
        "devices draw of their power limit what an H200 draws, computing or waiting");
    add_input("power.toml", context, made.inputs);
  }
  SEXTANT_TRY(made.memory, describe::memory_facts(context.data, job.framework));
  SEXTANT_TRY(made.spreads, describe::step_spreads(context.data));
  add_once(assumed, made.assumed);
  add_input("step.toml", context, made.inputs);
  add_input("step_spread.toml", context, made.inputs);
  add_comm_inputs(job.cluster, context, made.inputs);
  add_input("memory.toml", context, made.inputs);
  return made;
}

explain::Provenance provenance_with(const JobReading& reading, const InputFiles& inputs) {
  explain::Provenance provenance = provenance_of(reading);
  provenance.inputs.insert(provenance.inputs.end(), inputs.begin(), inputs.end());
  return provenance;
}

}  // namespace sextant::app
