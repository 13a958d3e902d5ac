// Lines of TPUs, by the schema and conventions of XLA's profiler.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/hlo_collective.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

// Of a SparseCore the lines lie behind those of its chip.
constexpr std::int64_t kStreamsOfCore = 1'000;

// "%fusion.12 = f32[8]{0} fusion(…)" is fusion.12.
std::string_view instruction_name(const XEventKind& kind) {
  std::string_view name =
      kind.display.empty() ? std::string_view(kind.name) : std::string_view(kind.display);
  name = name.substr(0, name.find(" = "));
  return name.starts_with("%") ? name.substr(1) : name;
}

std::int64_t program_of_name(std::string_view name) {
  const std::size_t open = name.rfind('(');
  return open == std::string_view::npos
             ? 0
             : to_integer(name.substr(open + 1, name.rfind(')') - open - 1)).value_or(0);
}

bool moves_memory(std::string_view word) {
  return is_one_of(word, {"copy-start", "copy-done", "infeed", "outfeed", "slice-start",
                          "slice-done", "dynamic-slice-start", "dynamic-slice-done", "host-send",
                          "host-recv", "dynamic-update-slice-start", "dynamic-update-slice-done"});
}

// An instruction's name without its number: "copy-start" of copy-start.3.
std::string_view opcode_of_name(std::string_view name) {
  return name.substr(0, name.find('.'));
}

bool is_operator_line(std::string_view name) {
  return is_one_of(name, {"XLA Ops", "Async XLA Ops", "Sparse Core Ops"});
}

}  // namespace

void XplaneReading::read_tpu(Wire& fields, const XPlane& plane) {
  const bool is_chip = plane.kind == XPlaneKind::kTpu;
  const auto wants = [&](const XLine& line) {
    return is_operator_line(line.name) ||
           (is_chip && (line.name == "Steps" || line.name == "XLA Modules"));
  };
  fields.each([&](Wire& inner) {
    if (inner.field() == 3) {
      read_line(inner, plane, wants, [&](const XLine& line, const XEvent& event) {
        take_tpu_event(plane, line, event);
      });
    }
  });
}

void XplaneReading::take_tpu_event(const XPlane& plane, const XLine& line, const XEvent& event) {
  const RankId rank{plane.ordinal};
  const auto kind = plane.events.find(event.metadata);
  if (kind == plane.events.end()) {
    losses_.add("events of a kind that is not told");
    return;
  }
  if (line.name == "Steps") {
    take_step(rank, kind->second, event);
    return;
  }
  if (line.name == "XLA Modules") {
    const std::string& name = kind->second.name;
    tpu_modules_.try_emplace(program_of_name(name), name.substr(0, name.rfind('(')));
    run_names_.push_back(name);
    runs_[rank].push_back(
        {static_cast<std::int64_t>(run_names_.size()) - 1, event.start_ns, event.end_ns});
    return;
  }
  const bool is_core = plane.kind == XPlaneKind::kSparseCore;
  const std::int64_t stream =
      is_core ? (1 + plane.core) * kStreamsOfCore + line.id % kStreamsOfCore : line.id;
  const auto where =
      lane(rank, timeline::Place::kDevice, stream,
           is_core ? fmt::format("SparseCore {}: {}", plane.core, line.name) : line.name);
  if (where) {
    const timeline::LabelId label =
        out_.timeline.label(tpu_label(plane, event, line.name == "Async XLA Ops"));
    add(*where, label, 0, event.start_ns, event.end_ns);
  }
}

XplaneReading::TpuInstruction XplaneReading::tpu_instruction(std::int64_t number,
                                                             const std::string& name) const {
  for (const std::unique_ptr<Program>& program : programs_) {
    const auto found = program->module.by_name.find(name);
    if (program->module.program == number && found != program->module.by_name.end()) {
      return {program.get(), program->module.computation_of.at(name), found->second};
    }
  }
  return {};
}

// What the module says of a collective, beyond its operation.
void XplaneReading::take_tpu_collective(const TpuInstruction& known, std::int64_t ordinal,
                                        timeline::Label& label) {
  if (known.instruction == nullptr) {
    return;
  }
  auto communication =
      communication_of(known.program->module, *known.where, *known.instruction, ordinal);
  if (!communication) {
    return;
  }
  label.collective = std::move(communication->collective);
  label.bytes = communication->bytes;
  if (communication->group) {
    label.collective->group = out_.timeline.group(*communication->group);
  }
}

timeline::Label XplaneReading::tpu_label(const XPlane& plane, const XEvent& event, bool is_async) {
  const XEventKind& kind = plane.events.at(event.metadata);
  const std::string_view name = instruction_name(kind);
  const XStat* id = find_stat(kind.stats, XStatKind::kProgramId);
  id = id == nullptr ? find_stat(event.stats, XStatKind::kProgramId) : id;
  const std::int64_t number = id == nullptr ? 0 : id->integer;
  timeline::Label label{.name = std::string(name)};
  timeline::Operation operation{
      .name = std::string(name),
      .category = std::string(text_of(kind.stats, XStatKind::kHloCategory))};
  if (const auto module = tpu_modules_.find(number); module != tpu_modules_.end()) {
    operation.module = module->second;
  }
  const TpuInstruction known = tpu_instruction(number, operation.name);
  if (known.instruction != nullptr) {
    operation.module = known.program->module.name;
    label.flops = known.program->counter->flops(*known.where, *known.instruction);
    label.bytes = known.program->counter->bytes(*known.where, *known.instruction);
    if (operation.category.empty()) {
      operation.category = hlo_category(*known.instruction);
    }
  }
  // The plane's own, where it has them.
  if (const XStat* flops = find_stat(kind.stats, XStatKind::kFlops)) {
    label.flops = Flops(flops->number);
  }
  if (const XStat* bytes = find_stat(kind.stats, XStatKind::kBytesAccessed)) {
    label.bytes = Bytes(bytes->number);
  }
  const std::string category = operation.category;
  label.operation = std::move(operation);
  const std::string_view opcode = opcode_of_name(name);
  auto word = collective_of_word(category);
  word = word ? word : collective_of_word(opcode);
  if (holds_others(category) || holds_others(opcode)) {
    // What it holds has its time.
    label.kind = timeline::SpanKind::kMark;
    label.flops.reset();
    label.bytes.reset();
  } else if (word) {
    label.kind = timeline::SpanKind::kCommunication;
    label.collective = timeline::Collective{.op = word->op, .word = word->word};
    take_tpu_collective(known, plane.ordinal, label);
  } else if (is_async || moves_memory(category) || moves_memory(opcode)) {
    label.kind = timeline::SpanKind::kCopy;
  }
  return label;
}

}  // namespace sextant::profile
