#include "emit/nanotron.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "emit/canonical.h"
#include "emit/setting_values.h"
#include "emit/tree_file_writer.h"

namespace sextant::emit {
namespace {

constexpr std::int64_t kMostSize = 10'000'000;
constexpr std::string_view kPipelineEngine = "parallelism.pp_engine";
constexpr std::string_view kTpMode = "parallelism.tp_mode";
constexpr std::string_view kAsync = "parallelism.tp_linear_async_communication";
constexpr std::string_view kRecomputeLayer = "parallelism.recompute_layer";
constexpr std::string_view kExpertReplicas = "parallelism.expert_data_parallel_size";
constexpr std::string_view kSequence = "tokens.sequence_length";
constexpr std::string_view kReplicaAccumulation = "tokens.batch_accumulation_per_replica";
constexpr std::string_view kZero = "optimizer.zero_stage";
constexpr std::string_view kFp32Gradients = "optimizer.accumulate_grad_in_fp32";
constexpr std::string_view kOptimizerFactory = "optimizer.optimizer_factory.name";
constexpr std::string_view kModelType = "model.dtype";
constexpr std::string_view kAttentionFunction = "model.model_config._attn_implementation";
constexpr std::string_view kDispatcher = "model.model_config.moe_config.token_dispatcher_type";
constexpr std::string_view kExperts = "model.model_config.moe_config.num_experts";

struct LayoutSize : SizeSetting {
  bool experts_only = false;
};
constexpr std::array kLayoutSizes{
    LayoutSize{{"parallelism.dp", "dp", &describe::Layout::dp}},
    LayoutSize{{"parallelism.pp", "pp", &describe::Layout::pp}},
    LayoutSize{{"parallelism.tp", "tp", &describe::Layout::tp}},
    LayoutSize{{"parallelism.context_parallel_size", "cp", &describe::Layout::cp}},
    LayoutSize{{"parallelism.expert_parallel_size", "ep", &describe::Layout::ep}, true},
    LayoutSize{{"parallelism.expert_tensor_parallel_size", "etp", &describe::Layout::etp}, true},
    LayoutSize{{"tokens.micro_batch_size", "mbs", &describe::Layout::mbs}},
};

// Without a word all forwards run before all backwards.
constexpr std::array<describe::Word<describe::Schedule>, 2> kPipelineEngineWords{
    {{describe::Schedule::kGpipe, "afab"}, {describe::Schedule::k1f1b, "1f1b"}}};
// Readers take any case of it.
constexpr std::array<describe::Word<bool>, 2> kTpModeWords{
    {{false, "ALL_REDUCE"}, {true, "REDUCE_SCATTER"}}};
constexpr std::array<describe::Word<describe::Dispatcher>, 2> kDispatchWords{
    {{describe::Dispatcher::kAllToAll, "alltoall"},
     {describe::Dispatcher::kAllGather, "allgather"}}};
constexpr std::array<describe::Word<describe::OptimizerKind>, 2> kOptimizerFactoryWords{
    {{describe::OptimizerKind::kAdam, "adamW"}, {describe::OptimizerKind::kSgd, "sgd"}}};

struct ModelType {
  std::string_view word;
  describe::Precision precision;
  describe::Storage storage;
};
constexpr std::array kModelTypes{
    ModelType{"bfloat16", describe::Precision::kBf16, describe::Storage::kBf16},
    ModelType{"float16", describe::Precision::kFp16, describe::Storage::kFp16},
    ModelType{"float32", describe::Precision::kFp32, describe::Storage::kFp32}};

// Under context parallelism the attention function is also how keys and values travel.
struct AttentionWord {
  std::string_view word;
  std::optional<describe::CpMethod> method;
};
constexpr std::string_view kFlashAttention = "flash_attention_2";
constexpr std::array kAttentions{
    AttentionWord{kFlashAttention, std::nullopt},
    AttentionWord{"sdpa", std::nullopt},
    AttentionWord{"flex_attention", std::nullopt},
    AttentionWord{"ring", describe::CpMethod::kP2pRing},
    AttentionWord{"ring_flash_triton", describe::CpMethod::kP2pRing},
    AttentionWord{"llama3_ring_attention", describe::CpMethod::kAllGather}};

constexpr std::array<Reason, 12> kNanotronReasons{
    {{"vpp", "nanotron has one model chunk a rank"},
     {"schedule", "nanotron runs 1f1b and afab (GPipe) only"},
     {"layers_per_stage", "nanotron balances blocks by their compute"},
     {"zero", "nanotron shards the optimizer (zero_stage 1) or nothing"},
     {"zero_group", "nanotron shards over all of dp"},
     {"recompute", "nanotron recomputes whole layers or nothing (recompute_layer)"},
     {"cp_method", "nanotron passes keys and values in a ring or gathers them"},
     {"precision", "nanotron computes in model.dtype: bfloat16, float16 or float32"},
     {"parameters", "parameters have the format of model.dtype"},
     {"gradients", "accumulate_grad_in_fp32, else the format of model.dtype"},
     {"optimizer", "states follow accumulate_grad_in_fp32 and model.dtype"},
     {"order", "nanotron orders ranks tp-cp-dp-pp, with experts tp-cp-pp-dp"}}};

// States of the optimizer: accumulating in fp32 brings an fp32 copy that the optimizer works on.
describe::Optimizer nanotron_optimizer(describe::OptimizerKind kind, describe::Storage parameters,
                                       bool fp32) {
  describe::Optimizer optimizer = describe::default_optimizer(kind);
  const describe::Storage format = fp32 ? describe::Storage::kFp32 : parameters;
  optimizer.master = fp32 && parameters != describe::Storage::kFp32 ? describe::Storage::kFp32
                                                                    : describe::Storage::kNone;
  for (describe::Storage* moment : {&optimizer.first_moment, &optimizer.second_moment}) {
    *moment = *moment == describe::Storage::kNone ? describe::Storage::kNone : format;
  }
  return optimizer;
}

void write_parallelism(const describe::Job& job, bool experts, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  for (const LayoutSize& size : kLayoutSizes) {
    if (size.experts_only && !experts) {
      continue;
    }
    out.whole(size.key, size.field == "dp" ? std::max<std::int64_t>(1, job.dp()) : at.*size.member);
  }
  if (experts) {
    const std::int64_t expert_ranks = saturating_product({at.ep, at.etp, at.pp});
    out.whole(kExpertReplicas, std::max<std::int64_t>(1, job.cluster.devices / expert_ranks));
  }
  out.text(kPipelineEngine, at.schedule == describe::Schedule::k1f1b ? "1f1b" : "afab");
  out.text(kTpMode, describe::word_of<bool>(kTpModeWords, at.sp));
  out.flag(kAsync, at.overlaps(describe::Overlap::kTensorParallel));
  out.flag(kRecomputeLayer, at.recompute.granularity == describe::Recompute::kFull);
}

void write_nanotron_formats(const describe::Layout& at, SettingWriter& out) {
  const auto* const type =
      std::find_if(kModelTypes.begin(), kModelTypes.end(),
                   [&](const ModelType& each) { return each.precision == at.precision; });
  out.text(kModelType, type == kModelTypes.end() ? "bfloat16" : type->word);
  out.whole(kZero, at.zero == describe::Zero::kNone ? 0 : 1);
  out.flag(kFp32Gradients, at.gradients == describe::Storage::kFp32);
  out.text(kOptimizerFactory, at.optimizer.kind == describe::OptimizerKind::kSgd ? "sgd" : "adamW");
}

void write_attention_function(const describe::Layout& at, bool experts, SettingWriter& out) {
  if (at.cp > 1 && at.cp_method == describe::CpMethod::kAllGather) {
    out.text(kAttentionFunction, "llama3_ring_attention");
    out.whole("model.model_config.ring_attn_heads_k_stride", 1);
  } else {
    out.text(kAttentionFunction, at.cp > 1 ? "ring" : kFlashAttention);
  }
  if (experts) {
    out.text(kDispatcher,
             at.dispatcher == describe::Dispatcher::kAllGather ? "allgather" : "alltoall");
  }
}

void read_sizes(SettingReader& reader, bool experts) {
  for (const LayoutSize& size : kLayoutSizes) {
    if (size.experts_only && !experts) {
      continue;
    }
    reader.size(size, kMostSize);
  }
}

// Its own readers ignore the case of a word.
template <typename E>
std::optional<E> any_case(SettingReader& reader, std::string_view key,
                          std::span<const describe::Word<E>> words) {
  const auto text = reader.text(key);
  for (const auto& [value, name] : words) {
    if (text && to_lower(*text) == to_lower(name)) {
      return value;
    }
  }
  if (text) {
    reader.unresolved(key, "not one of nanotron's words");
  }
  return std::nullopt;
}

void read_parallelism(SettingReader& reader, Reading& reading, bool experts) {
  describe::Layout& at = reading.layout;
  const auto engine = any_case<describe::Schedule>(reader, kPipelineEngine, kPipelineEngineWords)
                          .value_or(describe::Schedule::kGpipe);
  if (at.pp > 1) {
    at.schedule = engine;
    reader.fact(
        "schedule",
        std::string(describe::word_of<describe::Schedule>(describe::kScheduleWords, engine)),
        kPipelineEngine);
  }
  at.sp = any_case<bool>(reader, kTpMode, kTpModeWords).value_or(false) && at.tp > 1;
  if (at.tp > 1) {
    reader.fact("sp", at.sp ? "1" : "0", kTpMode);
  }
  // Gradients are reduced bucket by bucket while the backward pass runs.
  if (saturating_product({at.dp, at.cp}) > 1) {
    at.overlap.push_back(describe::Overlap::kGradReduce);
  }
  if (reader.flag(kAsync).value_or(false) && at.tp > 1) {
    at.overlap.push_back(describe::Overlap::kTensorParallel);
    reader.fact("overlap", "tp", kAsync);
  }
  if (const auto again = reader.flag(kRecomputeLayer)) {
    at.recompute.granularity = *again ? describe::Recompute::kFull : describe::Recompute::kNone;
    reader.fact("recompute", *again ? "full" : "none", kRecomputeLayer);
  }
  if (experts) {
    at.order = {describe::Axis::kTp, describe::Axis::kCp, describe::Axis::kEp, describe::Axis::kPp,
                describe::Axis::kDp};
  }
}

void read_nanotron_formats(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  if (const auto word = reader.text(kModelType)) {
    const auto* const type =
        std::find_if(kModelTypes.begin(), kModelTypes.end(),
                     [&](const ModelType& each) { return each.word == *word; });
    if (type == kModelTypes.end()) {
      reader.unresolved(kModelType, "not bfloat16, float16 or float32; read as bfloat16");
    } else {
      at.precision = type->precision;
      at.parameters = type->storage;
      reader.fact("precision",
                  std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords,
                                                                     at.precision)),
                  kModelType);
    }
  }
  const auto stage = reader.whole(kZero, 0, 1);
  at.zero = stage.value_or(0) == 1 ? describe::Zero::kOptimizer : describe::Zero::kNone;
  reader.fact("zero", stage.value_or(0) == 1 ? "1" : "0", kZero);
  const bool fp32 = reader.flag(kFp32Gradients).value_or(true);
  at.gradients = fp32 ? describe::Storage::kFp32 : at.parameters;
  reader.fact(
      "gradients",
      std::string(describe::word_of<describe::Storage>(describe::kStorageWords, at.gradients)),
      kFp32Gradients);
  const auto kind =
      any_case<describe::OptimizerKind>(reader, kOptimizerFactory, kOptimizerFactoryWords);
  at.optimizer =
      nanotron_optimizer(kind.value_or(describe::OptimizerKind::kAdam), at.parameters, fp32);
  reader.fact("optimizer",
              std::string(describe::word_of<describe::OptimizerKind>(describe::kOptimizerWords,
                                                                     at.optimizer.kind)),
              kOptimizerFactory);
}

void read_attention_function(SettingReader& reader, Reading& reading, bool experts) {
  describe::Layout& at = reading.layout;
  const auto word = reader.text(kAttentionFunction);
  const auto* const row =
      std::find_if(kAttentions.begin(), kAttentions.end(),
                   [&](const AttentionWord& each) { return each.word == word; });
  reading.attention_stated = word == kFlashAttention;
  if (word && row == kAttentions.end()) {
    reader.unresolved(kAttentionFunction, "not one of nanotron's attention functions");
  } else if (word && row->method && at.cp > 1) {
    at.cp_method = *row->method;
    reader.fact(
        "cp_method",
        std::string(describe::word_of<describe::CpMethod>(describe::kCpMethodWords, at.cp_method)),
        kAttentionFunction);
  }
  if (const auto how = any_case<describe::Dispatcher>(reader, kDispatcher, kDispatchWords);
      how && experts) {
    at.dispatcher = *how;
    reader.fact(
        "dispatcher",
        std::string(describe::word_of<describe::Dispatcher>(describe::kDispatcherWords, *how)),
        kDispatcher);
  }
}

void read_tokens(SettingReader& reader, Reading& reading) {
  const describe::Layout& at = reading.layout;
  reading.sequence = reader.whole(kSequence, 1, kLongestSequence);
  if (reading.sequence) {
    reader.fact("seq", std::to_string(*reading.sequence), kSequence);
  }
  const std::int64_t accumulation = reader.whole(kReplicaAccumulation, 1, kMostSize).value_or(1);
  if (reader.find("tokens.micro_batch_size") != nullptr && at.dp > 0) {
    reading.global_batch = saturating_product({at.mbs, accumulation, at.dp});
    reader.fact("gbs", std::to_string(*reading.global_batch), kReplicaAccumulation);
  }
  if (at.dp > 0) {
    reading.devices = saturating_product({at.dp, at.cp, at.tp, at.pp});
    if (reader.find("parallelism.dp") != nullptr && !reader.launched("devices")) {
      reader.derived("devices", std::to_string(*reading.devices), "parallelism.dp");
    }
  }
  const auto launched = reader.launched("devices");
  if (launched && reading.devices && *launched != *reading.devices) {
    reader.unresolved("parallelism.dp",
                      fmt::format("dp*cp*tp*pp is {}, the job is started on {} devices",
                                  *reading.devices, *launched));
  }
  reading.devices = reading.devices ? reading.devices : launched;
  reading.devices_per_node = reader.launched("devices_per_node");
}

// Everything but the model.
Reading read_nanotron_layout(const Settings& settings) {
  Reading reading;
  reading.dialect = Dialect::kNanotron;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  const bool experts = reader.whole(kExperts, 1, kMostSize).has_value();
  read_sizes(reader, experts);
  read_parallelism(reader, reading, experts);
  read_nanotron_formats(reader, reading);
  read_attention_function(reader, reading, experts);
  read_tokens(reader, reading);
  const KnownKeys known = nanotron_keys();
  for (const Setting& setting : settings.given) {
    if (!is_known(setting.key, known)) {
      reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return reading;
}

}  // namespace

// Sections in which every key is known are those that say nothing about speed.
KnownKeys nanotron_keys() {
  static constexpr std::array<std::string_view, 12> kSections{
      "checkpoints", "data_stages", "general",  "lighteval", "logging",   "metrics_logging",
      "model",       "optimizer",   "profiler", "s3_upload", "tokenizer", "lr_scheduler"};
  static constexpr std::array<std::string_view, 9> kOthers{"parallelism.tp_recompute_allgather",
                                                           "parallelism.moe_layer_recompute",
                                                           "parallelism.enabled_moe",
                                                           "tokens.train_steps",
                                                           "tokens.val_check_interval",
                                                           "tokens.limit_test_batches",
                                                           "tokens.limit_val_batches",
                                                           kSequence,
                                                           kReplicaAccumulation};
  static constexpr std::array<std::string_view, 5> kOwn{kPipelineEngine, kTpMode, kAsync,
                                                        kRecomputeLayer, kExpertReplicas};
  KnownKeys known{{kOthers.begin(), kOthers.end()}, {kSections.begin(), kSections.end()}};
  known.keys.insert(known.keys.end(), kOwn.begin(), kOwn.end());
  for (const LayoutSize& size : kLayoutSizes) {
    known.keys.emplace_back(size.key);
  }
  return known;
}

Writing write_nanotron(const describe::Job& given) {
  describe::Job job = given;
  job.layout = canonical_layout(given);
  Writing writing;
  writing.settings.dialect = Dialect::kNanotron;
  const std::vector<Setting> model = nanotron_model_settings(job.model);
  const bool experts = find(model, kExperts) != nullptr;
  SettingWriter out;
  out.all(model);
  write_attention_function(job.layout, experts, out);
  write_nanotron_formats(job.layout, out);
  write_parallelism(job, experts, out);
  out.whole(kSequence, job.sequences.length);
  out.whole(kReplicaAccumulation, std::max<std::int64_t>(1, job.microbatches()));
  writing.settings.given = std::move(out).take();
  writing.settings.launch = launch_settings(job);
  const Reading said = read_nanotron_layout(writing.settings);
  writing.left_out = left_out_of(job.layout, said.layout, kNanotronReasons);
  if (model.empty()) {
    writing.left_out.push_back({"model", job.model.name,
                                "nanotron trains Llama-like decoders; write model_config by hand"});
  }
  if (said.global_batch != job.global_batch) {
    writing.left_out.push_back(
        {"gbs", std::to_string(job.global_batch), "every replica runs whole micro-batches"});
  }
  return writing;
}

Reading read_nanotron(const Settings& settings, const describe::DataStore& data) {
  Reading reading = read_nanotron_layout(settings);
  if (auto model = nanotron_model(settings, data)) {
    if (*model) {
      reading.model = std::move(**model);
      reading.facts.push_back(
          {"model",
           fmt::format("{} layers of {}", reading.model->layer_count(), reading.model->hidden),
           "model.model_config",
           {}});
    } else {
      reading.unresolved.push_back({"model.model_config", to_text(model->error()), {}});
    }
  }
  return reading;
}

}  // namespace sextant::emit
