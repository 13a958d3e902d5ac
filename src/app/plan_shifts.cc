#include "app/plan_shifts.h"

#include <fmt/format.h>

#include "app/plan_search.h"
#include "describe/comm_facts.h"
#include "explain/plan_words.h"
#include "machine/machine.h"
#include "step/estimate.h"

namespace sextant::app {
namespace {

using explain::PlanShift;

constexpr double kTwice = 2.0;
constexpr double kMore = 1.2;

Seconds step_with(const PlanProblem& of, const describe::Layout& layout,
                  const step::StepModel& model) {
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
Result<step::StepModel> with_device(const PlanProblem& of, const describe::Device& device,
                                    const Context& context) {
  describe::Job job = of.problem.job;
  job.cluster.device = device;
  SEXTANT_TRY(const machine::ComputeMachine machine, machine::compute_machine(job, context.data));
  step::StepModel model = of.problem.machine;
  model.device = machine.device;
  return model;
}

bool is_stopped(const PlanRequest& request) {
  return request.stop != nullptr && request.stop->load();
}

PlanShift searched(std::string what, const search::Problem& problem, const PlanRequest& request,
                   const PlanWishes& wishes) {
  PlanShift shift;
  shift.what = std::move(what);
  const auto plan = fastest_plan(problem, request, wishes);
  if (!plan) {
    shift.why_not = is_stopped(request) ? "stopped before the end"
                                        : "no layout divides the batch and the devices, and fits";
    return shift;
  }
  shift.step = plan->time.step;
  shift.words = explain::layout_words(plan->layout, problem.job.framework);
  return shift;
}

}  // namespace

std::vector<PlanShift> plan_shifts(const PlanProblem& of, const describe::Layout& layout,
                                   const PlanRequest& request, const PlanWishes& wishes,
                                   const Context& context) {
  const describe::Cluster& cluster = of.problem.job.cluster;
  std::vector<PlanShift> shifts;
  if (cluster.devices > 1) {
    shifts.push_back(
        {"scale-up links x 2", step_with(of, layout, faster_links(of.problem.machine)), {}, {}});
  }
  if (of.problem.machine.comm.nic_rate > 0.0 && cluster.domains() > 1) {
    step::StepModel model = of.problem.machine;
    model.comm.nic_rate *= kTwice;
    shifts.push_back({"NIC x 2", step_with(of, layout, model), {}, {}});
  }
  describe::Device device = cluster.device;
  device.memory_bandwidth.value = device.memory_bandwidth.value * kMore;
  if (const auto model = with_device(of, device, context)) {
    shifts.push_back({"memory bandwidth + 20 %", step_with(of, layout, *model), {}, {}});
  }
  if (!is_stopped(request)) {
    search::Problem larger = of.problem;
    larger.job.cluster.device.memory_capacity.value = cluster.device.memory_capacity.value * kMore;
    if (auto& usable = larger.job.cluster.device.memory_usable) {
      usable->value = usable->value * kMore;
    }
    shifts.push_back(searched("memory capacity + 20 %", larger, request, wishes));
  }
  if (!is_stopped(request)) {
    const std::int64_t devices = cluster.devices + cluster.devices_per_node();
    if (const auto grown = with_devices(of, devices, context)) {
      shifts.push_back(searched(fmt::format("one more node ({} devices)", devices), grown->problem,
                                request, wishes));
    }
  }
  return shifts;
}

}  // namespace sextant::app
