#include "metrics/device_work.h"

#include <gtest/gtest.h>

#include "metrics/recording_testing.h"
#include "metrics/summary.h"
#include "metrics/work_parts.h"

namespace sextant::metrics {
namespace {

using timeline::ElementType;
using timeline::Label;
using timeline::OperatorCall;
using timeline::OperatorUse;
using timeline::SpanKind;
using timeline::Tensor;

Tensor fp32(std::vector<std::int64_t> dims) {
  return {std::move(dims), ElementType::kFloat32};
}

Label op_label(const std::string& name, OperatorUse use, std::vector<Tensor> inputs,
               bool is_differentiated = false) {
  Label label{SpanKind::kHost, name, {}, {}};
  label.call =
      OperatorCall{.use = use, .inputs = std::move(inputs), .is_differentiated = is_differentiated};
  return label;
}

Label range_label(const std::string& name, bool is_differentiated = false) {
  Label label{SpanKind::kHost, name, {}, {}};
  label.call = OperatorCall{.is_differentiated = is_differentiated};
  return label;
}

// One thread that calls operators one after the other, each of 100 ns, each launching one kernel
// of 50 ns that starts when the call is done.
class MadeThread {
 public:
  void op(const Label& label) {
    made_.host(label, at_, 90);
    made_.launch(at_ + 10, 10, at_ + 100, 50);
    at_ += 100;
  }
  template <typename Inside>
  void range(const Label& label, const Inside& inside) {
    const std::int64_t from = at_;
    at_ += 1;
    inside();
    made_.host(label, from, at_ - from);
    at_ += 1;
  }
  WorkTables work() {
    made_.step(0, 0, at_ + 1000);
    const timeline::Recording recording = made_.take();
    const View view = view_of(recording);
    const Steps steps = steps_of(view, std::nullopt);
    return device_work(view, view.ranks.at(0), steps, 0);
  }

 private:
  MadeRecording made_;
  std::int64_t at_ = 0;
};

const WorkRow* row_named(const WorkTables& work, std::string_view name, WorkPass pass) {
  const auto found = std::ranges::find_if(
      work.rows, [&](const WorkRow& row) { return row.name == name && row.pass == pass; });
  return found == work.rows.end() ? nullptr : &*found;
}

const Label kMm = op_label("aten::mm", OperatorUse::kProduct, {fp32({8, 4}), fp32({4, 16})});
const Label kMmForward =
    op_label("aten::mm", OperatorUse::kProduct, {fp32({8, 4}), fp32({4, 16})}, true);

TEST(WorkTables, PassesAreToldByAutogradsRangesAndTheOptimizers) {
  MadeThread thread;
  thread.op(kMmForward);
  thread.range(range_label("autograd::engine::evaluate_function: MmBackward0"), [&] {
    thread.range(range_label("MmBackward0", true), [&] {
      thread.op(kMm);
      thread.op(kMm);
      // What autograd records inside a backward pass is the forward one, again.
      thread.range(range_label("aten::linear", true), [&] { thread.op(kMm); });
    });
  });
  Label step{SpanKind::kMark, "Optimizer.step#AdamW.step", {}, {}};
  thread.range(step, [&] { thread.op(kMm); });
  const WorkTables work = thread.work();
  ASSERT_NE(row_named(work, "aten::mm", WorkPass::kForward), nullptr);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kForward)->time.count, 1);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kBackward)->time.count, 2);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kAgain)->time.count, 1);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kUpdate)->part, WorkPart::kUpdate);
  // Each kernel waits 50 ns for the next call, ranges take one or two more; the first for none.
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kForward)->idle_ns, 0);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kBackward)->idle_ns, 52 + 50);
}

TEST(WorkTables, WhereNoBackwardPassIsToldPassesAreUnknown) {
  MadeThread thread;
  thread.op(kMmForward);
  EXPECT_EQ(thread.work().rows.at(0).pass, WorkPass::kUnknown);
}

// Scores of 4 heads, 32 queries and 64 keys: what is made of them is theirs. A router's softmax,
// which no batch of products feeds, is not.
TEST(WorkTables, WhatHasTheShapeOfScoresIsAttention) {
  MadeThread thread;
  const Tensor scores = fp32({1, 4, 32, 64});
  thread.op(op_label("aten::bmm", OperatorUse::kProduct, {fp32({4, 32, 8}), fp32({4, 8, 64})}));
  thread.op(op_label("aten::mul", OperatorUse::kElementwise, {scores}));
  thread.op(op_label("aten::_softmax", OperatorUse::kSoftmax, {scores}));
  thread.op(op_label("aten::bmm", OperatorUse::kProduct, {fp32({4, 32, 64}), fp32({4, 64, 8})}));
  thread.op(op_label("aten::_softmax", OperatorUse::kSoftmax, {fp32({1, 32, 7})}));
  thread.op(kMm);
  const WorkTables work = thread.work();
  std::int64_t of_scores = 0;
  for (const WorkRow& row : work.rows) {
    of_scores += row.part == WorkPart::kScores ? row.time.count : 0;
  }
  EXPECT_EQ(of_scores, 4);
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kUnknown)->part, WorkPart::kProducts);
}

TEST(WorkTables, WhatIsAsWideAsTheClassesOfALossIsItsOrItsProduct) {
  MadeThread thread;
  thread.op(op_label("aten::mm", OperatorUse::kProduct, {fp32({8, 4}), fp32({4, 1000})}));
  thread.op(op_label("aten::copy_", OperatorUse::kCopy, {fp32({8, 1000}), fp32({8, 1000})}));
  thread.op(op_label("aten::_log_softmax", OperatorUse::kLoss, {fp32({8, 1000})}));
  const WorkTables work = thread.work();
  EXPECT_EQ(row_named(work, "aten::mm", WorkPass::kUnknown)->part, WorkPart::kHead);
  EXPECT_EQ(row_named(work, "aten::copy_", WorkPass::kUnknown)->part, WorkPart::kLoss);
}

// Four elementwise operators between products: a chain that must read its first input and write
// its last result. Two are none.
TEST(WorkTables, ThreeOperatorsInARowAreAChain) {
  MadeThread thread;
  const Label mul = op_label("aten::mul", OperatorUse::kElementwise, {fp32({100}), fp32({100})});
  const Label tanh = op_label("aten::tanh", OperatorUse::kElementwise, {fp32({100})});
  const Label relayout = op_label("aten::copy_", OperatorUse::kCopy, {fp32({100}), fp32({100})});
  thread.op(kMm);
  for (const Label& label : {mul, tanh, relayout, mul, tanh}) {
    thread.op(label);
  }
  thread.op(kMm);
  thread.op(mul);
  thread.op(tanh);
  const WorkTables work = thread.work();
  ASSERT_EQ(work.chains.size(), 1U);
  const ChainRow& chain = work.chains[0];
  EXPECT_EQ(chain.names, "aten::mul, aten::tanh, aten::mul, aten::tanh");
  EXPECT_EQ(chain.operators, 4);
  EXPECT_EQ(chain.time.total_ns, 200);  // the relayout apart
  EXPECT_EQ(chain.stated, 1);
  EXPECT_DOUBLE_EQ(chain.least_bytes.value(), 3 * 400.0);  // two read, one written
  EXPECT_EQ(row_named(work, "aten::copy_", WorkPass::kUnknown)->part, WorkPart::kRelayout);
}

TEST(WorkTables, ProductsSayTheirSizes) {
  const auto size = product_size({fp32({16}), fp32({8, 4}), fp32({4, 16})});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->m, 8);
  EXPECT_EQ(size->n, 16);
  EXPECT_EQ(size->k, 4);
  // A square that is added, as fits by chance.
  EXPECT_EQ(product_size({fp32({4, 4}), fp32({4, 4}), fp32({4, 16})})->n, 16);
  EXPECT_EQ(product_size({fp32({5, 8, 4}), fp32({5, 4, 16})})->batch, 5);
  EXPECT_FALSE(product_size({fp32({8, 4}), fp32({5, 16})}));
  EXPECT_FALSE(product_size({}));
}

}  // namespace
}  // namespace sextant::metrics
