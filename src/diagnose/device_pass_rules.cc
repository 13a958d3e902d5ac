#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "diagnose/device_facts.h"
#include "diagnose/device_rules.h"

namespace sextant::diagnose {
namespace {

using metrics::WorkPart;
using metrics::WorkPass;
using metrics::WorkRow;

// ---- the optimizer's kernels ----

// What an Adam that is one kernel reads and writes of each parameter: parameter, gradient and two
// moments; parameter and moments. Source: pytorch, aten/src/ATen/native/cuda/fused_adam_utils.cuh.
constexpr double kFusedAdamPasses = 7.0;
// Of an update whose states are not told: gradient and parameter; parameter.
constexpr double kLeastPasses = 3.0;
// _foreach_addcdiv_ reads three and writes one, of each parameter once in a step.
constexpr double kAddcdivPasses = 4.0;

bool is_update_operator(const WorkRow& row) {
  return row.pass == WorkPass::kUpdate && row.part == WorkPart::kUpdate;
}
bool is_fused_update(const WorkRow& row) {
  return is_update_operator(row) && row.use == timeline::OperatorUse::kUpdate;
}

// Bytes of all parameters in their format: of the operators that go over each parameter once, what
// the one goes over that goes over most. Nothing where no shapes are known.
Bytes parameter_bytes(const Scene& scene, const WorkSum& update) {
  std::map<std::string, double> by_name;
  std::map<std::string, double> per_step;
  for (const WorkRow* row : update.rows) {
    if (row->inputs.empty()) {
      continue;
    }
    const timeline::Tensor& first = row->inputs.front();
    if (const auto& element = first.element) {
      by_name[row->name] += first.elements() * (timeline::format_of(*element).size / 1_B) *
                            static_cast<double>(row->time.count);
    }
  }
  // addcdiv_ is done once to each parameter; others of an Adam are done to each of its states.
  const auto once = by_name.find("aten::addcdiv_");
  double most = once == by_name.end() ? 0.0 : once->second;
  if (once == by_name.end()) {
    for (const auto& [name, bytes] : by_name) {
      most = most == 0.0 ? bytes : std::min(most, bytes);
    }
  }
  return Bytes(most / static_cast<double>(scene.totals.steps));
}

// What one kernel for all of it would take at least.
std::optional<Seconds> fused_update_time(const Scene& scene, const WorkSum& update) {
  Seconds addcdiv;
  bool is_adam = false;
  for (const WorkRow* row : update.rows) {
    is_adam |= row->name.find("addcdiv") != std::string::npos;
    addcdiv += row->name.starts_with("aten::_foreach_addcdiv")
                   ? of_mean_step(scene, row->time.total_ns)
                   : Seconds();
  }
  const double passes = is_adam ? kFusedAdamPasses : kLeastPasses;
  const Bytes bytes = parameter_bytes(scene, update);
  if (bytes > Bytes()) {
    return at_bandwidth(scene, passes * bytes);
  }
  // Lists of tensors have no shapes: by how long one kernel takes for its passes.
  return addcdiv > Seconds() ? std::optional(addcdiv * (passes / kAddcdivPasses)) : std::nullopt;
}

void add_unfused_optimizer(const Scene& scene, Findings& answer) {
  const WorkSum update = work_sum(scene, is_update_operator);
  const WorkSum fused = work_sum(scene, is_fused_update);
  constexpr double kHalf = 0.5;
  if (update.rows.empty() || fused.time >= kHalf * update.time) {
    return;
  }
  const Seconds whole = update.time + update.idle;
  const auto least = fused_update_time(scene, update);
  if (!least) {
    if (is_worth_a_word(scene, whole)) {
      answer.abstained.push_back({"unfused-optimizer", scene.device ? "shapes" : "device"});
    }
    return;
  }
  const Seconds lost = std::max(Seconds(), whole - *least);
  if (!is_worth_a_word(scene, lost)) {
    return;
  }
  const bool is_foreach = std::ranges::any_of(
      update.rows, [](const WorkRow* row) { return row->name.starts_with("aten::_foreach_"); });
  const Seconds of_idle = std::min(lost, update.idle);
  answer.found.push_back(
      {.rule = "unfused-optimizer",
       .cause = fmt::format(
           "The optimizer updates parameters {} in {:.0f} kernels a step, which take {} and leave "
           "the device idle for {}; one that is fused needs {} at least.",
           is_foreach ? "operation by operation" : "one by one", update.kernels,
           milliseconds(update.time), milliseconds(update.idle), milliseconds(*least)),
       .ranks = {},
       .per_step = lost,
       .parts = {lost - of_idle, Seconds(), Seconds(), of_idle},
       .status = Status::kVerified,
       .evidence = evidence_of(scene, update.rows)});
}

// ---- the forward pass, run again ----

bool is_again(const WorkRow& row) {
  return row.pass == WorkPass::kAgain;
}

struct Room {
  std::optional<Bytes> free;  // of the device, beside the peak
  Bytes at_most;              // that keeping everything would take
};

Room room_of(const Scene& scene, const WorkSum& again) {
  Room room{.free = std::nullopt, .at_most = again.bytes};
  if (scene.device_memory && scene.totals.memory) {
    const Bytes peak = Bytes(static_cast<double>(scene.totals.memory->allocated_bytes));
    room.free = std::max(Bytes(), *scene.device_memory - peak);
  }
  return room;
}

std::string room_text(const Scene& scene, const Room& room) {
  const auto gigabytes = [](Bytes bytes) { return fmt::format("{:.1f} GB", bytes / 1e9_B); };
  if (!room.free) {
    return fmt::format(
        "how much memory is free was not recorded (profile_memory=True), what is kept instead "
        "takes at most {}{}",
        gigabytes(room.at_most),
        scene.device_memory ? fmt::format(" of the device's {}", gigabytes(*scene.device_memory))
                            : std::string());
  }
  return fmt::format("{} of memory stay free, and what is kept instead takes at most {}",
                     gigabytes(*room.free), gigabytes(room.at_most));
}

void add_needless_recompute(const Scene& scene, Findings& answer) {
  const WorkSum again = work_sum(scene, is_again);
  const Seconds lost = again.time + again.idle;
  if (again.rows.empty() || !is_worth_a_word(scene, lost)) {
    return;
  }
  const Room room = room_of(scene, again);
  // Every operator's inputs and results: more than is ever kept. Of elementwise operators what is
  // kept is half of that at most.
  const bool surely = room.free && room.at_most <= *room.free;
  const bool likely = room.free && 0.5 * room.at_most <= *room.free;
  const bool fits_whole =
      !room.free && scene.device_memory && room.at_most <= 0.5 * *scene.device_memory;
  answer.found.push_back(
      {.rule = "needless-recompute",
       .cause = fmt::format(
           "The forward pass is run again for the backward one: {} of compute ({}){}; {}.",
           milliseconds(again.time), percent_of_step(scene, again.time),
           again.idle > Seconds() ? fmt::format(", {} idle before it", milliseconds(again.idle))
                                  : std::string(),
           room_text(scene, room)),
       .ranks = {},
       .per_step = lost,
       .parts = {again.time, Seconds(), Seconds(), again.idle},
       .status = surely                 ? Status::kVerified
                 : likely || fits_whole ? Status::kInferred
                                        : Status::kUnverified,
       .evidence = evidence_of(scene, again.rows),
       // Where not everything may fit, a part of it still does.
       .advice = surely || likely || fits_whole
                     ? std::vector<std::string>{}
                     : std::vector<std::string>{"selective", "fewer-layers"}});
}

}  // namespace

Findings pass_findings(const Scene& scene) {
  Findings answer;
  add_unfused_optimizer(scene, answer);
  add_needless_recompute(scene, answer);
  return answer;
}

}  // namespace sextant::diagnose
