#include "app/diagnosed_run.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/recorded_devices.h"
#include "base/text.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/precision.h"
#include "diagnose/diagnosis.h"
#include "diagnose/scene.h"
#include "machine/machine.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

// What all ranks did, as one.
void add_up(explain::DiagnoseAnswer& answer) {
  for (explain::DiagnosedRank& rank : answer.ranks) {
    answer.totals += rank.totals;
    const auto take = [](auto& from, auto& into) {
      std::ranges::move(from, std::back_inserter(into));
      from.clear();
    };
    take(rank.summary.kernels, answer.kernels);
    take(rank.summary.operators, answer.operators);
    take(rank.summary.collectives, answer.collectives);
    take(rank.summary.ranges, answer.ranges);
    take(rank.summary.signals, answer.signals);
  }
  answer.kernels = metrics::folded(std::move(answer.kernels));
  answer.operators = metrics::folded(std::move(answer.operators));
  answer.collectives = metrics::folded(std::move(answer.collectives));
  answer.ranges = metrics::folded(std::move(answer.ranges));
  answer.signals = metrics::folded(std::move(answer.signals));
}

// The device's peaks of what training multiplies in.
std::optional<explain::DiagnosedPeaks> peaks_of(const describe::Device& device) {
  const std::optional<describe::DType> format = describe::usual_format(device);
  if (!format) {
    return std::nullopt;
  }
  const auto& compute = device.peak(*format);
  if (!compute) {
    return std::nullopt;
  }
  return explain::DiagnosedPeaks{
      .device = device.id,
      .format = std::string(describe::word_of<describe::DType>(describe::kDTypeWords, *format)),
      .peaks = {.compute = compute->value,
                .memory = device.memory_bandwidth.value,
                .on_chip = std::nullopt}};
}

// Of a step: a million times what the largest cluster does in an hour.
constexpr double kMostFlops = 1e30;

Result<std::optional<Flops>> flops_asked(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto flops = to_double(word);
  if (!flops || !(*flops > 0.0) || *flops > kMostFlops) {
    return invalid(fmt::format("'{}' is no number of FLOPs", printable(word)), "‹model-flops›",
                   "a number above 0, such as 4.2e15");
  }
  return Flops(*flops);
}

// Where all ranks have one device that is known.
std::optional<describe::Device> common_device(const KnownDevices& devices) {
  const std::optional<describe::Device>& first = devices.of_rank.front();
  for (const std::optional<describe::Device>& device : devices.of_rank) {
    if (!device || !first || device->id != first->id) {
      return std::nullopt;
    }
  }
  return first;
}

// Which file of ours stands for the devices, and what they can do.
Result<std::optional<describe::Device>> add_device(const metrics::Summary& summary,
                                                   const std::string& device,
                                                   const Context& context,
                                                   explain::DiagnoseAnswer& answer) {
  std::vector<std::string> names;
  for (const metrics::RankSummary& rank : summary.ranks) {
    // A device may be there without that anything ran on it.
    names.push_back(rank.has_device ? rank.device : std::string());
  }
  SEXTANT_TRY(KnownDevices devices, known_devices(names, device, context));
  answer.assumed = std::move(devices.assumed);
  std::optional<describe::Device> common = common_device(devices);
  answer.peaks = common ? peaks_of(*common) : std::nullopt;
  if (answer.peaks) {
    answer.assumed.push_back({"peak", answer.peaks->format,
                              "utilisation and rooflines are of its dense rate",
                              fmt::format("data/devices/{}.toml", answer.peaks->device)});
  }
  return common;
}

metrics::DevicePeaks known_peaks(const explain::DiagnoseAnswer& answer) {
  return answer.peaks ? answer.peaks->peaks : metrics::DevicePeaks{};
}

void add_utilisation(const std::optional<Flops>& model_flops, explain::DiagnoseAnswer& answer) {
  const metrics::DevicePeaks peaks = known_peaks(answer);
  answer.kpis =
      metrics::kpis(answer.totals, answer.operators, answer.collectives, peaks, model_flops);
  answer.rooflines = metrics::top_operators(answer.operators, peaks, answer.operators.size());
}

bool has_kept_steps(const metrics::Summary& summary) {
  return std::ranges::any_of(
      summary.ranks, [](const metrics::RankSummary& rank) { return rank.total().steps > 0; });
}

// The step of the job that was run, beside what was measured.
Result<diagnose::LaidOver> laid_beside(const diagnose::Scene& scene, const JobRequest& request,
                                       const Context& context, explain::DiagnoseAnswer& answer) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    const describe::Violation& first = reading.violations.front();
    return invalid(fmt::format("what was run is not legal: {}: {}", first.rule, first.message),
                   "‹layout›", "the layout that was run");
  }
  SEXTANT_CHECK_OK(step::check_tokens(reading.job));
  SEXTANT_TRY(const machine::StepMachine machine, machine::step_machine(reading.job, context.data));
  for (const auto& input : reading.inputs) {
    answer.provenance.inputs.push_back(input);
  }
  answer.assumed.insert(answer.assumed.end(), reading.job.assumed.begin(),
                        reading.job.assumed.end());
  return diagnose::laid_over(scene, step::recorded_estimate(reading.job, machine));
}

// What the fabric of the cluster should reach, beside what was measured.
Result<diagnose::FabricView> fabric_beside(const diagnose::Scene& scene, const std::string& word,
                                           const Context& context,
                                           explain::DiagnoseAnswer& answer) {
  SEXTANT_TRY(const describe::Cluster cluster, describe::load_cluster(word, context.data));
  for (auto& input : describe::cluster_inputs(cluster, context.data)) {
    if (std::ranges::find(answer.provenance.inputs, input) == answer.provenance.inputs.end()) {
      answer.provenance.inputs.push_back(std::move(input));
    }
  }
  for (const describe::Assumption& one : cluster.assumed) {
    if (std::ranges::find(answer.assumed, one) == answer.assumed.end()) {
      answer.assumed.push_back(one);
    }
  }
  return diagnose::fabric_view(scene, cluster, context.data);
}

Result<explain::FindingsAnswer> findings_of(const metrics::Summary& summary,
                                            const std::optional<describe::Device>& device,
                                            const RunWords& words, const Context& context,
                                            explain::DiagnoseAnswer& answer) {
  explain::FindingsAnswer findings;
  SEXTANT_TRY(findings.book, diagnose::RuleBook::load(context.data));
  diagnose::Scene scene = diagnose::scene_of(
      summary, known_peaks(answer), device ? std::optional(device->usable_memory()) : std::nullopt);
  if (device) {
    SEXTANT_CHECK_OK(diagnose::know_device(*device, context.data, scene));
  }
  if (!words.job.model.empty()) {
    SEXTANT_TRY(findings.laid, laid_beside(scene, words.job, context, answer));
  }
  const std::string& cluster = words.cluster.empty() ? words.job.cluster : words.cluster;
  if (!cluster.empty()) {
    SEXTANT_TRY(findings.fabric, fabric_beside(scene, cluster, context, answer));
  }
  findings.diagnosis = diagnose::diagnosis_of(scene, findings.laid ? &*findings.laid : nullptr,
                                              findings.fabric ? &*findings.fabric : nullptr);
  const std::string& setting = context.settings.at("framework").value;
  const std::string word = words.framework.empty() && setting != "auto" ? setting : words.framework;
  if (!word.empty()) {
    SEXTANT_TRY(const describe::Framework known,
                describe::parse_word<describe::Framework>(describe::kFrameworkWords, word,
                                                          "framework", "‹framework›"));
    findings.framework =
        std::string(describe::word_of<describe::Framework>(describe::kFrameworkWords, known));
  }
  findings.is_jax = std::ranges::any_of(answer.files, [](const explain::DiagnosedFile& file) {
    return file.recorder == timeline::Recorder::kXplane;
  });
  return findings;
}

}  // namespace

Result<explain::DiagnoseAnswer> diagnosed_run(TraceReading& reading, const RunWords& words,
                                              const Context& context) {
  SEXTANT_TRY(const std::optional<Flops> model_flops, flops_asked(words.model_flops));
  explain::DiagnoseAnswer answer;
  answer.provenance = std::move(reading.provenance);
  answer.files = std::move(reading.files);
  answer.unread = std::move(reading.unread);
  metrics::Summary summary;
  for (RankReading& rank : reading.ranks) {
    summary.ranks.push_back(std::move(rank.summary));
  }
  SEXTANT_TRY(const std::optional<describe::Device> device,
              add_device(summary, words.device, context, answer));
  if (has_kept_steps(summary)) {
    SEXTANT_TRY(answer.findings, findings_of(summary, device, words, context, answer));
  }
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    metrics::RankSummary& rank = summary.ranks[i];
    rank.instances = {};
    if (rank.world) {
      answer.world = std::max(answer.world.value_or(0), *rank.world);
    }
    const metrics::RankTotals totals = rank.total();
    answer.ranks.push_back(
        {.summary = std::move(rank), .totals = totals, .is_stated = reading.ranks[i].is_stated});
  }
  add_up(answer);
  add_utilisation(model_flops, answer);
  return answer;
}

}  // namespace sextant::app
