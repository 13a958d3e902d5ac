#include "search/task.h"

#include <fmt/format.h>

#include "describe/cluster/torus.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"
#include "describe/layout/mesh.h"

namespace sextant::search {

Result<void> renew_machine(Task& task, const describe::DataStore& data) {
  SEXTANT_TRY(task.machine, machine::step_machine(task.problem.job, data));
  task.problem.machine = task.machine.model;
  task.problem.memory = task.machine.memory;
  return {};
}

Result<Task> with_devices(const Task& task, std::int64_t devices, const describe::DataStore& data) {
  Task made = task;
  describe::Cluster& cluster = made.problem.job.cluster;
  if (describe::is_torus(cluster)) {
    return invalid("slices of TPUs come in fixed shapes", "‹on›", "clusters of GPUs");
  }
  cluster.name = fmt::format("{} devices like {}", devices, cluster.name);
  cluster.devices = devices;
  SEXTANT_CHECK_OK(renew_machine(made, data));
  return made;
}

std::vector<describe::Violation> broken_rules(const Task& task, const describe::Layout& layout) {
  describe::Job job = task.problem.job;
  job.layout = layout;
  return describe::refusals(job);
}

std::string words_of(const Problem& problem, describe::Layout layout) {
  const describe::Layout plain;
  if (layout.cp == 1) {
    layout.cp_method = plain.cp_method;
  }
  if (layout.ep == 1) {
    layout.dispatcher = plain.dispatcher;
  }
  return describe::layout_words(layout, problem.job.framework, problem.job.cluster.device);
}

PlanRow plan_row(const Task& task, const describe::Layout& layout) {
  describe::Job job = task.problem.job;
  job.layout = layout;
  PlanRow row;
  row.layout = layout;
  row.dp = job.dp();
  row.words = words_of(task.problem, layout);
  if (job.framework == describe::Framework::kMaxtext) {
    row.mesh = describe::to_text(describe::mesh_of(job));
  }
  row.result = step::whole_estimate(job, task.machine);
  return row;
}

}  // namespace sextant::search
