#include "diagnose/laid_over.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/communication.h"
#include "diagnose/device_facts.h"

namespace sextant::diagnose {
namespace {

using cost::OperatorTime;
using metrics::WorkPart;
using metrics::WorkRow;
using workload::OpKind;
using workload::Part;

constexpr std::string_view kAttentionRow = "attention";
constexpr std::string_view kStreamRow = "norms, activations and other streams";
constexpr std::string_view kOtherProducts = "products of other sizes";

// The sizes of a product in any pass: its gradients have the same, in another order.
using SizeKey = std::array<std::int64_t, 4>;
SizeKey key_of_sizes(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::array<std::int64_t, 3> sizes{m, n, k};
  std::ranges::sort(sizes);
  return {batch, sizes[0], sizes[1], sizes[2]};
}

bool is_product_kind(const OperatorTime& one) {
  return (one.op.kind == OpKind::kGemm || one.op.kind == OpKind::kGroupedGemm) &&
         one.op.part != Part::kCoreAttention;
}

std::string_view row_of_operator(const OperatorTime& one) {
  if (one.op.part == Part::kCoreAttention || one.op.kind == OpKind::kAttention) {
    return kAttentionRow;
  }
  if (one.op.kind == OpKind::kEmbedding) {
    return "embedding";
  }
  if (one.op.kind == OpKind::kLoss) {
    return "loss";
  }
  return one.op.kind == OpKind::kOptimizer || one.op.kind == OpKind::kReduceNorm ? "update"
                                                                                 : kStreamRow;
}

std::optional<std::string_view> row_of_work(WorkPart part) {
  switch (part) {
    case WorkPart::kAttention:
    case WorkPart::kScores:
      return kAttentionRow;
    case WorkPart::kNorms:
    case WorkPart::kElementwise:
    case WorkPart::kRelayout:
      return kStreamRow;
    case WorkPart::kEmbedding:
      return "embedding";
    case WorkPart::kLoss:
      return "loss";
    case WorkPart::kUpdate:
      return "update";
    case WorkPart::kProducts:
    case WorkPart::kHead:
    case WorkPart::kCopies:
    case WorkPart::kCommunication:
    case WorkPart::kOther:
      break;
  }
  return std::nullopt;
}

struct ProductClass {
  std::set<std::string> parts;
  Seconds predicted;
  Seconds measured;
};

class Laying {
 public:
  explicit Laying(const Scene& scene) : scene_(scene) {}

  void predict(const OperatorTime& one, double times) {
    const Seconds time = one.total() * times;
    if (!is_product_kind(one)) {
      row(std::string(row_of_operator(one))).predicted += time;
      return;
    }
    ProductClass& product = products_[key_of_sizes(one.op.batch, one.op.m, one.op.n, one.op.k)];
    product.parts.emplace(describe::word_of<Part>(workload::kPartWords, one.op.part));
    product.predicted += time;
  }
  void measure(const WorkRow& work) {
    const Seconds time = of_mean_step(scene_, work.time.total_ns);
    if (work.part != WorkPart::kProducts && work.part != WorkPart::kHead) {
      if (const auto name = row_of_work(work.part)) {
        row(std::string(*name)).measured += time;
      }
      return;
    }
    const auto size = metrics::product_size(work.inputs);
    const auto known = size ? products_.find(key_of_sizes(size->batch, size->m, size->n, size->k))
                            : products_.end();
    if (known == products_.end()) {
      row(std::string(kOtherProducts)).measured += time;
    } else {
      known->second.measured += time;
    }
  }
  // Sizes that are several parts' say so.
  std::vector<LaidRow> take() {
    for (const auto& [sizes, product] : products_) {
      if (product.measured <= Seconds()) {
        row(std::string(kOtherProducts)).predicted += product.predicted;
        continue;
      }
      LaidRow& laid = row(fmt::format("products: {}", fmt::join(product.parts, ", ")));
      laid.predicted += product.predicted;
      laid.measured += product.measured;
    }
    std::vector<LaidRow> rows;
    for (auto& [name, laid] : rows_) {
      rows.push_back(std::move(laid));
    }
    return rows;
  }

 private:
  LaidRow& row(const std::string& name) {
    LaidRow& laid = rows_[name];
    laid.what = name;
    return laid;
  }
  const Scene& scene_;
  std::map<SizeKey, ProductClass> products_;
  std::map<std::string, LaidRow> rows_;
};

// Rules that speak of a class, the more telling first.
std::vector<std::string_view> rules_of(const LaidRow& row) {
  if (row.part == StepPart::kIdle) {
    return {"input-bound", "launch-bound", "host-sync", "host-busy", "pipeline-bubble"};
  }
  if (row.part == StepPart::kExposedCommunication) {
    return {"late-rank", "slow-worker", "slow-collective", "straggling-link"};
  }
  if (row.what == kAttentionRow) {
    return {"eager-attention", "clock-throttling"};
  }
  if (row.what == kStreamRow) {
    return {"memory-bound-epilogues", "relayout-copies"};
  }
  if (row.what == "update") {
    return {"unfused-optimizer"};
  }
  if (row.what == "loss") {
    return {"vocabulary-logits"};
  }
  return {"missing-tensor-cores", "clock-throttling", "small-products", "slow-kernels",
          "needless-recompute"};
}

Seconds mean_exposed(const std::vector<ExposedTime>& ranks, Seconds ExposedTime::* what) {
  Seconds sum;
  for (const ExposedTime& rank : ranks) {
    sum += rank.*what;
  }
  return ranks.empty() ? sum : sum / static_cast<double>(ranks.size());
}

Seconds part_of_step(const Scene& scene, StepPart part) {
  return scene.parts[static_cast<std::size_t>(part)];
}

// What stands alone on a mean rank, by axis: transfers, and in one row what ranks wait for one
// another in them, which the model has in no axis. What is left of the part belongs to no axis that
// is known, or to moments that two groups share.
void add_communication(const Scene& scene, const step::AxisTimes& predicted, LaidOver& laid) {
  const CommunicationTimes times = communication_times(scene);
  Seconds left = part_of_step(scene, StepPart::kExposedCommunication);
  const auto add = [&](std::string what, Seconds expected, Seconds measured) {
    const Seconds within = std::min(measured, left);
    left -= within;
    laid.rows.push_back({.what = std::move(what),
                         .part = StepPart::kExposedCommunication,
                         .predicted = expected,
                         .measured = within});
  };
  Seconds waiting = mean_exposed(times.unknown.ranks, &ExposedTime::waiting);
  for (std::size_t i = 0; i < step::kAxes; ++i) {
    const auto axis = static_cast<Axis>(i);
    add(fmt::format("exposed communication: {}", describe::word_of<Axis>(step::kAxisWords, axis)),
        predicted[axis], mean_exposed(times[axis].ranks, &ExposedTime::transfer));
    waiting += mean_exposed(times[axis].ranks, &ExposedTime::waiting);
  }
  add("exposed communication: waiting for other ranks", Seconds(), waiting);
  add("exposed communication: of no known axis", Seconds(), left);
}

}  // namespace

LaidOver laid_over(const Scene& scene, const step::RecordedEstimate& prediction) {
  const step::Estimate& estimate = prediction.estimate;
  LaidOver laid{.predicted = estimate.step.step,
                .measured = scene.step,
                .low = estimate.low(),
                .high = estimate.high(),
                .rows = {}};
  Laying laying(scene);
  const auto microbatches = static_cast<double>(estimate.microbatches);
  for (const step::StageRecord& stage : prediction.record.stages) {
    for (const step::PassRecord* pass : {&stage.forward, &stage.backward}) {
      for (const OperatorTime& one : pass->operators) {
        laying.predict(one, microbatches);
      }
    }
  }
  for (const step::OnceRecord& once : prediction.record.once) {
    for (const OperatorTime& one : once.update) {
      laying.predict(one, 1.0);
    }
  }
  for (const WorkRow& work : scene.device_work.rows) {
    laying.measure(work);
  }
  laid.rows = laying.take();
  add_communication(scene, estimate.step.exposed, laid);
  laid.rows.push_back(
      {.what = "waiting: host, bubble, between kernels",
       .part = StepPart::kIdle,
       .predicted = estimate.step.host + estimate.step.bubble + estimate.step.beside,
       .measured = part_of_step(scene, StepPart::kIdle)});
  std::ranges::stable_sort(laid.rows, std::greater<>(), &LaidRow::measured);
  return laid;
}

Findings departure_findings(const Scene& scene, const LaidOver& laid,
                            const std::vector<Finding>& others) {
  // What the models of classes leave open: docs/validation.md has kernels within a quarter, nine in
  // ten. A class that is small in the step is not worth a word whatever its ratio.
  constexpr double kClassError = 1.25;
  constexpr double kLeastOfStep = 0.03;
  Findings answer;
  for (const LaidRow& row : laid.rows) {
    if (row.measured <= kClassError * row.predicted ||
        row.excess() < kLeastOfStep * laid.measured) {
      continue;
    }
    Finding finding{.rule = "slower-than-predicted",
                    .cause = fmt::format(
                        "{}: {} where {} were predicted{}.", row.what, milliseconds(row.measured),
                        milliseconds(row.predicted),
                        row.predicted > Seconds()
                            ? fmt::format(", {:.2f} times as long", row.measured / row.predicted)
                            : std::string())};
    finding.per_step = row.excess();
    finding.parts[static_cast<std::size_t>(row.part)] = row.excess();
    finding.status = Status::kInferred;
    for (const std::string_view rule : rules_of(row)) {
      if (!finding.explained_by &&
          std::ranges::find(others, rule, &Finding::rule) != others.end()) {
        finding.explained_by = rule;
      }
    }
    for (const metrics::RankSummary& rank : scene.summary->ranks) {
      if (finding.evidence.empty() && !rank.steps.empty()) {
        finding.evidence.push_back({rank.rank, rank.steps.front().window, row.what});
      }
    }
    answer.found.push_back(std::move(finding));
  }
  return answer;
}

}  // namespace sextant::diagnose
