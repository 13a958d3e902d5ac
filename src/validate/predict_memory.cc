#include "validate/predict_memory.h"

#include "cost/memory/fit.h"
#include "cost/memory/memory.h"
#include "describe/layout/rules.h"

namespace sextant::validate {
namespace {

using cost::MemoryMoment;
using cost::RankMemory;
using measured::Answer;
using measured::MemoryKind;
using measured::Prediction;
using measured::Refusal;

Bytes of_kind(const RankMemory& memory, MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kReserved:
      return memory.reserved;
    case MemoryKind::kDevice:
      return memory.device;
    case MemoryKind::kAllocated:
    case MemoryKind::kUnknown:
      break;
  }
  return memory.allocated;
}

Answer quantity_of(const std::string& quantity, const RankMemory& memory, Bytes usable) {
  const auto gib = [](Bytes bytes) { return Prediction{bytes / 1_GiB, std::nullopt, {}}; };
  if (quantity == "fits") {
    return Prediction{cost::fit_odds(memory, usable), std::nullopt, {}};
  }
  if (quantity == "state_gib") {
    return gib(memory.at(MemoryMoment::kIdle).total());
  }
  if (quantity == "after_forward_gib") {
    return gib(memory.after_forward.total());
  }
  if (quantity == "peak_gib") {
    return gib(memory.allocated);
  }
  if (quantity == "reserved_gib") {
    return gib(memory.reserved);
  }
  return Refusal{"not modelled yet"};
}

}  // namespace

Result<describe::MemoryFacts> MemoryPredictor::facts(describe::Framework framework) {
  if (const auto found = facts_.find(framework); found != facts_.end()) {
    return found->second;
  }
  SEXTANT_TRY(describe::MemoryFacts read, describe::memory_facts(data_, framework));
  facts_.emplace(framework, read);
  return read;
}

Answer MemoryPredictor::answer(const measured::Row& row, const describe::Job& job,
                               const Counted& counted) {
  const auto broken = describe::check_rules(job);
  if (!broken.empty()) {
    return Refusal{"not legal: " + std::string(broken.front().rule)};
  }
  const auto known = facts(job.framework);
  if (!known) {
    return Refusal{known.error().what};
  }
  cost::MemoryModel model(job, *known);
  if (row.quantity != "mem_gib") {
    return quantity_of(row.quantity, model.fullest(job.layout), job.cluster.device.usable_memory());
  }
  const bool last = counted.of_last_stage && job.layout.pp > 1;
  const RankMemory memory =
      last ? model.rank(job.layout, job.layout.pp - 1) : model.fullest(job.layout);
  Prediction prediction{of_kind(memory, counted.memory) / counted.memory_unit, std::nullopt, {}};
  if (last) {
    prediction.assumed.push_back({"memory", "the last pipeline stage's", "the rank that logs", {}});
  }
  if (counted.memory_unit == 1_GB) {
    prediction.assumed.push_back({"GB", "10^9 bytes", "as printed", {}});
  }
  return prediction;
}

Answer MemoryPredictor::operator()(const measured::Row& row) {
  if (const auto* run = std::get_if<measured::RunSubject>(&row.subject)) {
    if (row.quantity != "mem_gib" && row.quantity != "fits") {
      return Refusal{"not modelled yet"};
    }
    for (const std::string& beyond : run->beyond_layout) {
      // Padding to capacity 1 holds as many token copies as balanced routing does.
      if (beyond != "experts padded to a capacity factor") {
        return Refusal{"beyond the layout: " + beyond};
      }
    }
    // What nobody stated, and memory hangs on.
    if (run->job && !run->job->states("recompute") &&
        run->job->layout.recompute.granularity == describe::Recompute::kNone) {
      return Refusal{"recomputation is not stated"};
    }
    if (run->job && !run->job->states("mbs")) {
      return Refusal{"the micro-batch is not stated"};
    }
    return answer(row, *run->job,
                  {.memory = run->memory,
                   .memory_unit = run->memory_unit,
                   .of_last_stage = run->memory_of_last_stage});
  }
  if (const auto* single = std::get_if<measured::SingleDeviceSubject>(&row.subject)) {
    return answer(row, *single->job, {});
  }
  return Refusal{"not modelled yet"};
}

}  // namespace sextant::validate
