// Training jobs that planners are compared on, ready to be searched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/job_request.h"
#include "describe/layout/layout_text.h"
#include "machine/machine.h"
#include "search/problem.h"

namespace sextant::tests {

struct Scenario {
  std::string model;
  std::string cluster;
  std::int64_t batch = 0;     // sequences a step
  std::int64_t sequence = 0;  // tokens
  std::string layout = {};    // keys that the search starts from
};

// Batches are what the models' reports or their kin used at that scale: 4 to 16 million tokens for
// large runs, less on few devices.
inline std::vector<Scenario> plan_scenarios() {
  return {
      {"llama-2-7b", "64xa100-sxm-80g", 512, 4096},
      {"llama-2-7b", "64xh100-sxm", 512, 4096},
      {"llama-3-8b", "128xh100-sxm", 512, 8192},
      {"llama-3-8b", "256xh200-sxm", 512, 8192},
      {"llama-3-8b", "64xb200-sxm", 256, 8192},
      {"llama-2-13b", "128xa100-sxm-80g", 1024, 4096},
      {"llama-2-13b", "128xh800-sxm", 1024, 4096},
      {"gpt-neox-20b", "96xa100-sxm-40g", 1536, 2048},
      {"qwen2.5-32b", "256xh100-sxm", 1024, 4096},
      {"qwen2.5-32b", "128xh800-sxm", 512, 4096},
      {"llama-1-65b", "512xa100-sxm-80g", 2048, 2048},
      {"llama-1-65b", "2048xa100-sxm-80g", 2048, 2048},
      {"llama-3-70b", "64xh100-sxm", 128, 8192},
      {"llama-3-70b", "256xh100-sxm", 512, 8192},
      {"llama-3-70b", "1024xh100-sxm", 2048, 8192},
      {"llama-3-70b", "512xh200-sxm", 1024, 8192},
      {"llama-3-70b", "128xb200-sxm", 256, 8192},
      {"qwen2.5-72b", "512xh800-sxm", 1024, 4096},
      {"mistral-large-2-123b", "512xh100-sxm", 1024, 8192},
      {"gpt-3-175b", "128xa100-sxm-80g", 512, 2048},
      {"gpt-3-175b", "1024xa100-sxm-80g", 1536, 2048},
      {"gpt-3-175b", "512xh100-sxm", 2048, 2048},
      {"bloom-176b", "384xa100-sxm-80g", 1536, 2048},
      {"nemotron-4-340b", "1536xh100-sxm", 2304, 4096},
      {"llama-3.1-405b", "1024xh100-sxm", 512, 8192},
      {"llama-3.1-405b", "8192xh100-sxm", 2048, 8192},
      {"llama-3.1-405b", "16384xh100-sxm", 2048, 8192},
      {"llama-3.1-405b", "1024xb200-sxm", 512, 8192},
      {"megatron-530b", "2240xa100-sxm-80g", 2240, 2048},
      {"megatron-1t", "3072xa100-sxm-80g", 3072, 2048},
      {"megatron-1t", "4096xh100-sxm", 4096, 2048},
      {"mixtral-8x7b", "64xh100-sxm", 256, 4096},
      {"mixtral-8x7b", "256xa100-sxm-80g", 1024, 4096},
      {"mixtral-8x22b", "128xh100-sxm", 256, 4096},
      {"mixtral-8x22b", "512xh800-sxm", 1024, 4096},
      {"qwen3-30b-a3b", "64xh100-sxm", 512, 4096},
      {"qwen3-235b-a22b", "256xh100-sxm", 2048, 4096},
      {"qwen3-235b-a22b", "512xb200-sxm", 4096, 4096},
      {"deepseek-v2-236b", "512xh800-sxm", 2304, 4096},
      {"deepseek-v3-671b", "1024xh100-sxm", 8192, 4096},
      {"deepseek-v3-671b", "2048xh800-sxm", 15360, 4096},
      {"glm-4.5-air-106b-a12b", "256xh200-sxm", 1024, 4096},
      {"kimi-k2-1t", "2048xh800-sxm", 8192, 4096},
      {"kimi-k2-1t", "1024xb200-sxm", 8192, 4096},
  };
}

// The layout of the problem is Megatron Core's usual one, with the scenario's keys; nothing is
// fixed.
inline Result<search::Problem> problem_of(const Scenario& scenario, const app::Context& context) {
  app::JobRequest request;
  request.model = scenario.model;
  request.cluster = scenario.cluster;
  request.layout = scenario.layout;
  request.framework = "megatron-core";
  request.sequences = fmt::format("{}", scenario.sequence);
  request.global_batch = fmt::format("{}", scenario.batch);
  SEXTANT_TRY(app::JobReading reading, app::read_job(request, context));
  SEXTANT_TRY(machine::StepMachine machine, machine::step_machine(reading.job, context.data));
  search::Problem problem;
  problem.job = std::move(reading.job);
  problem.job.layout.dp = 0;
  problem.machine = std::move(machine.model);
  problem.memory = machine.memory;
  return problem;
}

}  // namespace sextant::tests
