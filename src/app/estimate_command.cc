#include "app/estimate_command.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/device_models.h"
#include "app/sweep.h"
#include "base/file.h"
#include "base/integers.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"

namespace sextant::app {
namespace {

using describe::AttentionKernel;
using describe::Job;

// The device and the host of a job, with what is assumed of them.
struct Machine {
  cost::DeviceModel device;
  describe::HostFacts host;
  std::vector<std::string> assumed;
  std::vector<std::pair<std::string, std::string>> inputs;  // as Provenance's
};

// Does the layout's text give this key, or this key and value?
bool says(std::string_view layout, std::string_view key, std::string_view value = {}) {
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

// Where flash attention is only the default, Hopper and its successors run cuDNN's kernel.
AttentionKernel attention_kernel(const Job& job, const JobRequest& request) {
  constexpr std::array<std::string_view, 3> kNewer{"hopper", "blackwell", "blackwell-ultra"};
  const bool newer =
      std::find(kNewer.begin(), kNewer.end(), job.cluster.device.generation) != kNewer.end();
  const bool open = job.layout.attention == AttentionKernel::kFlash &&
                    !says(request.layout, "attention", "flash");
  return newer && open ? AttentionKernel::kCudnn : job.layout.attention;
}

void add_input(const std::string& path, const Context& context, Machine& machine) {
  if (const auto text = context.data.read(path)) {
    machine.inputs.emplace_back(context.data.where(path), sha256_hex(*text));
  }
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
  add_input("kernels/" + facts.measured_on + ".toml", context, machine);
  if (facts.scaled) {
    machine.assumed.push_back(scaled_kernels(facts, device));
    add_input("kernels/generations.toml", context, machine);
  }
  add_input("host.toml", context, machine);
  machine.assumed.emplace_back(kHostAssumed);
  machine.assumed.emplace_back("a fused optimizer, gradients not clipped");
  return machine;
}

// Beyond it, shapes leave the integers that operators are counted in.
Result<void> check_tokens(const Job& job) {
  constexpr std::int64_t kMostTokens = 1'000'000'000;
  const std::int64_t tokens = saturating_product({job.layout.mbs, job.sequences.length});
  if (tokens > kMostTokens) {
    return invalid(fmt::format("a microbatch of {} tokens", with_thousands(tokens)), "mbs, --seq",
                   fmt::format("at most {}", with_thousands(kMostTokens)));
  }
  return {};
}

// REQUIRES: the job is legal, check_tokens holds.
explain::Estimate estimate_of(const Job& job, const Machine& machine) {
  explain::Estimate estimate;
  estimate.rank = cost::slowest_rank(job, {.device = machine.device, .host = machine.host});
  estimate.parts = cost::time_parts(estimate.rank);
  estimate.use = cost::utilisation(estimate.rank, job);
  return estimate;
}

explain::Provenance provenance_with(const JobReading& reading, const Machine& machine) {
  explain::Provenance provenance = provenance_of(reading);
  provenance.inputs.insert(provenance.inputs.end(), machine.inputs.begin(), machine.inputs.end());
  return provenance;
}

std::vector<std::string> all_assumed(const Job& job, const Machine& machine) {
  std::vector<std::string> assumed = job.assumed;
  assumed.insert(assumed.end(), machine.assumed.begin(), machine.assumed.end());
  return assumed;
}

Result<explain::EstimateAnswer> estimate_answer(const JobReading& reading,
                                                const JobRequest& request, const Context& context) {
  SEXTANT_CHECK_OK(check_tokens(reading.job));
  SEXTANT_TRY(const Machine machine, machine_of(reading.job, request, context));
  explain::EstimateAnswer answer;
  answer.provenance = provenance_with(reading, machine);
  answer.job = reading.job;
  answer.estimate = estimate_of(reading.job, machine);
  answer.assumed = all_assumed(reading.job, machine);
  return answer;
}

// What all points of a sweep share.
struct Scene {
  const Job& base;
  Factor factor;
  bool sp_given;
  const Machine& machine;
};

explain::SweepPoint point_at(const Scene& scene, const SweepValue& value) {
  explain::SweepPoint point;
  point.value = to_text(value);
  point.global_batch = scene.base.global_batch;
  const Result<Job> job = job_at(scene.base, scene.factor, value, scene.sp_given);
  if (!job) {
    point.reasons.push_back(sextant::to_text(job.error()));
    return point;
  }
  point.global_batch = job->global_batch;
  for (const describe::Violation& violation : describe::check_rules(*job)) {
    point.reasons.push_back(fmt::format("{}: {}", violation.rule, violation.message));
  }
  if (const auto tokens = check_tokens(*job); !tokens) {
    point.reasons.push_back(sextant::to_text(tokens.error()));
  }
  if (point.reasons.empty()) {
    point.estimate = estimate_of(*job, scene.machine);
  }
  return point;
}

Result<std::vector<std::string>> write_plot(const explain::SweepAnswer& answer,
                                            const std::string& file) {
  if (file.empty()) {
    return std::vector<std::string>();
  }
  const Job& job = answer.job;
  const std::string title = fmt::format("{} on {}{}{}: {} varied", job.model.name, job.cluster.name,
                                        describe::to_text(job.layout).empty() ? "" : ", ",
                                        describe::to_text(job.layout), answer.factor);
  auto image = explain::to_image(explain::to_drawing(answer, title), file);
  if (!image) {
    image.error().where = "--plot";
    return tl::unexpected(image.error());
  }
  SEXTANT_CHECK_OK(write_file(file, *image));
  return std::vector<std::string>{fmt::format("plot written to {}", file)};
}

Result<Output> show_sweep(const JobReading& reading, const EstimateRequest& request,
                          const Context& context) {
  SEXTANT_TRY(const explain::SweepAnswer answer,
              sweep_answer(reading, request.job, request.sweep, context));
  SEXTANT_TRY(std::vector<std::string> notes, write_plot(answer, request.plot_file));
  const bool any =
      std::any_of(answer.points.begin(), answer.points.end(),
                  [](const explain::SweepPoint& point) { return point.estimate.has_value(); });
  return Output{.text = explain::to_text(answer, context.style),
                .notes = std::move(notes),
                .exit_code = any ? kExitFine : kExitNo};
}

}  // namespace

Result<explain::SweepAnswer> sweep_answer(const JobReading& reading, const JobRequest& request,
                                          std::string_view sweep, const Context& context) {
  SEXTANT_TRY(const Sweep asked, parse_sweep(sweep));
  SEXTANT_TRY(const Machine machine, machine_of(reading.job, request, context));
  explain::SweepAnswer answer;
  answer.provenance = provenance_with(reading, machine);
  answer.job = reading.job;
  answer.factor = describe::word_of<Factor>(kFactorWords, asked.factor);
  answer.ordered = asked.factor != Factor::kPrecision;
  answer.held = held_text(reading.job, asked.factor);
  const Scene scene{reading.job, asked.factor, says(request.layout, "sp"), machine};
  for (const SweepValue& value : asked.values) {
    answer.points.push_back(point_at(scene, value));
  }
  answer.assumed = all_assumed(reading.job, machine);
  return answer;
}

Result<Output> show_estimate(const EstimateRequest& request, const Context& context) {
  if (request.sweep.empty() && !request.plot_file.empty()) {
    return invalid("there is nothing to plot without --sweep", "--plot",
                   "--sweep mbs, seq, tp, hidden or precision");
  }
  SEXTANT_TRY(const JobReading reading, read_job(request.job, context));
  if (!request.sweep.empty()) {
    SEXTANT_CHECK_OK(parse_sweep(request.sweep));
  }
  if (!reading.violations.empty()) {
    return not_legal(reading, "estimate", context);
  }
  if (!request.sweep.empty()) {
    return show_sweep(reading, request, context);
  }
  SEXTANT_TRY(const explain::EstimateAnswer answer, estimate_answer(reading, request.job, context));
  return Output{
      .text = explain::to_text(answer, context.style), .notes = {}, .exit_code = kExitFine};
}

Result<Output> explain_compute(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return not_legal(reading, "explain", context);
  }
  SEXTANT_TRY(const explain::EstimateAnswer answer, estimate_answer(reading, request, context));
  return Output{
      .text = explain::to_text(explain::compute_tree(answer), answer.provenance, context.style),
      .notes = {},
      .exit_code = kExitFine};
}

}  // namespace sextant::app
