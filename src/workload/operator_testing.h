// What the tests of operators share: jobs from the catalogue, and picking from a list.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "describe/model/load_model.h"
#include "workload/operators.h"

namespace sextant::workload {

inline const describe::Model& catalogue(const std::string& name) {
  static std::map<std::string, describe::Model> models;
  const auto known = models.find(name);
  return known != models.end()
             ? known->second
             : models.emplace(name, *describe::load_model(name, describe::DataStore()))
                   .first->second;
}

inline describe::Job job_of(const std::string& name) {
  describe::Job job;
  job.model = catalogue(name);
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.cluster.devices = 64;
  job.sequences.length = 4096;
  job.global_batch = 64;
  return job;
}

inline std::vector<Operator> all_operators(const describe::Job& job) {
  std::vector<Operator> all;
  const Shard shard = shard_of(job);
  for (const Stage& stage : stages_of(job)) {
    const std::vector<Operator> list = stage_operators(job, stage, shard);
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

struct Wanted {
  Part part = Part::kQkv;
  OpKind kind = OpKind::kGemm;
  Pass pass = Pass::kForward;
};

// Those of a part, kind and pass.
inline std::vector<Operator> chosen(const std::vector<Operator>& list, const Wanted& wanted) {
  std::vector<Operator> found;
  for (const Operator& op : list) {
    if (op.part == wanted.part && op.kind == wanted.kind && op.pass == wanted.pass) {
      found.push_back(op);
    }
  }
  return found;
}

inline Operator only(const std::vector<Operator>& list, const Wanted& wanted) {
  const std::vector<Operator> found = chosen(list, wanted);
  EXPECT_EQ(found.size(), 1U) << describe::word_of<Part>(kPartWords, wanted.part);
  return found.empty() ? Operator{} : found.front();
}

inline void expect_shape(const Operator& op, std::int64_t m, std::int64_t n, std::int64_t k) {
  EXPECT_EQ(op.m, m);
  EXPECT_EQ(op.n, n);
  EXPECT_EQ(op.k, k);
}

inline bool near(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0});
}

inline bool same(const WorkTotals& a, const WorkTotals& b) {
  const auto equal = [](const Work& x, const Work& y) {
    return near(x.flops.base(), y.flops.base()) && near(x.bytes.base(), y.bytes.base());
  };
  return equal(a.forward, b.forward) && equal(a.input_gradient, b.input_gradient) &&
         equal(a.weight_gradient, b.weight_gradient) && equal(a.recompute, b.recompute) &&
         equal(a.update, b.update) && near(a.model.base(), b.model.base());
}

}  // namespace sextant::workload
