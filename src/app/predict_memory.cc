#include "app/predict_memory.h"

#include "cost/memory/memory.h"
#include "describe/layout/rules.h"

namespace sextant::app {
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

// How the table counts memory.
struct Counted {
  MemoryKind memory = MemoryKind::kAllocated;
  Bytes memory_unit = 1_GiB;
  bool of_last_stage = false;
};

Answer quantity_of(const std::string& quantity, const RankMemory& memory, const Counted& row,
                   Bytes usable) {
  const auto in = [](Bytes bytes, Bytes unit) {
    return Prediction{bytes / unit, std::nullopt, {}};
  };
  const auto gib = [&in](Bytes bytes) { return in(bytes, 1_GiB); };
  if (quantity == "fits") {
    return Prediction{memory.least <= usable ? 1.0 : 0.0, std::nullopt, {}};
  }
  if (quantity == "mem_gib") {
    return in(of_kind(memory, row.memory), row.memory_unit);
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

Answer answer_of(const measured::Row& row, const describe::Job& job, const Counted& counted,
                 const describe::DataStore& data) {
  const auto broken = describe::check_rules(job);
  if (!broken.empty()) {
    return Refusal{"not legal: " + std::string(broken.front().rule)};
  }
  const auto facts = describe::memory_facts(data, job.framework);
  if (!facts) {
    return Refusal{facts.error().what};
  }
  cost::MemoryModel model(job, *facts);
  const RankMemory memory = counted.of_last_stage && row.quantity == "mem_gib"
                                ? model.rank(job.layout, job.layout.pp - 1)
                                : model.fullest(job.layout);
  return quantity_of(row.quantity, memory, counted, job.cluster.device.usable_memory());
}

}  // namespace

Answer predict_memory(const measured::Row& row, const describe::DataStore& data) {
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
    for (const std::string& assumed : row.assumed) {
      if (assumed == "recompute=none (not stated)") {
        return Refusal{"recomputation is not stated"};
      }
      if (assumed.starts_with("mbs=") && assumed.ends_with("(not stated)")) {
        return Refusal{"the micro-batch is not stated"};
      }
    }
    return answer_of(row, *run->job,
                     {.memory = run->memory,
                      .memory_unit = run->memory_unit,
                      .of_last_stage = run->memory_of_last_stage},
                     data);
  }
  if (const auto* single = std::get_if<measured::SingleDeviceSubject>(&row.subject)) {
    return answer_of(row, *single->job, {}, data);
  }
  return Refusal{"not modelled yet"};
}

}  // namespace sextant::app
