#include "made_jobs.h"

#include <cassert>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "made_rank.h"

namespace sextant::tests {
namespace {

struct JobRow {
  std::string_view name;
  app::JobRequest request;
  MadePlan plan;
};

JobRow row_of(JobKind kind) {
  constexpr std::string_view kOverlap = "overlap=grad_reduce+param_gather";
  switch (kind) {
    case JobKind::kTensor:
      return {"llama-3.1-8b, tp 4, dp 2",
              {"llama-3.1-8b", "8xh100-sxm", fmt::format("tp=4,sp=1,{}+tp", kOverlap),
               "megatron-core", "8192", "8", ""},
              {.layers = 2, .microbatches = 4, .steps = 4}};
    case JobKind::kPipeline:
      return {"llama-3.1-8b, pp 2, dp 4",
              {"llama-3.1-8b", "8xh100-sxm", "pp=2", "megatron-core", "8192", "144", ""},
              {.layers = 1, .microbatches = 36, .steps = 4, .folds = true}};
    case JobKind::kExperts:
      return {"mixtral-8x7b, ep 8",
              {"mixtral-8x7b", "8xh100-sxm", "ep=8", "megatron-core", "4096", "32", ""},
              {.layers = 2, .microbatches = 4, .steps = 4}};
    case JobKind::kContext:
      return {"llama-3.1-8b, 64 k tokens, cp 4, tp 2",
              {"llama-3.1-8b", "8xh100-sxm", fmt::format("cp=4,tp=2,sp=1,{}+tp", kOverlap),
               "megatron-core", "65536", "2", ""},
              {.layers = 2, .microbatches = 2, .steps = 4}};
    case JobKind::kSharded:
      break;
  }
  return {"llama-3.1-8b, 32 k tokens, FSDP over 8",
          {"llama-3.1-8b", "8xh100-sxm", "", "torchtitan", "32768", "16", ""},
          {.layers = 5, .microbatches = 2, .steps = 4, .folds = true}};
}

}  // namespace

std::string_view name_of(JobKind kind) {
  return row_of(kind).name;
}

const MadeCase& made_case(JobKind kind) {
  static std::map<JobKind, MadeCase> known;
  const auto at = known.find(kind);
  if (at != known.end()) {
    return at->second;
  }
  const JobRow row = row_of(kind);
  auto job = made_job(std::string(row.name), row.request, app::Context{});
  if (!job) {
    fmt::print(stderr, "{}\n", to_text(job.error()));
    std::abort();
  }
  return known.emplace(kind, MadeCase{*std::move(job), row.plan}).first->second;
}

FaultCase fault_case(FaultKind kind, std::uint64_t seed) {
  const auto draw = [&](int which) {
    return uniform_of(seed, {static_cast<std::int64_t>(kind), which});
  };
  const auto between = [&](double least, double most) { return least + (most - least) * draw(0); };
  const auto rank = static_cast<int>(8.0 * draw(1));
  FaultCase made;
  made.fault = {.kind = kind, .rank = rank, .size = 1.0};
  const auto in = [&](JobKind job, double least, double most) {
    made.job = job;
    made.fault.size = between(least, most);
  };
  switch (kind) {
    case FaultKind::kNone:
      break;
    case FaultKind::kSlowWorker:
    case FaultKind::kSlowBackward:
      in(draw(2) < 0.5 ? JobKind::kTensor : JobKind::kSharded, 1.2, 2.0);
      break;
    case FaultKind::kStarvedHost:
    case FaultKind::kLaunchBound:
      in(JobKind::kTensor, 1.15, 1.8);
      break;
    case FaultKind::kLateData:
    case FaultKind::kInputBound:
      in(draw(2) < 0.5 ? JobKind::kTensor : JobKind::kSharded, 0.15, 0.6);
      break;
    case FaultKind::kStragglingLink:
      in(JobKind::kPipeline, 50.0, 120.0);
      break;
    case FaultKind::kSlowCollective:
      in(JobKind::kTensor, 6.0, 12.0);
      break;
    case FaultKind::kStageImbalance:
      in(JobKind::kPipeline, 1.15, 1.5);
      break;
    case FaultKind::kPipelineBubble:
      in(JobKind::kPipeline, 2.0, 7.0);
      made.fault.size = static_cast<int>(made.fault.size);
      break;
    case FaultKind::kSequenceImbalance:
      in(JobKind::kSharded, 1.8, 4.0);
      break;
    case FaultKind::kExpertImbalance:
      in(JobKind::kExperts, 1.3, 2.5);
      break;
    case FaultKind::kExposedTp:
      in(JobKind::kTensor, 1.0, 2.0);
      break;
    case FaultKind::kExposedDp:
      in(JobKind::kSharded, 4.0, 10.0);
      break;
    case FaultKind::kExposedPp:
      in(JobKind::kPipeline, 4.0, 12.0);
      break;
    case FaultKind::kExposedEp:
      in(JobKind::kExperts, 2.0, 5.0);
      break;
    case FaultKind::kExposedCp:
      in(JobKind::kContext, 4.0, 10.0);
      break;
    case FaultKind::kHostSync:
      in(JobKind::kTensor, 0.03, 0.15);
      break;
    case FaultKind::kPythonGc:
      in(JobKind::kTensor, 0.2, 0.6);
      break;
    case FaultKind::kCheckpoint:
      in(JobKind::kTensor, 0.5, 2.0);
      break;
  }
  made.plan = made_case(made.job).plan;
  made.plan.seed = seed;
  if (kind == FaultKind::kPythonGc) {
    made.plan.host_load = 0.85;
  }
  // Every other run is recorded by clocks that disagree.
  if (seed % 2 == 1) {
    made.plan.farthest_clock = 10_s;
    made.plan.most_drift = 50e-6;
  }
  return made;
}

}  // namespace sextant::tests
