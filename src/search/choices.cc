#include "search/choices.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "describe/model/model.h"
#include "search/mesh_orders.h"

namespace sextant::search {
namespace {

constexpr std::array<std::string_view, 20> kSearched{
    "tp",         "sp",      "cp",       "cp_method",
    "pp",         "vpp",     "schedule", "layers_per_stage",
    "ep",         "etp",     "dp",       "zero",
    "zero_group", "reshard", "mbs",      "recompute",
    "dispatcher", "overlap", "order",    "compile"};

using describe::Axis;
using describe::CpMethod;
using describe::Dispatcher;
using describe::Framework;
using describe::Launch;
using describe::Overlap;
using describe::Recompute;
using describe::RecomputeModule;
using describe::RecomputePolicy;
using describe::Schedule;
using describe::Zero;

constexpr std::array kPipelineLast{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp, Axis::kPp};
constexpr std::array kDataLast{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp};
// Experts are a part of data parallelism, contexts stand beside it: where either crosses slices,
// the pipeline stays inside.
constexpr std::array kExpertsLast{Axis::kTp, Axis::kCp, Axis::kPp, Axis::kDp, Axis::kEp};
constexpr std::array kContextLast{Axis::kTp, Axis::kEp, Axis::kPp, Axis::kDp, Axis::kCp};

// Bounds of the alphabet. Beyond them lie layouts that no kernel runs well: a share of fewer than
// two chunks of 128 tokens, more than 64 sequences at once.
constexpr std::int64_t kLeastShare = 256;
constexpr std::int64_t kMostSequences = 64;
constexpr std::int64_t kMostTp = 64;
constexpr std::int64_t kMostEtp = 8;
constexpr std::int64_t kMostChunks = 12;

std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 1; i <= std::min(number, most); ++i) {
    if (number % i == 0) {
      list.push_back(i);
    }
  }
  return list;
}

RecomputePolicy selective(std::vector<RecomputeModule> modules) {
  RecomputePolicy policy;
  policy.granularity = Recompute::kSelective;
  policy.modules = std::move(modules);
  return policy;
}

RecomputePolicy full() {
  RecomputePolicy policy;
  policy.granularity = Recompute::kFull;
  return policy;
}

// Every set of modules that Megatron can recompute and the model has, but those that name a part of
// another module beside it: `moe` runs its activation and its shared experts again too.
void add_module_sets(const describe::Model& model, std::vector<RecomputePolicy>& policies) {
  bool latent = false;
  bool dense = false;
  bool shared = false;
  for (const describe::Block& block : model.blocks) {
    latent = latent || std::holds_alternative<describe::LatentAttention>(block.mixer);
    dense = dense || std::holds_alternative<describe::DenseFfn>(block.ffn);
    const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn);
    shared = shared || (moe != nullptr && moe->shared_width > 0);
  }
  const bool experts = describe::has_experts(model);
  std::vector<RecomputeModule> modules{RecomputeModule::kCoreAttention,
                                       RecomputeModule::kLayerNorm};
  if (dense) {
    modules.push_back(RecomputeModule::kMlp);
  }
  if (experts) {
    modules.push_back(RecomputeModule::kMoe);
    modules.push_back(RecomputeModule::kMoeActivation);
  }
  if (latent) {
    modules.push_back(RecomputeModule::kMlaUpProjection);
  }
  if (shared) {
    modules.push_back(RecomputeModule::kSharedExperts);
  }
  for (std::uint32_t set = 1; set < (1U << modules.size()); ++set) {
    std::vector<RecomputeModule> named;
    bool whole = false;
    bool part = false;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        named.push_back(modules[i]);
        whole = whole || modules[i] == RecomputeModule::kMoe;
        part = part || modules[i] == RecomputeModule::kMoeActivation ||
               modules[i] == RecomputeModule::kSharedExperts;
      }
    }
    if (!(whole && part)) {
      policies.push_back(selective(std::move(named)));
    }
  }
}

void choose_megatron(const Problem& problem, Choices& to) {
  to.sp = {true, false};
  to.cp_methods = {CpMethod::kP2pRing, CpMethod::kAllGather, CpMethod::kAllToAll,
                   CpMethod::kAllToAllP2p};
  to.dispatchers = {Dispatcher::kAllToAll, Dispatcher::kAllGather, Dispatcher::kDeepEp};
  to.schedules = {Schedule::k1f1b, Schedule::kInterleaved1f1b};
  to.splits = Splits::kAny;
  to.counts_ends = true;
  to.recomputes_some = true;
  add_module_sets(problem.job.model, to.recompute);
  to.recompute.push_back(full());
  to.zero = {Zero::kOptimizer, Zero::kNone};
  to.zero_groups = true;
  to.switches = {Overlap::kGradReduce, Overlap::kParamGather, Overlap::kTensorParallel,
                 Overlap::kPipeline, Overlap::kExpert};
  to.orders = {kPipelineLast, kDataLast};
}

void choose_megatron_deepspeed(Choices& to) {
  to.sp = {false, true};
  to.schedules = {Schedule::k1f1b};
  to.recompute.push_back(full());
  to.zero = {Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters};
}

void choose_torchtitan(Choices& to) {
  to.sp = {true};
  to.cp_methods = {CpMethod::kAllGather, CpMethod::kP2pRing};
  to.schedules = {Schedule::k1f1b,      Schedule::kInterleaved1f1b,       Schedule::kGpipe,
                  Schedule::kLoopedBfs, Schedule::kInterleavedZeroBubble, Schedule::kZbv,
                  Schedule::kDualPipeV};
  to.splits = Splits::kAny;
  to.recompute.push_back(selective({RecomputeModule::kEverySecondProduct}));
  to.recompute.push_back(selective({RecomputeModule::kEverySecondLayer}));
  to.recompute.push_back(full());
  to.zero = {Zero::kParameters};
  to.zero_groups = true;
  to.reshard = {true, false};
  to.always = {Overlap::kGradReduce, Overlap::kParamGather};
  to.switches = {Overlap::kTensorParallel};  // asynchronous TP is a pass of the compiler
  to.launches = {Launch::kEager, Launch::kCompiled};
  to.orders = {kPipelineLast};
}

void choose_deepspeed(Choices& to) {
  to.tp = {1};
  to.cp = {1};
  to.pp = {1};
  to.recompute.push_back(full());
  to.zero = {Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters};
  to.switches = {Overlap::kGradReduce};
}

// XLA decides what it hides; "minimal_with_context" keeps all products. Any axis of the mesh may
// cross slices; tensor parallelism, several messages a layer, is not let.
void choose_maxtext(const Problem& problem, Choices& to) {
  to.cp_methods = {CpMethod::kAllGather};
  to.schedules = {Schedule::k1f1b, Schedule::kInterleaved1f1b};
  to.splits = Splits::kEven;
  to.recompute = {selective({RecomputeModule::kLayerNorm, RecomputeModule::kActivation}), full()};
  to.zero = {Zero::kParameters};
  to.zero_groups = true;
  to.always = {Overlap::kGradReduce, Overlap::kParamGather};
  to.mesh = true;
  if (slices_of(problem) > 1) {
    to.orders = {kPipelineLast, kDataLast, kExpertsLast, kContextLast};
  }
}

void choose_fsdp(Choices& to, bool has_tp) {
  if (!has_tp) {
    to.tp = {1};
    to.cp = {1};
  }
  to.pp = {1};
  to.ep = {1};
  to.recompute.push_back(full());
  to.zero = {Zero::kParameters, Zero::kGradients};
  to.zero_groups = true;
  to.always = {Overlap::kGradReduce, Overlap::kParamGather};
}

void choose_nanotron(Choices& to) {
  to.sp = {true, false};
  to.cp = {1};
  to.schedules = {Schedule::k1f1b, Schedule::kGpipe};
  to.recompute.push_back(full());
  to.zero = {Zero::kOptimizer, Zero::kNone};
}

void choose_framework(const Problem& problem, Choices& to) {
  switch (problem.job.framework) {
    case Framework::kMegatronCore:
    case Framework::kOther:
      choose_megatron(problem, to);
      break;
    case Framework::kMegatronDeepspeed:
      choose_megatron_deepspeed(to);
      break;
    case Framework::kTorchtitan:
      choose_torchtitan(to);
      break;
    case Framework::kDeepspeed:
      choose_deepspeed(to);
      break;
    case Framework::kMaxtext:
      choose_maxtext(problem, to);
      break;
    case Framework::kAccelerate:
      choose_fsdp(to, true);
      break;
    case Framework::kFsdp1:
      choose_fsdp(to, false);
      break;
    case Framework::kNanotron:
      choose_nanotron(to);
      break;
  }
}

// A value the user fixed is the only one left.
template <typename T>
void fix(const Problem& problem, std::string_view key, std::vector<T>& values, const T& value) {
  if (problem.is_fixed(key)) {
    values.assign(1, value);
  }
}

void fix_given(const Problem& problem, Choices& to) {
  const describe::Layout& at = problem.job.layout;
  fix(problem, "tp", to.tp, at.tp);
  fix(problem, "cp", to.cp, at.cp);
  fix(problem, "pp", to.pp, at.pp);
  fix(problem, "ep", to.ep, at.ep);
  fix(problem, "etp", to.etp, at.etp);
  fix(problem, "mbs", to.mbs, at.mbs);
  fix(problem, "vpp", to.vpp, at.vpp);
  fix(problem, "sp", to.sp, at.sp);
  fix(problem, "cp_method", to.cp_methods, at.cp_method);
  fix(problem, "compile", to.launches, at.launch);
  fix(problem, "dispatcher", to.dispatchers, at.dispatcher);
  fix(problem, "schedule", to.schedules, at.schedule);
  fix(problem, "recompute", to.recompute, at.recompute);
  fix(problem, "zero", to.zero, at.zero);
  fix(problem, "reshard", to.reshard, bool{at.reshard_after_forward});
  fix(problem, "order", to.orders, at.order);
  if (problem.is_fixed("recompute")) {
    to.recomputes_some = false;
  }
  if (problem.is_fixed("zero_group")) {
    to.zero_groups = false;
  }
  if (problem.is_fixed("overlap")) {
    to.switches.clear();
    to.always = at.overlap;
  }
}

}  // namespace

Choices choices_of(const Problem& problem) {
  const describe::Job& job = problem.job;
  const std::int64_t devices = job.cluster.devices;
  Choices to;
  to.tp = divisors(devices, kMostTp);
  to.cp = divisors(devices, std::max<std::int64_t>(job.sequences.length / kLeastShare, 1));
  to.pp = divisors(devices, job.model.layer_count());
  to.ep = {1};
  to.etp = {1};
  if (describe::has_experts(job.model)) {
    to.ep = divisors(devices, devices);
    to.etp = divisors(devices, kMostEtp);
  }
  to.mbs = divisors(job.global_batch, kMostSequences);
  for (std::int64_t chunks = 1; chunks <= job.model.layer_count(); ++chunks) {
    if (chunks <= kMostChunks || job.model.layer_count() % chunks == 0) {
      to.vpp.push_back(chunks);
    }
  }
  to.sp = {false};
  to.cp_methods = {CpMethod::kP2pRing};
  to.dispatchers = {Dispatcher::kAllToAll};
  to.launches = {job.layout.launch};
  to.schedules = {Schedule::k1f1b};
  to.recompute = {RecomputePolicy{}};
  to.reshard = {true};
  to.orders = {kPipelineLast};
  choose_framework(problem, to);
  fix_given(problem, to);
  return to;
}

bool is_searched(std::string_view key) {
  return std::find(kSearched.begin(), kSearched.end(), key) != kSearched.end();
}

}  // namespace sextant::search
