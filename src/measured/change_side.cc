#include "measured/change_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "measured/row_tools.h"
#include "measured/run_layout.h"
#include "measured/run_words.h"

namespace sextant::measured {
namespace {

using describe::Framework;

constexpr std::int64_t kUsualHead = 128;
constexpr std::int64_t kFfnStep = 256;
constexpr std::int64_t kMostPartsOfASide = 1'000'000;

// A side while it is put together; the texts that its cells point into live here.
struct SideDraft {
  const ChangeCells& change;
  const ChangeWords& words;
  Side side;
  std::string refusal;
  describe::Assumptions assumed;
  std::string device, flags, framework, arch, fabric, model;
  RunCells run;

  void assume(std::string_view key, std::string value, std::string_view why) {
    assumed.push_back({std::string(key), std::move(value), std::string(why), {}});
  }
};

// "llama-3-8b" of "Llama-3-8B (assumed)": as the catalogue spells it.
std::string catalogue_word(std::string_view model) {
  std::string word = to_lower(trimmed(model.substr(0, model.find('('))));
  std::ranges::replace(word, ' ', '-');
  std::ranges::replace(word, '_', '-');
  return word;
}

// The whole word, or the only name that it begins; never a shortened one.
bool in_catalogue(const std::string& word, const describe::DataStore& data) {
  const std::vector<std::string> names = describe::catalogue_names(data);
  if (std::ranges::find(names, word) != names.end()) {
    return true;
  }
  return std::ranges::count_if(
             names, [&](const std::string& name) { return starts_with_word(name, word); }) == 1;
}

bool looks_like_gpt(std::string_view name) {
  return (contains(name, "gpt") && !contains(name, "gpt-oss")) || contains(name, "bloom") ||
         contains(name, "mt-nlg");
}

// "181B" → 181e9.
std::optional<double> size_in_name(std::string_view name) {
  const std::size_t end = name.find_last_of("Bb");
  if (end == std::string_view::npos || end == 0) {
    return std::nullopt;
  }
  const std::size_t begin = name.find_last_not_of("0123456789.", end - 1) + 1;
  const auto size = to_double(name.substr(begin, end - begin));
  return size ? std::optional(*size * 1e9) : std::nullopt;
}

// The size in a GPT's name counts 12 h² a layer, as its source's own FLOPs do.
void infer_layers(SideDraft& at) {
  RunCells& run = at.run;
  const auto size = size_in_name(run.model);
  if (run.layers || !run.hidden || !size || !looks_like_gpt(to_lower(run.model))) {
    return;
  }
  const double hidden = static_cast<double>(*run.hidden);
  const double layers = *size / (12.0 * hidden * hidden);
  constexpr double kNear = 0.1;
  if (std::abs(layers - std::round(layers)) < kNear && layers > 1.0 && layers < 1e4) {
    run.layers = static_cast<std::int64_t>(std::round(layers));
    at.assume("layers", std::to_string(*run.layers), "of the size in its name, at 12 h² a layer");
  }
}

// Heads of the size nearest 128 that all ranks share evenly: how the attention is cut, no more.
void infer_heads(SideDraft& at) {
  RunCells& run = at.run;
  if (run.heads || !run.hidden || !run.layers) {
    return;
  }
  const std::int64_t hidden = *run.hidden;
  const std::int64_t ranks = at.words.tp.value_or(1);
  std::int64_t best = 0;
  for (std::int64_t head = kUsualHead / 2; head <= 2 * kUsualHead; ++head) {
    const bool even = hidden % head == 0 && (hidden / head) % ranks == 0;
    if (even && (best == 0 || std::abs(head - kUsualHead) < std::abs(best - kUsualHead))) {
      best = head;
    }
  }
  if (best > 0) {
    run.heads = hidden / best;
    at.assume("heads", std::to_string(*run.heads), "not stated; near 128 to a head");
  }
}

// Llama's: two thirds of 4 h, rounded up to a multiple of 256.
void infer_ffn(SideDraft& at) {
  RunCells& run = at.run;
  if (run.ffn || !run.hidden || looks_like_gpt(to_lower(run.model))) {
    return;
  }
  const std::int64_t least = (8 * *run.hidden + 2) / 3;
  run.ffn = (least + kFfnStep - 1) / kFfnStep * kFfnStep;
  at.assume("ffn", std::to_string(*run.ffn), "not stated; 8/3 h as Llama's");
}

// Of the model that it is a variant of: "mixtral-8x22b-g8t8" of "mixtral-8x22b".
void infer_vocabulary(SideDraft& at, const describe::DataStore& data) {
  if (at.run.vocab || looks_like_gpt(to_lower(at.run.model))) {
    return;
  }
  const std::string word = catalogue_word(at.model);
  for (const std::string& name : describe::catalogue_names(data)) {
    if (!starts_with_word(word, name)) {
      continue;
    }
    if (const auto model = describe::load_model(name, data)) {
      at.run.vocab = model->vocab;
      at.assume("vocab", std::to_string(model->vocab), "not stated; that of " + name);
    }
    return;
  }
}

// Trainers that do not accumulate: a batch that their ranks cannot share is the other side's.
void correct_batch(SideDraft& at) {
  RunCells& run = at.run;
  const ChangeWords& words = at.words;
  if (!words.dp_shard || !words.micro_batch || words.batch || words.pp.value_or(1) > 1 ||
      !run.global_batch || !run.devices) {
    return;
  }
  const std::int64_t dp = *run.devices / (words.tp.value_or(1) * words.cp.value_or(1));
  const std::int64_t whole = dp * *words.micro_batch;
  if (whole > 0 && *run.global_batch % whole != 0) {
    run.global_batch = whole;
    at.assume("gbs", std::to_string(whole), "what its ranks take at once");
  }
}

void read_model_shape(SideDraft& at, const describe::DataStore& data) {
  RunCells& run = at.run;
  const ChangeCells& change = at.change;
  const auto count = [&](std::string_view column) {
    return side_count(side_text(column, at.side));
  };
  // What tensors are cut into; beyond it no table of runs goes either.
  const auto part = [&](std::string_view column) {
    const Count found = count(column);
    return found && *found <= kMostPartsOfASide ? found : std::nullopt;
  };
  run.model = at.model;
  const bool sized = count(change.layers) && count(change.hidden) && count(change.heads);
  // Experts have more to them than these columns say.
  if (in_catalogue(catalogue_word(at.model), data) && (!sized || !change.experts.empty())) {
    return;
  }
  const std::string lower = to_lower(at.model);
  const bool gpt = looks_like_gpt(lower);
  run.layers = part(change.layers);
  run.hidden = count(change.hidden);
  run.heads = part(change.heads);
  run.kv_heads = part(change.kv_heads);
  run.ffn = count(change.ffn);
  run.vocab = count(change.vocab);
  run.experts = part(change.experts);
  run.topk = part(change.topk);
  if (!change.experts.empty() && (!run.experts || !run.topk || !run.ffn || !run.kv_heads)) {
    at.refusal = "model with experts that the catalogue does not have";
    return;
  }
  infer_vocabulary(at, data);
  const bool bloom = contains(to_lower(at.change.title), "bloom");
  at.arch = gpt ? bloom ? "dense(GPT, alibi/embed-norm)" : "dense(GPT)" : "dense";
  run.arch = at.arch;
  run.gated = !gpt;
  infer_layers(at);
  infer_heads(at);
  infer_ffn(at);
}

// Words of devices that neither an id nor an alias of data/devices is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kDeviceWords{
    {{"hbm2e-500w", "h100-sxm-hbm2e-500w"},
     {"a100-40g", "a100-sxm-40g"},
     {"v100-sxm2-32g", "v100-sxm-32g"}}};

Result<void> read_machine(SideDraft& at, Hardware& hardware) {
  RunCells& run = at.run;
  const std::string text = to_lower(side_text(at.change.device, at.side));
  for (const auto& [phrase, id] : kDeviceWords) {
    if (at.device.empty() && contains(text, phrase)) {
      at.device = id;
    }
  }
  if (at.device.empty()) {
    SEXTANT_TRY(const std::optional<std::string> found,
                hardware.device_in_text(text.substr(0, text.find(" ("))));
    at.device = found.value_or("");
  }
  if (at.device.empty() && !text.empty()) {
    at.refusal = "device not known";
    return {};
  }
  run.device = at.device;
  run.devices = side_count(side_text(at.change.devices, at.side));
  const Links links = read_links({}, side_text(at.change.network, at.side), 8);
  if (links.fabric && links.network_rate) {
    at.fabric =
        describe::word_of<describe::FabricFamily>(describe::kFabricFamilyWords, *links.fabric);
    run.fabric = at.fabric;
    run.nic_gbps_per_device = *links.network_rate / 1_Gbitps;
  }
  return {};
}

// ZeRO-3 of torchtitan and FSDP: what `dp_shard` is of, and what stays replicated.
void read_shards(SideDraft& at) {
  RunCells& run = at.run;
  const ChangeWords& words = at.words;
  if (!words.dp_shard) {
    return;
  }
  run.zero = words.zero ? words.zero : Count(3);
  const std::int64_t ranks = words.tp.value_or(1) * words.pp.value_or(1) * words.cp.value_or(1);
  const std::int64_t dp = std::max<std::int64_t>(stated(run.devices) / ranks, 1);
  if (*words.dp_shard < dp && dp % *words.dp_shard == 0) {
    run.zero_group = words.dp_shard;
  }
}

void read_axes_and_batch(SideDraft& at) {
  RunCells& run = at.run;
  const ChangeWords& words = at.words;
  run.tp = words.tp;
  run.pp = words.pp;
  run.vpp = words.vpp;
  run.cp = words.cp;
  run.ep = words.ep;
  run.etp = words.etp;
  run.dp = words.dp;
  run.sp = words.sp;
  run.zero = words.zero;
  run.zero_group = words.zero_group;
  read_shards(at);
  if (!run.tp && stated(run.devices) > 1 && run.zero &&
      (words.dp || words.pp || words.micro_batch)) {
    run.tp = 1;  // the side says how it is spread, and names no tp
    at.assume("tp", "1", "not among the axes that are stated");
  }
  if (!words.folded && !run.etp && run.tp) {
    run.etp = run.tp;  // experts folded apart are said to be
  }
  run.seq = side_count(side_text(at.change.seq, at.side));
  run.global_batch = words.batch ? words.batch : side_count(side_text(at.change.batch, at.side));
  if (words.micro_batch) {
    run.micro_batch = static_cast<double>(*words.micro_batch);
  }
  if (words.grad_accum) {
    run.grad_accum = static_cast<double>(*words.grad_accum);
  }
  correct_batch(at);
}

void read_formats(SideDraft& at) {
  RunCells& run = at.run;
  const ChangeWords& words = at.words;
  run.precision_kind = words.precision;
  run.precision_text = words.precision_text;
  run.recompute_kind = words.recompute;
  run.recompute_text = words.recompute_text;
  run.attention = words.attention;
  at.flags = words.flag_text();
  if (words.compiled.value_or(false)) {
    at.flags += "; compile";
  }
  if (words.optimizer_offload.value_or(false)) {
    at.flags += "; cpu offload + fused optimizer";
  }
  if (words.activation_offload.value_or(false)) {
    at.flags += "; activation_cpu_offload=1";
  }
  run.flags = at.flags;
  const bool tuned = words.fine_tuning || contains(at.change.conditions, "SFT");
  run.workload_kind = tuned ? "sft" : "pretrain";
}

void read_trainer(SideDraft& at) {
  const std::string lower = to_lower(at.change.framework);
  at.framework = at.change.framework;
  if (lower.starts_with("torchtrain")) {
    at.framework = "torchtitan (torchtrain)";  // its name until 2024-04
  } else if (lower.starts_with("hf t")) {
    at.framework = "Hugging Face " + std::string(at.change.framework.substr(3));
  }
  at.run.framework = at.framework;
  const Framework known = framework_of(at.framework, at.flags).framework;
  const bool megatron = known == Framework::kMegatronCore;
  if (megatron && !at.run.micro_batch) {
    at.run.micro_batch = 1.0;
    at.assume("mbs", "1", "not stated; Megatron accumulates");
  }
}

// What the language knows and no column of a runs row says.
void set_rest(const ChangeWords& words, RunJob& made) {
  const bool plain = words.all_to_all.value_or(false);
  if (!made.job || (!words.reshard && !plain)) {
    return;
  }
  describe::Job job = *made.job;
  if (words.reshard) {
    job.layout.reshard_after_forward = *words.reshard;
    job.stated.emplace("reshard");
  }
  if (plain) {
    job.layout.dispatcher = describe::Dispatcher::kAllToAll;
    job.stated.emplace("dispatcher");
  }
  made.job = std::make_shared<const describe::Job>(std::move(job));
}

}  // namespace

std::string_view side_text(std::string_view column, Side side) {
  const TwoSides both = two_sides(column);
  return side == Side::kBefore ? both.before : both.after;
}

Result<RunJob> side_job(const ChangeCells& change, const ChangeWords& words, Side side,
                        Hardware& hardware) {
  SideDraft at{change, words, side, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  at.model = side_text(change.model, side);
  at.run.id = change.id;
  at.run.date = change.date;
  at.run.trust = change.trust;
  read_model_shape(at, hardware.data());
  SEXTANT_CHECK_OK(read_machine(at, hardware));
  RunJob refused;
  if (!at.refusal.empty()) {
    refused.refusal = at.refusal;
    return refused;
  }
  read_axes_and_batch(at);
  read_formats(at);
  read_trainer(at);
  SEXTANT_TRY(const ModelReading model, run_model(at.run, hardware.data()));
  SEXTANT_TRY(RunJob made, run_job(at.run, model, hardware));
  set_rest(words, made);
  made.assumed.insert(made.assumed.begin(), at.assumed.begin(), at.assumed.end());
  return made;
}

}  // namespace sextant::measured
