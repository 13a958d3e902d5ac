#include "measured/run_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "measured/row_tools.h"
#include "measured/run_reading.h"

namespace sextant::measured {

namespace {

using describe::Framework;
using describe::Layout;
using describe::Storage;

constexpr int kSequenceParallelSince = 2022;  // Korthikanti et al., arXiv:2205.05198
// Recipes of DeepSeek, Qwen, Mixtral in Megatron-Bridge and in NeMo from 25.04 on set etp = 1.
constexpr Month kWholeExpertsSince{2025, 4};
void read_framework(Reading& at) {
  const FrameworkReading reading = framework_of(at.run.framework, at.run.flags);
  at.out.framework = reading.framework;
  if (!reading.literal) {
    at.assume("framework",
              describe::word_of<Framework>(describe::kFrameworkWords, reading.framework),
              fmt::format("from \"{}\"", printable(at.run.framework)));
  }
}

// tp, cp, pp, vpp, dp, ep. False where the row does not say enough.
bool read_axes(Reading& at) {
  const RunCells& run = at.run;
  Layout& layout = at.out.layout;
  if (!run.tp && stated(run.devices) > 1 && run.zero != 3) {
    at.out.refusal = run.pp ? "layout not stated: tp" : "layout not stated: tp, pp";
    return false;
  }
  if (!run.ep && has_experts(at.model) && at.flags.mention("deepep")) {
    at.out.refusal = "layout not stated: ep";  // DeepEP is for more than one
    return false;
  }
  if (!run.tp && stated(run.devices) > 1) {
    at.assume("tp", 1, "ZeRO-3 row");
  }
  if (!run.pp && stated(run.devices) > 1) {
    at.assume("pp", 1, "not stated");
  }
  for (const auto& [value, key] : {std::pair{run.tp, "tp"},
                                   {run.cp, "cp"},
                                   {run.pp, "pp"},
                                   {run.vpp, "vpp"},
                                   {run.dp, "dp"},
                                   {run.ep, "ep"}}) {
    if (value) {
      at.given.emplace_back(key);
    }
  }
  layout.tp = run.tp.value_or(1);
  layout.cp = run.cp.value_or(1);
  layout.pp = run.pp.value_or(1);
  layout.vpp = run.vpp.value_or(1);
  layout.dp = run.dp.value_or(0);
  layout.ep = run.ep.value_or(1);
  if (layout.pp == 1 && layout.vpp > 1) {
    at.assume("vpp", 1, fmt::format("vpp={} without a pipeline", layout.vpp));
    layout.vpp = 1;
  }
  return true;
}

void infer_chunks(Reading& at) {
  Layout& layout = at.out.layout;
  const std::int64_t layers = at.model.layer_count();
  if (at.run.vpp || layout.pp == 1 || !is_dense_recipe(at) || layers % layout.pp != 0) {
    return;
  }
  const std::int64_t own = layers / layout.pp;
  const std::int64_t chunk = own % 4 == 0 && own > 12 ? 4 : own % 2 == 0 ? 2 : 1;
  if (own > chunk) {
    layout.vpp = own / chunk;
    at.assume("vpp", layout.vpp, "not stated; NVIDIA's recipes interleave");
  }
}

void read_schedule(Reading& at) {
  using describe::Schedule;
  Layout& layout = at.out.layout;
  infer_chunks(at);
  if (layout.pp == 1) {
    return;
  }
  const auto set = [&](Schedule schedule, std::int64_t vpp) {
    layout.schedule = schedule;
    at.given.emplace_back("schedule");
    if (layout.vpp != vpp) {
      at.assume("vpp", vpp, "the schedule's");
      layout.vpp = vpp;
    }
  };
  if (at.flags.mention("dualpipev")) {
    set(Schedule::kDualPipeV, 2);
  } else if (at.flags.mention("dualpipe")) {
    set(Schedule::kDualPipe, 1);
  } else if (at.flags.mention("zbv")) {
    set(Schedule::kZbv, 2);
  } else if (at.flags.mention("gpipe")) {
    set(Schedule::kGpipe, 1);
  } else if (at.flags.mention("interleaved 1f1b") && layout.vpp == 1) {
    set(Schedule::kInterleaved1f1b, 2);
  }
}

void read_sequence_parallelism(Reading& at) {
  Layout& layout = at.out.layout;
  at.given.emplace_back("sp");
  if (layout.tp == 1) {
    layout.sp = false;
    return;
  }
  const auto flag = at.flags.on("SEQ_PARALLEL");
  if (at.run.sp || flag) {
    layout.sp = at.run.sp.value_or(flag.value_or(false));
    return;
  }
  const int year = year_of(at.run.date).value_or(kSequenceParallelSince);
  layout.sp = (at.out.framework == Framework::kMegatronCore && year >= kSequenceParallelSince) ||
              at.out.framework == Framework::kTorchtitan;
  at.assume("sp", layout.sp ? 1 : 0, "not stated");
}

void read_expert_axes(Reading& at) {
  Layout& layout = at.out.layout;
  if (!has_experts(at.model)) {
    if (layout.ep > 1) {
      at.assume("ep", 1, fmt::format("ep={} on a model without experts", layout.ep));
    }
    layout.ep = 1;
    return;
  }
  const auto flag = at.flags.value("expert_tensor_parallel_size");
  const auto etp = at.run.etp ? at.run.etp : to_integer(flag.value_or(""));
  if (etp && *etp > 0) {
    layout.etp = *etp;
    return;
  }
  if (layout.tp == 1 || !is_megatron(at.out.framework)) {
    return;
  }
  if (!year_of(at.run.date) || is_since(at.run.date, kWholeExpertsSince)) {
    at.assume("etp", 1, "not stated; NVIDIA's recipes for experts since 25.04");
    return;
  }
  const std::int64_t ranks = stated(at.run.devices) / layout.pp;
  layout.etp = ranks % (layout.ep * layout.tp) == 0 ? layout.tp : 1;
  at.assume("etp", layout.etp, "not stated; Megatron's default is tp where it divides");
}

// What NVIDIA's recipes and MLPerf submissions store, inferred. Gradients in bf16: of the 32
// performance recipes of Megatron-Bridge that set ddp.grad_reduce_in_fp32, 26 say False, and the
// memory that MLPerf's Llama-3.1-405B prints fits only so (fp32 would add 12 GiB to 51 on H100).
// Parameters in 8 bits under fp8: 18 of MLPerf's 41 fp8 pre-training rows state FP8_PARAMS on, none
// states it off.
void read_megatron_storage(Reading& at) {
  Layout& layout = at.out.layout;
  const bool eight_bits = layout.precision == describe::Precision::kFp8 ||
                          layout.precision == describe::Precision::kMxfp8;
  const std::string framework = to_lower(at.run.framework);
  const bool recipe = at.flags.on("USE_DIST_OPTIMIZER").has_value() || eight_bits ||
                      layout.precision == describe::Precision::kNvfp4 ||
                      contains(framework, "bridge") || contains(framework, "nemo");
  if (at.out.framework != Framework::kMegatronCore || !recipe) {
    return;
  }
  layout.gradients = Storage::kBf16;
  at.given.emplace_back("gradients");
  at.assume("gradients", "bf16", "NVIDIA's performance recipes");
  const auto flag = at.flags.on("FP8_PARAMS");
  if (eight_bits && flag.value_or(true)) {
    layout.parameters = Storage::kFp8;
    at.given.emplace_back("parameters");
    if (!flag) {
      at.assume("parameters", "fp8", "not stated; MLPerf's rows that state it do");
    }
  }
}

void read_precision(Reading& at) {
  Layout& layout = at.out.layout;
  const RunCells& run = at.run;
  if (run.precision_kind.empty() && contains(run.date, "MLPerf") && has_eight_bits(run.device)) {
    layout.precision = describe::Precision::kFp8;
    at.assume("precision", "fp8", "not stated; NVIDIA's MLPerf submissions on this device");
  } else if (run.precision_kind.empty()) {
    const bool half = at.out.framework == Framework::kMegatronDeepspeed;
    layout.precision = half ? describe::Precision::kFp16 : describe::Precision::kBf16;
    at.assume("precision", half ? "fp16" : "bf16", "not stated");
  } else {
    layout.precision = describe::parse_word<describe::Precision>(
                           describe::kPrecisionWords, run.precision_kind, "precision", "")
                           .value_or(describe::Precision::kBf16);
  }
  if (layout.precision == describe::Precision::kFp16) {
    layout.parameters = Storage::kFp16;
    layout.gradients = at.flags.mention("fp32 grad") ? Storage::kFp32 : Storage::kFp16;
    at.given.emplace_back("parameters");
  }
  read_megatron_storage(at);
  if (contains(run.precision_text, "pure bf16 weights+optimizer")) {
    layout.parameters = Storage::kBf16;
    layout.gradients = Storage::kBf16;
    layout.optimizer.master = Storage::kNone;
    layout.optimizer.first_moment = Storage::kBf16;
    layout.optimizer.second_moment = Storage::kBf16;
    at.given.emplace_back("parameters");
    at.given.emplace_back("optimizer");
  }
}

void read_optimizer(Reading& at) {
  using describe::OptimizerKind;
  Layout& layout = at.out.layout;
  const bool kimi = contains(to_lower(at.run.model), "kimi-k2");
  if (kimi || at.flags.mention("muon")) {
    layout.optimizer = describe::default_optimizer(OptimizerKind::kMuon);
    at.given.emplace_back("optimizer");
    if (!at.flags.mention("muon")) {
      at.assume("optimizer", "muon", "Kimi-K2 trains with it");
    }
  } else if (at.flags.mention("adamw8bit")) {
    const Storage master = layout.optimizer.master;
    layout.optimizer = describe::default_optimizer(OptimizerKind::kAdam8bit);
    layout.optimizer.master = master;
    at.given.emplace_back("optimizer");
  }
  if (at.flags.mention("cpu offload + fused optimizer")) {
    layout.optimizer.offload = true;
  }
}

void read_sharding(Reading& at) {
  Layout& layout = at.out.layout;
  if (at.run.zero) {
    layout.zero = static_cast<describe::Zero>(*at.run.zero);
    at.given.emplace_back("zero");
  } else if (const auto sharded = at.flags.on("USE_DIST_OPTIMIZER")) {
    layout.zero = *sharded ? describe::Zero::kOptimizer : describe::Zero::kNone;
    at.given.emplace_back("zero");
  }
  layout.zero_group = at.run.zero_group.value_or(0);
}

void read_storage_flags(Reading& at) {
  Layout& layout = at.out.layout;
  if (at.flags.value("mu_dtype") == "bfloat16") {
    layout.optimizer.first_moment = Storage::kBf16;
  }
  if (at.flags.value("fsdp_mixed_precision") == "pure") {
    layout.gradients = Storage::kBf16;
  }
  const auto offloaded = to_integer(at.flags.value("cpu_offloading_num_layers").value_or(""));
  layout.activation_offload = at.flags.on("activation_cpu_offload").value_or(false) ||
                              (offloaded && *offloaded > 0) || at.flags.mention("act offload") ||
                              at.flags.mention("activation offload") ||
                              contains(at.run.recompute_text, ":offload") ||
                              contains(at.run.recompute_text, "offloaded)") ||
                              at.flags.value("decoder_layer_input") == "offload" ||
                              at.run.recompute_text == "qkv_proj_offloaded";
}

// Sequences a micro-batch. Zero where even the data-parallel size does not work out.
void read_micro_batch(Reading& at) {
  Layout& layout = at.out.layout;
  const RunCells& run = at.run;
  const std::int64_t model_ranks = layout.tp * layout.cp * layout.pp;
  const std::int64_t dp =
      layout.dp > 0 ? layout.dp : std::max<std::int64_t>(stated(run.devices) / model_ranks, 1);
  const double share = static_cast<double>(run.global_batch.value_or(0)) / static_cast<double>(dp);
  const double printed = run.micro_batch.value_or(0.0);
  const bool a_chip = at.out.framework == Framework::kMaxtext && run.global_batch &&
                      std::abs(printed * run.grad_accum.value_or(1.0) - share) > 1e-9;
  if (run.micro_batch && !a_chip && std::trunc(printed) == printed) {
    layout.mbs = static_cast<std::int64_t>(printed);
    at.given.emplace_back("mbs");
    return;
  }
  if (a_chip) {
    at.given.emplace_back("mbs");
  }
  double derived = 1.0;
  if (at.out.framework == Framework::kTorchtitan && layout.pp > 1) {
    layout.mbs = 1;
    at.assume("mbs", 1,
              "not stated; torchtitan's pipelines split the local batch into single ones");
    return;
  }
  if (run.global_batch &&
      (run.grad_accum || a_chip || layout.zero == describe::Zero::kParameters)) {
    derived = share / std::max(run.grad_accum.value_or(1.0), 1.0);
  }
  layout.mbs = std::max<std::int64_t>(static_cast<std::int64_t>(derived), 1);
  at.assume("mbs", layout.mbs, a_chip ? "the table counts it a chip" : "not stated");
}

void read_beyond(Reading& at) {
  const auto note = [&](std::string_view mention, std::string_view what) {
    if (at.flags.mention(mention)) {
      at.out.beyond_layout.emplace_back(what);
    }
  };
  note("vocabulary layers partitioned over all stages", "vocabulary layers split over all stages");
  note("interlaced", "vocabulary layers interlaced with all stages");
  if (contains(at.run.framework, "torchtune") && !at.flags.mention("packed") &&
      !at.run.flags.starts_with("...")) {
    at.out.beyond_layout.emplace_back("unpacked documents of unstated length");
  }
  if (contains(at.run.precision_text, "rowwise")) {
    at.out.beyond_layout.emplace_back(
        "8-bit products with a scale a row: their kernels not measured");
  }
  note("tokendrop", "tokens over capacity are dropped");
  if (!at.flags.mention("capacity factor 1 padded")) {  // as many tokens as uniform routing sends
    note("capacity factor", "experts padded to a capacity factor");
  }
  note("optimizer_in_bwd", "optimizer step inside the backward pass");
  note("qlora", "frozen weights quantised to 4 bits");
}

}  // namespace

bool is_megatron(Framework framework) {
  return framework == Framework::kMegatronCore || framework == Framework::kMegatronDeepspeed;
}

bool has_eight_bits(std::string_view device) {
  constexpr std::array<std::string_view, 4> kStarts{"h1", "h2", "b", "gb"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return device.starts_with(start); });
}

bool is_dense_recipe(const Reading& at) {
  return contains(at.run.framework, "NeMo") && at.out.framework == Framework::kMegatronCore &&
         !has_experts(at.model);
}

RunLayout run_layout(const RunCells& run, const describe::Model& model) {
  Reading at{run, model, Flags(run.flags), {}, {}};
  read_framework(at);
  if (!read_axes(at)) {
    return std::move(at.out);
  }
  read_schedule(at);
  read_sequence_parallelism(at);
  read_expert_axes(at);
  read_precision(at);
  read_optimizer(at);
  read_sharding(at);
  read_kernels(at);
  if (!run.recompute_kind.empty()) {
    at.out.layout.recompute = run_recompute(run, at.out.assumed);
    at.given.emplace_back("recompute");
  }
  for (describe::Assumption& filled :
       describe::fill_defaults(at.out.layout, at.given, at.out.framework)) {
    at.out.assumed.push_back(std::move(filled));
  }
  if (run.recompute_kind.empty() &&
      at.out.layout.recompute.granularity == describe::Recompute::kNone) {
    at.assume("recompute", "none", "not stated");
  }
  read_overlaps(at);
  read_storage_flags(at);
  read_micro_batch(at);
  at.out.layout.split = run_split(run, model, at.out.layout, at.out.assumed);
  read_beyond(at);
  at.out.stated.insert(at.given.begin(), at.given.end());
  return std::move(at.out);
}

}  // namespace sextant::measured
