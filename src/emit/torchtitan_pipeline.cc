// Stages. torchtitan counts first_stage_less_layers and last_stage_less_layers as layers, deals the
// sum evenly to the stages, the first ones taking what is left over, and takes them off the two
// ends again. Stages a rank: one for the single-stage schedules, else two, or what
// layers_per_stage leads to. module_fqns_per_model_part names the modules of each stage instead.
// Source: torchtitan b5bcd76c6, distributed/pipeline_parallel.py.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit::torchtitan {
namespace {

constexpr std::int64_t kMostLayers = 1'000'000;
constexpr std::string_view kSchedule = "parallelism.pipeline_parallel_schedule";
constexpr std::string_view kScheduleFile = "parallelism.pipeline_parallel_schedule_csv";
constexpr std::string_view kFirstLess = "parallelism.pipeline_parallel_first_stage_less_layers";
constexpr std::string_view kLastLess = "parallelism.pipeline_parallel_last_stage_less_layers";
constexpr std::string_view kLayersPerStage = "parallelism.pipeline_parallel_layers_per_stage";
constexpr std::string_view kModules = "parallelism.module_fqns_per_model_part";

// The classes of torch.distributed.pipelining; DualPipe is none of them.
constexpr std::array<describe::Word<describe::Schedule>, 7> kTorchSchedules{
    {{describe::Schedule::k1f1b, "1F1B"},
     {describe::Schedule::kInterleaved1f1b, "Interleaved1F1B"},
     {describe::Schedule::kGpipe, "GPipe"},
     {describe::Schedule::kLoopedBfs, "LoopedBFS"},
     {describe::Schedule::kInterleavedZeroBubble, "InterleavedZeroBubble"},
     {describe::Schedule::kZbv, "ZBVZeroBubble"},
     {describe::Schedule::kDualPipeV, "DualPipeV"}}};

bool is_single_stage(describe::Schedule schedule) {
  return schedule == describe::Schedule::k1f1b || schedule == describe::Schedule::kGpipe;
}

// "tok_embeddings,layers.0,layers.1", …, "layers.7,norm,output": one value a stage.
std::vector<std::string> modules_of(const std::vector<std::int64_t>& layers_per_stage) {
  std::vector<std::string> stages;
  std::int64_t layer = 0;
  for (std::size_t stage = 0; stage < layers_per_stage.size(); ++stage) {
    std::vector<std::string> modules;
    if (stage == 0) {
      modules.emplace_back("tok_embeddings");
    }
    for (std::int64_t i = 0; i < layers_per_stage[stage]; ++i, ++layer) {
      modules.push_back(fmt::format("layers.{}", layer));
    }
    if (stage + 1 == layers_per_stage.size()) {
      modules.emplace_back("norm");
      modules.emplace_back("output");
    }
    stages.push_back(join(modules, ","));
  }
  return stages;
}

std::vector<std::int64_t> layers_of_modules(const std::vector<std::string>& stages) {
  std::vector<std::int64_t> counts;
  for (const std::string& stage : stages) {
    const std::vector<std::string_view> modules = split(stage, ',');
    counts.push_back(std::count_if(modules.begin(), modules.end(), [](std::string_view module) {
      return trimmed(module).starts_with("layers.");
    }));
  }
  return counts;
}

// torchtitan's dealing; nothing where it refuses.
std::optional<std::vector<std::int64_t>> dealt(std::int64_t layers, std::int64_t stages,
                                               std::int64_t first_less, std::int64_t last_less) {
  const std::int64_t places = layers + first_less + last_less;
  const std::int64_t each = places / stages;
  if (each < 1 || first_less > each || last_less > each) {
    return std::nullopt;
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(stages), each);
  for (std::int64_t stage = 0; stage < places % stages; ++stage) {
    counts[static_cast<std::size_t>(stage)] += 1;
  }
  counts.front() -= first_less;
  counts.back() -= last_less;
  return counts;
}

bool places_divide(std::int64_t layers, std::int64_t stages, const describe::PipelineSplit& split) {
  return (layers + (split.count_embedding ? 1 : 0) + (split.count_loss ? 1 : 0)) % stages == 0;
}

// Stages and split from named modules. Where the two "less" settings stand beside them and say the
// same, the split is theirs.
void read_stage_modules(SettingReader& reader, const Setting& modules, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const std::vector<std::int64_t> counts = layers_of_modules(modules.values);
  const auto stages = static_cast<std::int64_t>(counts.size());
  if (stages % at.pp != 0 || counts.empty() || stages > kMostStages) {
    reader.unresolved(kModules, "the stages do not divide over the pipeline ranks");
    return;
  }
  at.vpp = stages / at.pp;
  const auto first = reader.whole(kFirstLess, 0, 1);
  const auto last = reader.whole(kLastLess, 0, 1);
  std::int64_t layers = 0;
  for (const std::int64_t count : counts) {
    layers += count;
  }
  if (first && last && dealt(layers, stages, *first, *last) == counts &&
      (layers + *first + *last) % stages == 0) {
    at.split.count_embedding = *first == 1;
    at.split.count_loss = *last == 1;
  } else {
    at.split.layers_per_stage = counts;
  }
}

void read_stages(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const std::int64_t first_less = reader.whole(kFirstLess, 0, kMostLayers).value_or(1);
  const std::int64_t last_less = reader.whole(kLastLess, 0, kMostLayers).value_or(1);
  at.vpp = is_single_stage(at.schedule) ? 1 : 2;
  if (const auto each = reader.whole(kLayersPerStage, 1, kMostLayers)) {
    if (!draft.layers) {
      reader.unresolved(kLayersPerStage,
                        "the stages follow from the model's layers, and the model "
                        "is not known");
    } else {
      const std::int64_t stages = (*draft.layers + first_less + last_less + *each - 1) / *each;
      if (stages % at.pp != 0 || stages > kMostStages) {
        reader.unresolved(kLayersPerStage,
                          fmt::format("{} stages do not divide over pp={}", stages, at.pp));
      } else {
        at.vpp = stages / at.pp;
      }
    }
  }
  at.split.count_embedding = first_less == 1;
  at.split.count_loss = last_less == 1;
  const std::int64_t stages = at.stages();
  if (!draft.layers || stages > kMostStages ||
      (first_less <= 1 && last_less <= 1 && places_divide(*draft.layers, stages, at.split))) {
    return;
  }
  at.split = {};
  if (const auto counts = dealt(*draft.layers, stages, first_less, last_less)) {
    at.split.layers_per_stage = *counts;
  } else {
    reader.unresolved(kFirstLess, fmt::format("torchtitan cannot deal {} layers to {} stages so",
                                              *draft.layers, stages));
  }
}

}  // namespace

void write_pipeline(const describe::Job& job, bool layers_known, std::vector<Setting>& settings) {
  const describe::Layout& at = job.layout;
  if (at.pp == 1) {
    return;
  }
  const bool has_word = std::any_of(kTorchSchedules.begin(), kTorchSchedules.end(),
                                    [&](const auto& word) { return word.first == at.schedule; });
  const describe::Schedule schedule = has_word ? at.schedule : describe::Schedule::k1f1b;
  add(settings, kSchedule,
      std::string(describe::word_of<describe::Schedule>(kTorchSchedules, schedule)));
  if (!at.split.layers_per_stage.empty()) {
    settings.push_back({std::string(kModules), modules_of(at.split.layers_per_stage), {}});
    return;
  }
  const std::int64_t first = at.split.count_embedding ? 1 : 0;
  const std::int64_t last = at.split.count_loss ? 1 : 0;
  add(settings, kFirstLess, first);
  add(settings, kLastLess, last);
  if (at.vpp == (is_single_stage(schedule) ? 1 : 2)) {
    return;
  }
  const std::int64_t layers = job.model.layer_count();
  const std::int64_t stages = std::max<std::int64_t>(1, at.stages());
  const std::int64_t each = (layers + first + last + stages - 1) / stages;
  if (layers_known) {
    add(settings, kLayersPerStage, each);
  } else if (const auto counts = dealt(layers, stages, first, last)) {
    settings.push_back({std::string(kModules), modules_of(*counts), {}});
  }
}

void read_pipeline(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  if (at.pp == 1) {
    return;
  }
  if (const auto schedule = reader.word<describe::Schedule>(kSchedule, kTorchSchedules)) {
    at.schedule = *schedule;
    reader.fact(
        "schedule",
        std::string(describe::word_of<describe::Schedule>(describe::kScheduleWords, *schedule)),
        kSchedule);
  }
  const auto file = reader.text(kScheduleFile);
  if (file && !file->empty()) {
    reader.unresolved(kScheduleFile, "the schedule is in a file that is not read here");
  }
  const Setting* modules = reader.find(kModules);
  if (modules != nullptr && !modules->values.empty() && modules->values[0] != "None") {
    read_stage_modules(reader, *modules, draft);
  } else {
    read_stages(reader, draft);
  }
  const std::string_view said = modules != nullptr ? kModules : kLayersPerStage;
  reader.fact("vpp", std::to_string(at.vpp), said);
}

}  // namespace sextant::emit::torchtitan
