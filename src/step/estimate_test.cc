#include "step/estimate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/pipeline_split.h"
#include "workload/traffic_testing.h"

namespace sextant::step {
namespace {

StepModel h100_model() {
  const describe::DataStore data;
  StepModel model;
  model.device = *cost::device_model(data, *describe::load_device("h100-sxm", data));
  model.host = *describe::host_facts(data);
  model.facts = *describe::step_facts(data);
  model.comm = cost::comm_model(*describe::load_link_facts("nvlink4", data), std::nullopt,
                                *describe::load_network_facts("ib", data), 50_GBps);
  model.domain_size = 8;
  return model;
}

// Links without latency and with all the rate there is.
cost::CommModel free_links(cost::CommModel links) {
  for (std::size_t i = 0; i < links.link.size(); ++i) {
    if (describe::kLinkKeys[i].unit == describe::CommUnit::kRate) {
      links.link[i] *= 1e9;
    } else if (describe::kLinkKeys[i].unit == describe::CommUnit::kTime) {
      links.link[i] = 0.0;
    }
  }
  for (std::size_t i = 0; i < links.network.size(); ++i) {
    if (describe::kNetworkKeys[i].unit == describe::CommUnit::kTime) {
      links.network[i] = 0.0;
    }
  }
  links.nic_rate *= 1e9;
  return links;
}

describe::Job any_job() {
  const std::int64_t tp = std::int64_t{1} << *rc::gen::inRange(0, 4);
  const std::int64_t pp = std::int64_t{1} << *rc::gen::inRange(0, 3);
  const std::int64_t dp = std::int64_t{1} << *rc::gen::inRange(0, 4);
  describe::Job job = workload::traffic_job(workload::llama(8, 2048, 16), tp * pp * dp);
  job.layout.tp = tp;
  job.layout.pp = pp;
  job.layout.sp = tp > 1 && *rc::gen::arbitrary<bool>();
  job.layout.zero = *rc::gen::element(describe::Zero::kNone, describe::Zero::kOptimizer);
  if (*rc::gen::arbitrary<bool>()) {
    job.layout.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
  }
  job.global_batch = dp * *rc::gen::inRange<std::int64_t>(1, 33);
  return job;
}

bool close(Seconds one, Seconds other) {
  return std::abs(one / other - 1.0) < 1e-9;
}

RC_GTEST_PROP(EstimateStep, TermsAddUp, ()) {
  const StepEstimate estimate = estimate_step(any_job(), h100_model());
  RC_ASSERT(close(estimate.step, estimate.compute + estimate.host + estimate.exposed.total() +
                                     estimate.bubble + estimate.update + estimate.beside));
  RC_ASSERT(estimate.bubble >= Seconds());
  RC_ASSERT(estimate.host >= -1_us);
  for (const Seconds time : estimate.exposed.times) {
    RC_ASSERT(time >= Seconds());
  }
}

RC_GTEST_PROP(EstimateStep, FreeLinksLeaveTheComputeBound, ()) {
  StepModel model = h100_model();
  model.comm = free_links(model.comm);
  const StepEstimate estimate = estimate_step(any_job(), model);
  RC_ASSERT(estimate.exposed.total() < estimate.step * 1e-6);
}

RC_GTEST_PROP(EstimateStep, AFasterLinkIsNeverSlower, ()) {
  const describe::Job job = any_job();
  StepModel model = h100_model();
  const Seconds before = estimate_step(job, model).step;
  model.comm.nic_rate *= 2.0;
  const Seconds after = estimate_step(job, model).step;
  RC_ASSERT(after <= before * (1.0 + 1e-9));
}

TEST(EstimateStep, OneDeviceSendsNothing) {
  describe::Job job = workload::traffic_job(workload::llama(4, 1024, 8), 1);
  job.global_batch = 4;
  const StepEstimate estimate = estimate_step(job, h100_model());
  EXPECT_EQ(estimate.exposed.total(), Seconds());
  EXPECT_EQ(estimate.bubble, Seconds());
}

TEST(EstimateStep, MoreMicrobatchesShrinkTheBubblesShare) {
  describe::Job job = workload::traffic_job(workload::llama(8, 2048, 16), 4);
  job.layout.pp = 4;
  job.global_batch = 4;
  const StepEstimate few = estimate_step(job, h100_model());
  job.global_batch = 64;
  const StepEstimate many = estimate_step(job, h100_model());
  EXPECT_LT(many.bubble / many.step, few.bubble / few.step);
}

}  // namespace
}  // namespace sextant::step
