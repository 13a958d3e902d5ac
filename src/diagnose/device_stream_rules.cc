#include <algorithm>

#include <fmt/format.h>

#include "diagnose/device_facts.h"
#include "diagnose/device_rules.h"

namespace sextant::diagnose {
namespace {

using metrics::ChainRow;
using metrics::WorkPart;
using metrics::WorkPass;
using metrics::WorkRow;

// ---- chains of what streams through memory ----

struct ChainSum {
  Seconds time;
  Seconds idle;
  Seconds unstated;  // of those whose shapes are not known
  Bytes bytes;
  Bytes least;
  double chains = 0.0;
  double operators = 0.0;
  std::vector<const ChainRow*> rows;
};

// What is run again is needless-recompute's, the optimizer's unfused-optimizer's.
ChainSum chain_sum(const Scene& scene) {
  ChainSum sum;
  const auto steps = static_cast<double>(scene.totals.steps);
  for (const ChainRow& row : scene.device_work.chains) {
    if (row.pass == WorkPass::kAgain || row.pass == WorkPass::kUpdate) {
      continue;
    }
    sum.time += of_mean_step(scene, row.stated_ns);
    sum.idle += of_mean_step(scene, row.idle_ns);
    sum.unstated += of_mean_step(scene, row.time.total_ns - row.stated_ns);
    sum.bytes += Bytes(row.bytes.value() / steps);
    sum.least += Bytes(row.least_bytes.value() / steps);
    sum.chains += static_cast<double>(row.time.count) / steps;
    sum.operators += static_cast<double>(row.operators) / steps;
    sum.rows.push_back(&row);
  }
  return sum;
}

std::vector<Evidence> chain_evidence(const Scene& scene, const ChainSum& sum) {
  std::vector<Evidence> evidence;
  const metrics::RankSummary& rank = scene.summary->ranks.front();
  for (const ChainRow* row : sum.rows) {
    const auto same = std::ranges::find_if(rank.device_work.chains, [&](const ChainRow& one) {
      return one.pass == row->pass && one.names == row->names;
    });
    if (same != rank.device_work.chains.end() && evidence.size() < kMostEvidence) {
      evidence.push_back({rank.rank, same->longest, same->names});
    }
  }
  return evidence;
}

void add_epilogues(const Scene& scene, Findings& answer) {
  const ChainSum chains = chain_sum(scene);
  if (chains.unstated > chains.time && is_worth_a_word(scene, chains.unstated)) {
    answer.abstained.push_back({"memory-bound-epilogues", "shapes"});
  }
  if (chains.time <= Seconds()) {
    return;
  }
  const auto least = at_bandwidth(scene, chains.least);
  if (!least) {
    answer.abstained.push_back({"memory-bound-epilogues", "device"});
    return;
  }
  const Seconds lost = std::max(Seconds(), chains.time - *least);
  if (!is_worth_a_word(scene, lost)) {
    return;
  }
  const Seconds gaps = own_gaps(chains.idle, chains.operators);
  answer.found.push_back(
      {.rule = "memory-bound-epilogues",
       .cause = fmt::format(
           "{:.0f} operators a step stream through memory directly behind one another, in {:.0f} "
           "chains that take {} ({}) and move {:.3g} GB; fused they need {:.3g} GB, {} at least. "
           "The longest: {}.",
           chains.operators, chains.chains, milliseconds(chains.time),
           percent_of_step(scene, chains.time), chains.bytes / 1e9_B, chains.least / 1e9_B,
           milliseconds(*least), chains.rows.front()->names),
       .ranks = {},
       .per_step = lost + gaps,
       .parts = {lost, Seconds(), Seconds(), gaps},
       .status = Status::kVerified,
       .evidence = chain_evidence(scene, chains)});
}

// ---- copies that change only the order of elements ----

void add_relayouts(const Scene& scene, Findings& answer) {
  const WorkSum copies = work_sum(scene, [](const WorkRow& row) {
    return row.part == WorkPart::kRelayout && row.pass != WorkPass::kAgain;
  });
  if (copies.rows.empty() || !is_worth_a_word(scene, copies.time)) {
    return;
  }
  const Seconds gaps = own_gaps(copies.idle, copies.kernels);
  answer.found.push_back(
      {.rule = "relayout-copies",
       .cause = fmt::format(
           "{:.0f} copies a step change nothing but the order of elements and take {} ({}); the "
           "longest {} {}.",
           copies.calls, milliseconds(copies.time), percent_of_step(scene, copies.time),
           copies.rows.front()->name,
           shapes_text({copies.rows.front()->inputs.begin(),
                        copies.rows.front()->inputs.begin() +
                            (copies.rows.front()->inputs.empty() ? 0 : 1)})),
       .ranks = {},
       .per_step = copies.time + gaps,
       .parts = {copies.time, Seconds(), Seconds(), gaps},
       .status = Status::kVerified,
       .evidence = evidence_of(scene, copies.rows)});
}

// ---- gathered from all ranks, then cut ----

void add_gather_then_slice(const Scene& scene, Findings& answer) {
  const WorkSum gathers = work_sum(scene, [](const WorkRow& row) {
    return row.part == WorkPart::kCommunication && row.name.ends_with(", then slice");
  });
  // What other work hides costs nothing.
  const Seconds exposed = scene.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)];
  const Seconds lost = std::min(gathers.time, exposed);
  if (gathers.rows.empty() || !is_worth_a_word(scene, lost)) {
    return;
  }
  answer.found.push_back(
      {.rule = "gather-then-slice",
       .cause = fmt::format("{:.0f} all-gathers a step are only sliced afterwards: {} of transfer, "
                            "of which {} can be exposed.",
                            gathers.calls, milliseconds(gathers.time), milliseconds(lost)),
       .ranks = {},
       .per_step = lost,
       .parts = {Seconds(), lost},
       .status = Status::kVerified,
       .evidence = evidence_of(scene, gathers.rows)});
}

// ---- what is as wide as the vocabulary ----

// Logits read once, their gradient written once, in 16 bits.
Bytes least_logits_bytes(const Scene& scene, const WorkSum& loss) {
  double elements = 0.0;
  for (const WorkRow* row : loss.rows) {
    if (row->name == "aten::_log_softmax" && !row->inputs.empty()) {
      elements += row->inputs.front().elements() * static_cast<double>(row->time.count);
    }
  }
  constexpr Bytes kHalf = 2_B;
  return 2.0 * kHalf * (elements / static_cast<double>(scene.totals.steps));
}

// The end of the model is what holds a step up only where it takes more time than all layers do.
bool outweighs_layers(const WorkSum& end, const Scene& scene) {
  const WorkSum layers = work_sum(scene, [](const WorkRow& row) {
    return row.part == WorkPart::kProducts || row.part == WorkPart::kAttention ||
           row.part == WorkPart::kScores || row.part == WorkPart::kNorms ||
           row.part == WorkPart::kElementwise || row.part == WorkPart::kRelayout;
  });
  return end.time > layers.time;
}

void add_logits(const Scene& scene, Findings& answer) {
  const WorkSum loss =
      work_sum(scene, [](const WorkRow& row) { return row.part == WorkPart::kLoss; });
  const WorkSum end = work_sum(scene, [](const WorkRow& row) {
    return row.part == WorkPart::kLoss || row.part == WorkPart::kHead;
  });
  if (loss.rows.empty() || !outweighs_layers(end, scene)) {
    return;
  }
  const auto least = at_bandwidth(scene, least_logits_bytes(scene, loss));
  if (!least) {
    answer.abstained.push_back({"vocabulary-logits", "device"});
    return;
  }
  const Seconds lost = std::max(Seconds(), loss.time - *least);
  if (!is_worth_a_word(scene, lost)) {
    return;
  }
  const Seconds gaps = own_gaps(loss.idle, loss.kernels);
  answer.found.push_back(
      {.rule = "vocabulary-logits",
       .cause = fmt::format(
           "Logits and their loss take {} ({}) in {:.0f} kernels beside the products, and both "
           "together more than all layers; read and written once in 16 bits they need {}.",
           milliseconds(loss.time), percent_of_step(scene, loss.time), loss.kernels,
           milliseconds(*least)),
       .ranks = {},
       .per_step = lost + gaps,
       .parts = {lost, Seconds(), Seconds(), gaps},
       .status = Status::kVerified,
       .evidence = evidence_of(scene, loss.rows)});
}

}  // namespace

Findings stream_findings(const Scene& scene) {
  Findings answer;
  add_epilogues(scene, answer);
  add_relayouts(scene, answer);
  add_gather_then_slice(scene, answer);
  add_logits(scene, answer);
  return answer;
}

}  // namespace sextant::diagnose
