#include "search/shifts.h"

#include <fmt/format.h>

#include "describe/comm_facts.h"
#include "describe/layout/layout_words.h"
#include "machine/machine.h"
#include "step/estimate.h"

namespace sextant::search {
namespace {

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

PlanShift searched(std::string what, const Problem& problem, const Effort& effort) {
  PlanShift shift;
  shift.what = std::move(what);
  const auto plan = fastest_plan(problem, effort);
  if (!plan) {
    shift.why_not = effort.stopped() ? "stopped before the end"
                                     : "no layout divides the batch and the devices, and fits";
    return shift;
  }
  shift.step = plan->time.step;
  shift.words =
      describe::layout_words(plan->layout, problem.job.framework, problem.job.cluster.device);
  return shift;
}

}  // namespace

std::vector<PlanShift> plan_shifts(const Task& task, const describe::Layout& layout,
                                   const Effort& effort, const describe::DataStore& data) {
  const describe::Cluster& cluster = task.problem.job.cluster;
  std::vector<PlanShift> shifts;
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
    shifts.push_back(searched("memory capacity + 20 %", larger, effort));
  }
  if (!effort.stopped()) {
    const std::int64_t devices = cluster.devices + cluster.devices_per_node();
    if (const auto grown = with_devices(task, devices, data)) {
      shifts.push_back(
          searched(fmt::format("one more node ({} devices)", devices), grown->problem, effort));
    }
  }
  return shifts;
}

}  // namespace sextant::search
