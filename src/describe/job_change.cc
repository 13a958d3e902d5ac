#include "describe/job_change.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::describe {
namespace {

bool another_mesh(const Layout& a, const Layout& b) {
  const auto axes = [](const Layout& at) {
    return std::array<std::int64_t, 7>{at.tp, at.cp, at.cp_inner, at.pp, at.vpp, at.ep, at.etp};
  };
  return axes(a) != axes(b) || a.sp != b.sp || a.cp_method != b.cp_method ||
         a.schedule != b.schedule || a.split != b.split || a.order != b.order;
}

bool another_sharding(const Layout& a, const Layout& b) {
  return a.zero != b.zero || a.zero_group != b.zero_group ||
         a.reshard_after_forward != b.reshard_after_forward;
}

bool another_format(const Layout& a, const Layout& b) {
  return a.precision != b.precision || a.parameters != b.parameters || a.gradients != b.gradients;
}

bool other_kernels(const Layout& a, const Layout& b) {
  return a.attention != b.attention || a.loss != b.loss || a.launch != b.launch ||
         a.dispatcher != b.dispatcher || a.optimizer != b.optimizer;
}

// A name, its source and positions learned for the sequence at hand make no other model.
bool another_model(const Model& a, const Model& b) {
  return a.hidden != b.hidden || a.vocab != b.vocab || a.blocks != b.blocks ||
         a.layers != b.layers || a.mtp_layers != b.mtp_layers || a.tied_head != b.tied_head;
}

bool another_job(const Job& a, const Job& b) {
  return another_model(a.model, b.model) || a.framework != b.framework ||
         a.workload != b.workload || a.cluster.device.id != b.cluster.device.id ||
         a.cluster.fabric.id != b.cluster.fabric.id;
}

bool another_batch(const Job& a, const Job& b) {
  const auto share = [](const Job& of, const Job& other) {
    return saturating_product({of.global_batch, other.cluster.devices});
  };
  return share(a, b) != share(b, a);
}

// "cp>1", "cp>2", "cp>4" of 8.
void add_sizes(std::string_view name, std::int64_t size, std::vector<JobFeature>& features) {
  for (std::int64_t below = 1; below < size; below *= 2) {
    features.push_back({FeatureKind::kSize, fmt::format("{}>{}", name, below)});
    if (below > std::numeric_limits<std::int64_t>::max() / 2) {
      break;
    }
  }
}

}  // namespace

std::vector<Change> changes_between(const Layout& one, const Layout& other) {
  std::vector<Change> changes;
  const auto add = [&](Change change, bool differs) {
    if (differs) {
      changes.push_back(change);
    }
  };
  add(Change::kMesh, another_mesh(one, other));
  add(Change::kSharding, another_sharding(one, other));
  add(Change::kMicroBatch, one.mbs != other.mbs);
  add(Change::kRecompute,
      one.recompute != other.recompute || one.activation_offload != other.activation_offload);
  add(Change::kPrecision, another_format(one, other));
  add(Change::kKernels, other_kernels(one, other));
  add(Change::kOverlap, one.overlap != other.overlap);
  return changes;
}

std::vector<Change> changes_between(const Job& one, const Job& other) {
  std::vector<Change> changes = changes_between(one.layout, other.layout);
  const auto add = [&](Change change, bool differs) {
    if (differs) {
      changes.push_back(change);
    }
  };
  add(Change::kDevices, one.cluster.devices != other.cluster.devices);
  add(Change::kBatch, another_batch(one, other));
  add(Change::kSequence, one.sequences.length != other.sequences.length);
  add(Change::kJob, another_job(one, other));
  return changes;
}

std::vector<JobFeature> job_features(const Job& job) {
  const Layout& at = job.layout;
  const std::string_view device = job.cluster.device.id;
  const std::string_view framework = word_of<Framework>(kFrameworkWords, job.framework);
  std::vector<JobFeature> features{
      {FeatureKind::kFormat,
       fmt::format("{} {}", device, word_of<Precision>(kPrecisionWords, at.precision))},
      {FeatureKind::kFramework, fmt::format("{} zero={}", framework, static_cast<int>(at.zero))},
      {FeatureKind::kModel,
       fmt::format("{} {}", device, has_experts(job.model) ? "experts" : "dense")},
      {FeatureKind::kFeature,
       fmt::format("workload {}", word_of<Workload>(kWorkloadWords, job.workload))},
      {FeatureKind::kFeature,
       fmt::format("schedule {}", word_of<Schedule>(kScheduleWords, at.schedule))}};
  if (at.activation_offload) {
    features.push_back({FeatureKind::kFeature, "activations offloaded"});
  }
  if (at.optimizer.offload) {
    features.push_back({FeatureKind::kFeature, "optimizer offloaded"});
  }
  for (const auto& [name, size] : {std::pair<std::string_view, std::int64_t>{"tp", at.tp},
                                   {"cp", at.cp},
                                   {"pp", at.pp},
                                   {"vpp", at.vpp},
                                   {"ep", at.ep},
                                   {"mbs", at.mbs},
                                   {"devices", job.cluster.devices}}) {
    add_sizes(name, size, features);
  }
  std::ranges::sort(features);
  return features;
}

}  // namespace sextant::describe
