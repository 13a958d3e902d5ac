// Streams of GPUs. Their events are held until the plane is read, since which operator a kernel
// belongs to is told by its neighbours in time.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/hlo_call.h"
#include "profile/hlo_collective.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kMostTexts = 2'000'000;

// Lines that XLA's tools derive from the streams.
bool is_derived_line(std::string_view name) {
  return is_one_of(name, {"XLA Ops", "Async XLA Ops", "TensorFlow Ops", "TensorFlow Name Scope",
                          "Framework Ops", "Framework Name Scope", "Source code", "Source",
                          "Launch Stats", "_counters_", "XLA TraceMe"});
}

// "size:4096 dest:0 async:1", "kind_src:device size:64".
std::int64_t copied_bytes(std::string_view details) {
  for (const std::string_view key : {"size:", "num_bytes:"}) {
    const std::size_t at = details.find(key);
    if (at != std::string_view::npos) {
      const std::string_view rest = details.substr(at + key.size());
      std::size_t digits = 0;
      while (digits < rest.size() && is_digit(rest[digits])) {
        ++digits;
      }
      return to_integer(rest.substr(0, digits)).value_or(-1);
    }
  }
  return -1;
}

// TensorFlow's annotation "replica_4/dense/MatMul:MatMul#shape=(…)#": an operator and its kind.
timeline::Operation annotated(std::string_view annotation) {
  const std::string_view operation = annotation.substr(0, annotation.find('#'));
  const std::size_t colon = operation.rfind(':');
  return colon == std::string_view::npos
             ? timeline::Operation{.name = std::string(operation)}
             : timeline::Operation{.name = std::string(operation.substr(0, colon)),
                                   .category = std::string(operation.substr(colon + 1))};
}

bool is_memory_work(std::string_view kernel) {
  return kernel.starts_with("Memcpy") || kernel.starts_with("Memset") ||
         kernel.starts_with("memcpy") || kernel.starts_with("memset");
}

timeline::Label memory_label(std::string name, std::int64_t bytes) {
  timeline::Label label{.kind = timeline::SpanKind::kCopy, .name = std::move(name)};
  if (bytes >= 0) {
    label.bytes = Bytes(static_cast<double>(bytes));
  }
  return label;
}

// As its name alone tells.
timeline::Label kernel_label(std::string name, const KernelMeaning& meaning) {
  timeline::Label label{.kind = meaning.kind, .name = std::move(name)};
  if (meaning.use || meaning.unit) {
    label.call = timeline::OperatorCall{.use = meaning.use, .unit = meaning.unit};
  }
  if (meaning.kind == timeline::SpanKind::kCommunication) {
    label.collective = timeline::Collective{.op = meaning.op, .element = meaning.element};
  }
  return label;
}

}  // namespace

std::uint32_t XplaneReading::text_number(std::string_view text) {
  if (texts_.empty()) {
    texts_.emplace_back();  // 0: nothing
  }
  if (text.empty()) {
    return 0;
  }
  const std::string key(text);
  const auto known = text_numbers_.find(key);
  if (known != text_numbers_.end()) {
    return known->second;
  }
  metadata_text_left_ -= static_cast<std::int64_t>(text.size());
  if (texts_.size() >= kMostTexts || metadata_text_left_ < 0) {
    losses_.add("names beyond the room for them");
    return 0;
  }
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(key);
  text_numbers_.emplace(key, number);
  return number;
}

void XplaneReading::read_gpu(Wire& fields, const XPlane& plane) {
  gpu_events_.clear();
  const auto wants = [](const XLine& line) { return !is_derived_line(line.name); };
  fields.each([&](Wire& inner) {
    if (inner.field() == 3) {
      read_line(inner, plane, wants, [&](const XLine& line, const XEvent& event) {
        take_gpu_event(plane, line, event);
      });
    }
  });
  add_gpu_events({plane.ordinal});
}

void XplaneReading::take_gpu_event(const XPlane& plane, const XLine& line, const XEvent& event) {
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
    run_names_.push_back(kind->second.name);
    runs_[rank].push_back(
        {static_cast<std::int64_t>(run_names_.size()) - 1, event.start_ns, event.end_ns});
    return;
  }
  const auto where = lane(rank, timeline::Place::kDevice, line.id,
                          line.name.empty() ? fmt::format("stream {}", line.id) : line.name);
  if (!where) {
    return;
  }
  if (static_cast<std::int64_t>(gpu_events_.size()) >= options_.limits.device_events) {
    losses_.add("events of one device beyond the most that are read");
    return;
  }
  GpuEvent one{.start_ns = event.start_ns, .end_ns = event.end_ns};
  one.lane = static_cast<std::uint32_t>(where->value);
  one.name = text_number(kind->second.name);
  one.hlo_op = text_number(text_of(event.stats, XStatKind::kHloOp));
  one.hlo_module = text_number(text_of(event.stats, XStatKind::kHloModule));
  const std::string_view annotation = text_of(event.stats, XStatKind::kAnnotation);
  one.annotation = text_number(annotation.substr(0, annotation.find('#')));
  if (const XStat* id = find_stat(event.stats, XStatKind::kProgramId)) {
    one.program = id->integer;
  }
  if (const XStat* id = find_stat(event.stats, XStatKind::kCorrelation)) {
    one.correlation = id->integer;
  }
  for (const XStatKind details : {XStatKind::kMemcpyDetails, XStatKind::kMemsetDetails}) {
    if (const XStat* stat = find_stat(event.stats, details)) {
      one.bytes = copied_bytes(stat->text);
    }
  }
  gpu_events_.push_back(one);
}

XplaneReading::Program* XplaneReading::program_of(std::int64_t id, std::string_view name) {
  Program* by_name = nullptr;
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program->module.name == name) {
      if (program->module.program == id) {
        return program.get();
      }
      by_name = program.get();
    }
  }
  return by_name;
}

std::optional<HloMatch> XplaneReading::match_of(const GpuEvent& event, Program& program) {
  const std::string& kernel = texts_[event.name];
  const std::string& operation = texts_[event.hlo_op];
  const bool is_memory = is_memory_work(kernel);
  const auto found = program.module.by_name.find(operation);
  if (found != program.module.by_name.end()) {
    Execution& execution = executions_[event.lane];
    const bool is_further = execution.operation == event.hlo_op &&
                            std::find(execution.kernels.begin(), execution.kernels.end(),
                                      event.name) == execution.kernels.end();
    if (!is_further) {
      execution = {event.hlo_op, {}};
    }
    const bool is_first = execution.kernels.empty();
    if (!is_memory) {
      execution.kernels.push_back(event.name);
    }
    return HloMatch{program.module.computation_of.at(operation), found->second, is_first};
  }
  if (is_memory) {
    return std::nullopt;
  }
  if (!program.matcher) {
    program.matcher = std::make_unique<HloMatcher>(program.module);
  }
  auto match = program.matcher->next(kernel);
  losses_.add("kernels of XLA's command buffers whose operator is not told", match ? 0 : 1);
  return match;
}

void XplaneReading::add_gpu_events(RankId rank) {
  std::stable_sort(gpu_events_.begin(), gpu_events_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start_ns, a.lane) < std::tie(b.start_ns, b.lane);
  });
  find_gpu_runs(rank);
  labels_.clear();
  executions_.clear();
  std::map<std::pair<std::int64_t, std::uint32_t>, Program*> programs;
  for (const GpuEvent& event : gpu_events_) {
    const auto [known, is_new] = programs.try_emplace({event.program, event.hlo_module});
    if (is_new && event.hlo_module != 0) {
      known->second = program_of(event.program, texts_[event.hlo_module]);
    }
    Program* program = known->second;
    const auto match =
        program != nullptr && event.hlo_op != 0 ? match_of(event, *program) : std::nullopt;
    if (ranks_.size() > 1 && event.correlation != 0) {
      sent_to_.try_emplace(event.correlation, rank);
    }
    add({event.lane}, gpu_label(event, program, match, rank), event.correlation, event.start_ns,
        event.end_ns);
  }
}

timeline::LabelId XplaneReading::gpu_label(const GpuEvent& event, const Program* program,
                                           const std::optional<HloMatch>& match, RankId rank) {
  const LabelKey key{event.name, match ? match->instruction : nullptr, match && match->is_first,
                     event.bytes, event.annotation};
  if (const auto known = labels_.find(key); known != labels_.end()) {
    return known->second;
  }
  const std::string& kernel = texts_[event.name];
  const std::string name = kernel.empty() ? std::string("(no name)") : kernel;
  timeline::Label label;
  const bool is_memory = is_memory_work(kernel);
  if (is_memory) {
    label = memory_label(name, event.bytes);
  } else {
    const KernelMeaning meaning = options_.kernels(kernel);
    label = kernel_label(name, meaning);
    if (match) {
      label.call = hlo_call(program->module, *match->where, *match->instruction, meaning);
    }
  }
  if (match) {
    const HloInstruction& instruction = *match->instruction;
    label.operation = timeline::Operation{.name = instruction.name,
                                          .category = hlo_category(instruction),
                                          .module = program->module.name};
    auto communication =
        is_memory ? std::nullopt
                  : communication_of(program->module, *match->where, instruction, rank.value);
    if (communication) {
      label.kind = timeline::SpanKind::kCommunication;
      label.collective = std::move(communication->collective);
      if (is_gathered_and_cut(*match->where, instruction)) {
        label.operation->category += std::string(kCutCategory);
      }
      label.bytes = communication->bytes;
      if (communication->group) {
        label.collective->group = out_.timeline.group(*communication->group);
      }
    } else if (match->is_first && !is_memory) {
      HloCounter& counter = *program->counter;
      label.flops = counter.flops(*match->where, instruction);
      label.bytes = counter.bytes(*match->where, instruction);
    }
  } else if (event.annotation != 0) {
    label.operation = annotated(texts_[event.annotation]);
  } else if (event.hlo_op != 0) {
    label.operation =
        timeline::Operation{.name = texts_[event.hlo_op], .module = texts_[event.hlo_module]};
  }
  const timeline::LabelId made = out_.timeline.label(label);
  if (labels_.size() < kMostTexts) {
    labels_.emplace(key, made);
  }
  return made;
}

// Where no line tells them: from the first of those operators of the main module that are seen
// least often, until the next.
void XplaneReading::find_gpu_runs(RankId rank) {
  if (runs_.contains(rank)) {
    return;
  }
  using Module = std::pair<std::uint32_t, std::int64_t>;  // name and program: names repeat
  std::map<Module, std::int64_t> busy;
  for (const GpuEvent& event : gpu_events_) {
    if (event.hlo_module != 0) {
      busy[{event.hlo_module, event.program}] += event.end_ns - event.start_ns;
    }
  }
  if (busy.empty()) {
    return;
  }
  const Module main = std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> seen;
  for (const GpuEvent& event : gpu_events_) {
    if (Module(event.hlo_module, event.program) == main) {
      seen[{event.hlo_op, event.name}] += 1;
    }
  }
  std::int64_t fewest = 0;
  for (const auto& [kernel, times] : seen) {
    fewest = fewest == 0 ? times : std::min(fewest, times);
  }
  std::optional<std::pair<std::uint32_t, std::uint32_t>> marker;
  std::vector<XRun>& runs = runs_[rank];
  run_names_.push_back(texts_[main.first]);
  const auto module = static_cast<std::int64_t>(run_names_.size()) - 1;
  for (const GpuEvent& event : gpu_events_) {
    if (Module(event.hlo_module, event.program) != main) {
      continue;
    }
    const std::pair kernel(event.hlo_op, event.name);
    if (!marker && seen.at(kernel) == fewest) {
      marker = kernel;
    }
    if (marker == kernel) {
      runs.push_back({module, event.start_ns, event.end_ns});
    }
    if (!runs.empty()) {
      runs.back().end_ns = std::max(runs.back().end_ns, event.end_ns);
    }
  }
}

}  // namespace sextant::profile
