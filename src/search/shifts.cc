#include "search/shifts.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "describe/comm_facts.h"
#include "describe/layout/layout_words.h"
#include "machine/machine.h"
#include "search/choices.h"
#include "search/leaf.h"
#include "step/estimate.h"

namespace sextant::search {
namespace {

using describe::Layout;

constexpr double kTwice = 2.0;
constexpr double kMore = 1.2;

Seconds step_with(const Task& of, const describe::Layout& layout, const step::StepModel& model) {
  describe::Job job = of.problem.job;
  job.layout = layout;
  return step::estimate_step(job, model).step;
}

// Rates grow, latencies stay.
step::StepModel faster_links(step::StepModel model) {
  for (std::size_t i = 0; i < describe::kLinkKeys.size(); ++i) {
    if (describe::kLinkKeys[i].unit == describe::CommUnit::kRate) {
      model.comm.link[i] *= kTwice;
    }
  }
  if (model.experts) {
    model.experts->scale_up = model.experts->scale_up * kTwice;
  }
  if (model.torus) {
    model.torus->links.rate = model.torus->links.rate * kTwice;
  }
  return model;
}

// The device with other datasheet values, all else the same.
Result<step::StepModel> with_device(const Task& of, const describe::Device& device,
                                    const describe::DataStore& data) {
  describe::Job job = of.problem.job;
  job.cluster.device = device;
  SEXTANT_TRY(const machine::ComputeMachine machine, machine::compute_machine(job, data));
  step::StepModel model = of.problem.machine;
  model.device = machine.device;
  return model;
}

PlanShift searched(std::string what, const Problem& problem, const Effort& effort,
                   const Layout* known = nullptr) {
  PlanShift shift;
  shift.what = std::move(what);
  const auto plan = fastest_plan(problem, effort, known);
  if (!plan) {
    shift.why_not = effort.stopped() ? "stopped before the end"
                                     : "no layout divides the batch and the devices, and fits";
    return shift;
  }
  shift.step = plan->time.step;
  shift.words = words_of(problem, plan->layout);
  return shift;
}

std::int64_t odd_part(std::int64_t devices) {
  return devices >> std::countr_zero(static_cast<std::uint64_t>(devices));
}

bool divide(const Problem& problem) {
  return problem.job.global_batch % odd_part(problem.job.cluster.devices) == 0;
}

// With a batch that the devices divide.
PlanShift with_near_batch(const std::string& what, const Problem& problem, const Effort& effort) {
  Problem near = problem;
  near.job.global_batch = near_batch(problem.job.global_batch, problem.job.cluster.devices);
  PlanShift shift =
      searched(fmt::format("{}a batch of {}", what, near.job.global_batch), near, effort);
  shift.tokens =
      static_cast<double>(near.job.global_batch) / static_cast<double>(problem.job.global_batch);
  return shift;
}

// As many nodes left idle as make the others divide the batch.
void add_idle_nodes(const Task& task, const Effort& effort, const describe::DataStore& data,
                    std::vector<PlanShift>& shifts) {
  const describe::Cluster& cluster = task.problem.job.cluster;
  const std::int64_t node = cluster.devices_per_node();
  for (std::int64_t devices = cluster.devices - node; devices >= node; devices -= node) {
    if (task.problem.job.global_batch % odd_part(devices) == 0) {
      if (const auto fewer = with_devices(task, devices, data)) {
        const std::int64_t idle = (cluster.devices - devices) / node;
        shifts.push_back(searched(
            fmt::format("{} node{} idle ({} devices)", idle, idle == 1 ? "" : "s", devices),
            fewer->problem, effort));
      }
      return;
    }
  }
}

// Keys of the layout that change no result, and that no search changes, with their other values.
std::vector<std::pair<std::string, Layout>> unsearched(const Task& task, const Layout& layout) {
  std::vector<std::pair<std::string, Layout>> others;
  const auto add = [&](std::string_view key, Layout other) {
    if (!task.problem.is_fixed(key)) {
      others.emplace_back(key, std::move(other));
    }
  };
  const Choices choices = choices_of(task.problem);
  for (const describe::Launch launch :
       {describe::Launch::kEager, describe::Launch::kCompiled, describe::Launch::kCudaGraph}) {
    Layout other = layout;
    other.launch = launch;
    add("compile", other);
  }
  for (const describe::AttentionKernel kernel :
       {describe::AttentionKernel::kFlash, describe::AttentionKernel::kCudnn}) {
    Layout other = layout;
    other.attention = kernel;
    add("attention", other);
  }
  for (const describe::Zero zero : {describe::Zero::kGradients, describe::Zero::kParameters}) {
    if (std::ranges::find(choices.zero, zero) == choices.zero.end()) {
      Layout other = layout;
      other.zero = zero;
      add("zero", other);
    }
  }
  if (std::ranges::find(choices.switches, describe::Overlap::kGradReduce) ==
          choices.switches.end() &&
      !layout.overlaps(describe::Overlap::kGradReduce)) {
    Layout other = layout;
    other.overlap.insert(other.overlap.begin(), describe::Overlap::kGradReduce);
    add("overlap", other);
  }
  describe::Job job = task.problem.job;
  job.layout = layout;
  const std::int64_t ranks = job.dp() * layout.cp;
  for (std::int64_t group = 2; group < ranks && layout.zero != describe::Zero::kNone; group *= 2) {
    Layout other = layout;
    other.zero_group = group;
    add("zero_group", other);
  }
  return others;
}

// The best other value of each of them, where one gains.
void add_switches(const Task& task, const Layout& layout, Seconds step,
                  std::vector<PlanShift>& shifts) {
  constexpr double kWorthALine = 0.002;  // of a step: less is not worth a line
  std::map<std::string, PlanShift> best;
  Leaf leaf(task.problem);
  for (const auto& [key, other] : unsearched(task, layout)) {
    Task stated = task;
    stated.problem.job.stated.insert(key);
    if (other == layout || !broken_rules(stated, other).empty() || !leaf.fits(other)) {
      continue;
    }
    describe::Job job = stated.problem.job;
    job.layout = other;
    const Seconds taken = step::estimate_step(job, task.problem.machine).step;
    const auto known = best.find(key);
    if (taken < step * (1.0 - kWorthALine) && (known == best.end() || taken < known->second.step)) {
      best[key] = {fmt::format("{}={}", key, describe::value_of(other, key)),
                   taken,
                   words_of(task.problem, other),
                   {}};
    }
  }
  for (auto& [key, shift] : best) {
    shifts.push_back(std::move(shift));
  }
}

}  // namespace

std::int64_t near_batch(std::int64_t batch, std::int64_t devices) {
  constexpr std::int64_t kMicrobatches = 4;
  std::int64_t unit = devices;
  while (unit % 2 == 0 && unit * kMicrobatches > batch) {
    unit /= 2;
  }
  return std::max<std::int64_t>((batch + unit / 2) / unit, 1) * unit;
}

std::vector<PlanShift> plan_shifts(const Task& task, const describe::Layout& layout,
                                   const Effort& effort, const describe::DataStore& data) {
  const describe::Cluster& cluster = task.problem.job.cluster;
  std::vector<PlanShift> shifts;
  add_switches(task, layout, step_with(task, layout, task.problem.machine), shifts);
  if (cluster.devices > 1) {
    shifts.push_back({"scale-up links x 2",
                      step_with(task, layout, faster_links(task.problem.machine)),
                      {},
                      {}});
  }
  if (task.problem.machine.comm.nic_rate > 0.0 && cluster.domains() > 1) {
    step::StepModel model = task.problem.machine;
    model.comm.nic_rate *= kTwice;
    shifts.push_back({"NIC x 2", step_with(task, layout, model), {}, {}});
  }
  describe::Device device = cluster.device;
  device.memory_bandwidth.value = device.memory_bandwidth.value * kMore;
  if (const auto model = with_device(task, device, data)) {
    shifts.push_back({"memory bandwidth + 20 %", step_with(task, layout, *model), {}, {}});
  }
  if (!effort.stopped()) {
    Problem larger = task.problem;
    larger.job.cluster.device.memory_capacity.value = cluster.device.memory_capacity.value * kMore;
    if (auto& usable = larger.job.cluster.device.memory_usable) {
      usable->value = usable->value * kMore;
    }
    shifts.push_back(searched("memory capacity + 20 %", larger, effort, &layout));
  }
  if (!effort.stopped()) {
    const std::int64_t devices = cluster.devices + cluster.devices_per_node();
    if (const auto grown = with_devices(task, devices, data)) {
      const std::string what = fmt::format("one more node ({} devices)", devices);
      shifts.push_back(divide(grown->problem)
                           ? searched(what, grown->problem, effort)
                           : with_near_batch(what + ", ", grown->problem, effort));
    }
  }
  if (!effort.stopped() && !divide(task.problem) && !task.problem.is_fixed("dp")) {
    shifts.push_back(with_near_batch("", task.problem, effort));
    add_idle_nodes(task, effort, data, shifts);
  }
  return shifts;
}

}  // namespace sextant::search
