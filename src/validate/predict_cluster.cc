#include "validate/predict_cluster.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "describe/layout/rules.h"
#include "describe/processor_facts.h"
#include "describe/step_facts.h"
#include "measured/table.h"
#include "step/estimate.h"

namespace sextant::validate {
namespace {

using measured::Answer;
using measured::ClusterBenchSubject;
using measured::ClusterStepSubject;
using measured::Prediction;
using measured::Refusal;

double size_or_zero(const ClusterBenchSubject& subject, std::size_t at) {
  return static_cast<double>(subject.sizes[at].value_or(0));
}

void add_row(const ClusterBenchSubject& subject, Seconds time, cost::ClusterBench& bench) {
  const double first = size_or_zero(subject, 0);
  if (subject.kind == "matmul") {
    constexpr double kPerTriple = 2.0;  // multiply and add
    const double triples = first * size_or_zero(subject, 1) * size_or_zero(subject, 2);
    bench.products.push_back({Flops(kPerTriple * triples), time});
  } else if (subject.kind == "all_reduce") {
    bench.all_reduces.push_back({subject.group, Bytes(first), time});
  } else if (subject.kind == "ping_pong") {
    bench.messages.push_back({subject.group, Bytes(first), time / 2.0});  // there and back
  }
}

// The ranks share the memory of one machine; a rank draws no more than its threads can.
cost::ClusterMemory cluster_memory(const ClusterStepSubject& subject,
                                   const describe::ProcessorFacts& facts) {
  const describe::Job& job = *subject.job;
  const BytesPerSecond shared =
      job.cluster.device.memory_bandwidth.value *
      (facts.memory_share.value / static_cast<double>(job.cluster.devices));
  const BytesPerSecond drawn =
      facts.thread_memory.value * static_cast<double>(std::max<std::int64_t>(subject.threads, 1));
  return {std::min(shared, drawn), facts.call.value};
}

// A bare loop that overlaps nothing. What uneven ranks add stays as it was found on other clusters.
describe::StepFacts without_overlap(describe::StepFacts facts) {
  facts.hidden_tensor.value = 0.0;
  facts.hidden_expert.value = 0.0;
  facts.hiding_compute.value = 0.0;
  facts.slowed.value = 0.0;
  facts.host.value = 0.0;
  facts.loop.value = Seconds();
  return facts;
}

}  // namespace

Result<cost::ClusterBench> cluster_bench(const std::filesystem::path& path, std::int64_t threads,
                                         const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<measured::Row> rows, measured::read_table(path, data));
  cost::ClusterBench bench;
  for (const measured::Row& row : rows) {
    const auto* subject = std::get_if<ClusterBenchSubject>(&row.subject);
    if (subject == nullptr) {
      return invalid("not a table of micro-benchmarks", path.string(),
                     "columns world, threads, kind, group, a, b, c, time_us");
    }
    if (subject->threads == threads) {
      add_row(*subject, 1_us * row.measured, bench);
    }
  }
  return bench;
}

Result<cost::ClusterConstants> ClusterPredictor::constants(const ClusterStepSubject& subject) {
  if (!subject.bench) {
    return not_found("no micro-benchmarks beside the table");
  }
  const auto key = std::pair(*subject.bench, subject.threads);
  if (const auto found = known_.find(key); found != known_.end()) {
    return found->second;
  }
  const auto fitted = [&]() -> Result<cost::ClusterConstants> {
    SEXTANT_TRY(const cost::ClusterBench bench, cluster_bench(key.first, key.second, data_));
    return cost::fit_cluster(bench);
  };
  return known_.emplace(key, fitted()).first->second;
}

Result<step::StepModel> ClusterPredictor::model_of(const ClusterStepSubject& subject,
                                                   const describe::ProcessorFacts& processor) {
  SEXTANT_TRY(const cost::ClusterConstants fitted, constants(subject));
  SEXTANT_TRY(describe::StepFacts facts, describe::step_facts(data_));
  const std::int64_t ranks = subject.job->cluster.devices;
  step::StepModel model;
  model.device = cost::cluster_device(fitted, cluster_memory(subject, processor));
  model.comm = cost::cluster_comm(fitted, ranks);
  model.domain_size = ranks;
  model.facts = without_overlap(std::move(facts));
  // Tensor-parallel ranks meet after every other product: the slowest of them counts each time.
  model.facts.uneven.value +=
      fitted.product_spread * cost::expected_largest(subject.job->layout.tp);
  return model;
}

Answer ClusterPredictor::operator()(const measured::Row& row) {
  const auto* subject = std::get_if<ClusterStepSubject>(&row.subject);
  if (subject == nullptr || row.quantity != "step_ms") {
    return Refusal{"not modelled yet"};
  }
  if (const auto broken = describe::check_rules(*subject->job); !broken.empty()) {
    return Refusal{fmt::format("not legal: {}", broken.front().rule)};
  }
  const auto processor = describe::processor_facts(data_);
  if (!processor) {
    return Refusal{processor.error().what};
  }
  const auto model = model_of(*subject, *processor);
  if (!model) {
    return Refusal{model.error().what};
  }
  Prediction prediction;
  prediction.value = step::estimate_step(*subject->job, *model).step / 1_ms;
  prediction.assumed = {
      {"memory",
       fmt::format("{:.1f} GB/s a rank", cluster_memory(*subject, *processor).rate / 1_GBps),
       fmt::format("{}'s, shared by all ranks; attention, norms and AdamW were not timed apart",
                   subject->job->cluster.device.id),
       {}},
      {"bench", "on all ranks at once", {}, {}},
      {"call",
       fmt::format("{:.0f} us", processor->call.value / 1_us),
       "no training loop beside the step",
       {}}};
  return prediction;
}

}  // namespace sextant::validate
