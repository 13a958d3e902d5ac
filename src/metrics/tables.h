// What ran, by name: kernels (everything on the device), and the operators that launched it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/spread.h"
#include "metrics/steps.h"
#include "metrics/view.h"
#include "timeline/label.h"

namespace sextant::metrics {

// Of the kept steps' work. Longest total first, of equals by name.
struct KernelRow {
  std::string name;
  timeline::SpanKind kind = timeline::SpanKind::kCompute;
  Spread time = {};
  WideSum flops = {};                             // of those occurrences that say
  WideSum bytes = {};                             // of those occurrences that say
  std::int64_t stated = 0;                        // occurrences that say flops
  KernelRow& operator+=(const KernelRow& other);  // of one name and kind
  bool operator==(const KernelRow&) const = default;
};

// An operator is what the source says it is (XLA's operation), else the innermost range on the host
// that encloses the launching call and is no call of the runtime ("aten::mm"), else the kernel.
struct OperatorRow {
  std::string name;
  std::string category;  // XLA's, or empty
  std::string module;
  Spread time = {};          // on the device, of one occurrence all that it launched
  std::int64_t kernels = 0;  // that it launched
  WideSum flops = {};
  WideSum bytes = {};
  std::int64_t stated_flops = 0;  // occurrences that say
  std::int64_t stated_bytes = 0;
  OperatorRow& operator+=(const OperatorRow& other);  // of one name, category and module
  bool operator==(const OperatorRow&) const = default;
};

// Rows of one key as one; longest total first, of equals by name.
std::vector<KernelRow> folded(std::vector<KernelRow> rows);
std::vector<OperatorRow> folded(std::vector<OperatorRow> rows);

// By number of a span, of the runtime's calls: the innermost range around it on its thread that is
// no such call, of which the call is a part; kNone: none, or no call of the rank's.
std::vector<std::uint32_t> operators_of_calls(const View& view, const RankLanes& rank);

std::vector<KernelRow> kernel_table(const View& view, const RankLanes& rank, const Steps& steps,
                                    std::size_t rank_number);
std::vector<OperatorRow> operator_table(const View& view, const RankLanes& rank, const Steps& steps,
                                        std::size_t rank_number);

}  // namespace sextant::metrics
