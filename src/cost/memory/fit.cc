#include "cost/memory/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include <fmt/format.h>

#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"

namespace sextant::cost {
namespace {

using describe::Job;
using describe::Layout;
using describe::LossKernel;
using describe::Recompute;
using describe::RecomputeModule;
using describe::Zero;

// A lever: the layout with one thing changed, and its name; nothing where it is pulled already.
struct Changed {
  Layout layout;
  std::string change;
};
using Lever = std::optional<Changed> (*)(const Job&);

std::optional<Changed> doubled(const Job& job, std::int64_t Layout::* axis, std::string_view key) {
  Changed changed{job.layout, {}};
  changed.layout.*axis *= 2;
  changed.layout.dp = 0;
  changed.change = fmt::format("{}={}", key, changed.layout.*axis);
  return changed;
}

const std::array<Lever, 12>& levers() {
  static const std::array<Lever, 12> kAll{
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.mbs % 2 != 0) {
          return std::nullopt;
        }
        Changed changed{job.layout, {}};
        changed.layout.mbs /= 2;
        changed.change = fmt::format("mbs={}", changed.layout.mbs);
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.loss == LossKernel::kInPlace) {
          return std::nullopt;
        }
        Changed changed{job.layout, "loss=in-place"};
        changed.layout.loss = LossKernel::kInPlace;
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.recompute.granularity != Recompute::kNone) {
          return std::nullopt;
        }
        Changed changed{job.layout, "recompute=selective:mlp"};
        changed.layout.recompute = {.granularity = Recompute::kSelective,
                                    .modules = {RecomputeModule::kMlp}};
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.recompute.granularity == Recompute::kFull) {
          return std::nullopt;
        }
        Changed changed{job.layout, "recompute=full"};
        changed.layout.recompute = {.granularity = Recompute::kFull, .modules = {}};
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.zero != Zero::kNone) {
          return std::nullopt;
        }
        Changed changed{job.layout, "zero=1"};
        changed.layout.zero = Zero::kOptimizer;
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.zero == Zero::kParameters) {
          return std::nullopt;
        }
        Changed changed{job.layout, "zero=3"};
        changed.layout.zero = Zero::kParameters;
        return changed;
      },
      [](const Job& job) { return doubled(job, &Layout::tp, "tp"); },
      [](const Job& job) { return doubled(job, &Layout::pp, "pp"); },
      [](const Job& job) { return doubled(job, &Layout::cp, "cp"); },
      [](const Job& job) -> std::optional<Changed> {
        return describe::has_experts(job.model) ? doubled(job, &Layout::ep, "ep") : std::nullopt;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.optimizer.offload) {
          return std::nullopt;
        }
        Changed changed{job.layout, {}};
        changed.layout.optimizer.offload = true;
        changed.change = fmt::format("optimizer={}:offload",
                                     describe::word_of<describe::OptimizerKind>(
                                         describe::kOptimizerWords, job.layout.optimizer.kind));
        return changed;
      },
      [](const Job& job) -> std::optional<Changed> {
        if (job.layout.activation_offload) {
          return std::nullopt;
        }
        Changed changed{job.layout, "activation_offload=1"};
        changed.layout.activation_offload = true;
        return changed;
      },
  };
  return kAll;
}

}  // namespace

double fit_odds(const RankMemory& fullest, Bytes available) {
  const Bytes room = available - fullest.apart;
  const Bytes need = fullest.device - fullest.apart;
  if (room <= Bytes() || fullest.spread <= 0.0) {
    return fullest.device <= available ? 1.0 : 0.0;
  }
  const double deviations = std::log(room / need) / fullest.spread;
  return 0.5 * std::erfc(-deviations / std::numbers::sqrt2);
}

std::optional<MemoryRejection> memory_rejection(const RankMemory& fullest, Bytes available) {
  if (fullest.least <= available) {
    return std::nullopt;
  }
  return MemoryRejection{
      .pipeline_rank = fullest.pipeline_rank, .needed = fullest.least, .available = available};
}

RankMemory with_expandable_segments(RankMemory memory, const describe::MemoryFacts& facts) {
  const Bytes needed = memory.allocated * facts.expandable_fragmentation.value;
  memory.reserved += needed - (memory.device - memory.apart);
  memory.device = memory.apart + needed;
  // What is not known of a framework's tensors stays unknown.
  const double doubt = std::sqrt(
      std::max(0.0, memory.spread * memory.spread - facts.spread.value * facts.spread.value));
  memory.spread = std::hypot(facts.expandable_spread.value, doubt);
  return memory;
}

std::optional<MemoryRejection> margin_rejection(const RankMemory& fullest, Bytes available) {
  if (fullest.device <= available) {
    return std::nullopt;
  }
  return MemoryRejection{
      .pipeline_rank = fullest.pipeline_rank, .needed = fullest.device, .available = available};
}

std::vector<FittingChange> fitting_changes(const Job& job, const describe::MemoryFacts& facts,
                                           double odds) {
  std::vector<FittingChange> changes;
  const Bytes available = job.cluster.device.usable_memory();
  Job changed_job = job;
  const auto add = [&](const RankMemory& fullest, const std::string& change, const Layout& layout) {
    const double likely = fit_odds(fullest, available);
    if (!memory_rejection(fullest, available) && likely >= odds) {
      changes.push_back({change, fullest.device, likely, layout});
    }
  };
  if (job.framework != describe::Framework::kMaxtext) {
    add(with_expandable_segments(MemoryModel(job, facts).fullest(job.layout), facts),
        kExpandableSegments, job.layout);
  }
  for (const Lever lever : levers()) {
    const std::optional<Changed> changed = lever(job);
    if (!changed) {
      continue;
    }
    changed_job.layout = changed->layout;
    if (!describe::is_legal(changed_job)) {
      continue;
    }
    add(MemoryModel(changed_job, facts).fullest(changed_job.layout), changed->change,
        changed->layout);
  }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const FittingChange& a, const FittingChange& b) { return a.needed > b.needed; });
  return changes;
}

}  // namespace sextant::cost
