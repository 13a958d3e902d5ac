// Rows of kernel tables as operators of the compute model. The tables' conventions:
// truth/README.md, and the head of scripts/measure/kernel_table.py for what only that one has.
#pragma once

#include <algorithm>
#include <optional>

#include "cost/compute/operator_time.h"
#include "measured/row.h"

namespace sextant::validate {

// Kernels that run one after the other for one timed call.
class Call {
 public:
  explicit Call(const cost::DeviceModel& device) : device_(device) {}
  void add(const cost::OperatorCost& cost) {
    device_time_ += cost.total();
    issue_ += cost.issue;
  }
  void add(const workload::Operator& op) { add(cost::operator_time(op, device_)); }
  // The host's part where it is not the sum of its kernels'.
  void set_issue(Seconds issue) { issue_ = issue; }
  [[nodiscard]] Seconds alone() const { return std::max(device_time_, issue_); }
  [[nodiscard]] Seconds total() const { return device_time_; }
  [[nodiscard]] Seconds issue() const { return issue_; }

 private:
  const cost::DeviceModel& device_;
  Seconds device_time_;
  Seconds issue_;
};

// Adds the kernels of a timed call; one replayed from a CUDA graph has no host's part. False where
// the row's kind or variant is not known here.
bool add_kernel(const measured::KernelSubject& subject, const cost::DeviceModel& device,
                Call& call);

// The operator of an efficiency row; nothing where its kind is not known here.
std::optional<workload::Operator> efficiency_operator(
    const measured::KernelEfficiencySubject& subject);

}  // namespace sextant::validate
