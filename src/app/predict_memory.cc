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

Answer quantity_of(const std::string& quantity, const RankMemory& memory, MemoryKind kind,
                   Bytes usable) {
  const auto gib = [](Bytes bytes) { return Prediction{bytes / 1_GiB, std::nullopt, {}}; };
  if (quantity == "fits") {
    return Prediction{memory.device <= usable ? 1.0 : 0.0, std::nullopt, {}};
  }
  if (quantity == "mem_gib") {
    return gib(of_kind(memory, kind));
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

Answer answer_of(const measured::Row& row, const describe::Job& job, MemoryKind kind,
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
  return quantity_of(row.quantity, model.fullest(job.layout), kind,
                     job.cluster.device.usable_memory());
}

}  // namespace

Answer predict_memory(const measured::Row& row, const describe::DataStore& data) {
  if (const auto* run = std::get_if<measured::RunSubject>(&row.subject)) {
    if (row.quantity != "mem_gib" && row.quantity != "fits") {
      return Refusal{"not modelled yet"};
    }
    if (!run->beyond_layout.empty()) {
      return Refusal{"beyond the layout: " + run->beyond_layout.front()};
    }
    return answer_of(row, *run->job, run->memory, data);
  }
  if (const auto* single = std::get_if<measured::SingleDeviceSubject>(&row.subject)) {
    return answer_of(row, *single->job, MemoryKind::kAllocated, data);
  }
  return Refusal{"not modelled yet"};
}

}  // namespace sextant::app
