#include "calibrate/trace_kernels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace sextant::calibrate {
namespace {

using metrics::ProductSize;
using metrics::WorkPass;
using metrics::WorkRow;
using timeline::ElementType;
using timeline::ProductUnit;

// Rows of tokens, results and inputs of a forward product.
using Weights = std::array<std::int64_t, 3>;

std::optional<std::string_view> dtype_word(const WorkRow& row, const ProductSize& size) {
  if (size.element == ElementType::kBfloat16) {
    return "bf16";
  }
  if (size.element == ElementType::kFloat32 && row.unit) {
    return row.unit == ProductUnit::kVector ? "fp32" : "tf32";
  }
  return std::nullopt;
}

bool is_long(const WorkRow& row) {
  return row.time.mean_ns() * 1_ns >= kLeastTraced;
}

bool is_product_row(const WorkRow& row) {
  return row.use == timeline::OperatorUse::kProduct && is_long(row);
}

std::set<Weights> forward_products(const std::vector<WorkRow>& rows) {
  std::set<Weights> found;
  for (const WorkRow& row : rows) {
    const auto size = metrics::product_size(row.inputs);
    if (row.use == timeline::OperatorUse::kProduct && row.pass == WorkPass::kForward && size &&
        size->batch == 1) {
      found.insert({size->m, size->n, size->k});
    }
  }
  return found;
}

struct TracedProduct {
  std::string_view variant;
  Weights sizes;
};

// tokens × out · out × in; out × tokens · tokens × in, or the other way round.
std::optional<TracedProduct> gradient_of(const ProductSize& size,
                                         const std::set<Weights>& forward) {
  if (const Weights input{size.m, size.k, size.n}; forward.contains(input)) {
    return TracedProduct{"dgrad", input};
  }
  for (const Weights& weight : {Weights{size.k, size.m, size.n}, Weights{size.k, size.n, size.m}}) {
    if (forward.contains(weight)) {
      return TracedProduct{"wgrad", weight};
    }
  }
  return std::nullopt;
}

std::string product_line(const WorkRow& row, const std::set<Weights>& forward) {
  const auto size = metrics::product_size(row.inputs);
  const auto dtype = size ? dtype_word(row, *size) : std::nullopt;
  if (!dtype || size->batch != 1) {
    return {};
  }
  const bool is_backward = row.pass == WorkPass::kBackward;
  const auto product = is_backward
                           ? gradient_of(*size, forward)
                           : std::optional(TracedProduct{"fprop", {size->m, size->n, size->k}});
  return product ? fmt::format("gemm,{},{},{},{},{},,,,{}\n", product->variant, *dtype,
                               product->sizes[0], product->sizes[1], product->sizes[2],
                               row.time.mean_ns() * 1e-3)
                 : std::string();
}

// Of aten::_cudnn_attention_forward and its like; lengths stand where the operator says.
std::string attention_line(const WorkRow& row) {
  const bool is_cudnn = row.name.find("cudnn") != std::string::npos;
  const bool is_flash = row.name.find("flash") != std::string::npos;
  const bool is_backward = row.name.find("backward") != std::string::npos;
  const std::size_t first = is_backward ? 1 : 0;
  if ((!is_cudnn && !is_flash) || row.inputs.size() < first + 3 ||
      row.stated_flops != row.time.count || row.inputs[first].dims.size() != 4 ||
      row.inputs[first].element != ElementType::kBfloat16) {
    return {};
  }
  const std::vector<std::int64_t>& q = row.inputs[first].dims;
  const std::vector<std::int64_t>& k = row.inputs[first + 1].dims;
  const std::size_t heads_at = is_cudnn ? 1 : 2;
  const std::size_t length_at = is_cudnn ? 2 : 1;
  const double pairs = row.inputs[first].elements() * static_cast<double>(k[length_at]);
  const double whole = (is_backward ? 10.0 : 4.0) * pairs * static_cast<double>(row.time.count);
  if (q[length_at] != k[length_at] || row.flops.value() > 0.6 * whole) {
    return {};  // not masked
  }
  return fmt::format("attention,{}-{},bf16,{},{},{},{},{},,{}\n", is_cudnn ? "cudnn" : "flash",
                     is_backward ? "bwd" : "fwd", q[0], q[heads_at], k[heads_at], q[length_at],
                     q[3], row.time.mean_ns() * 1e-3);
}

}  // namespace

std::string traced_kernels(const metrics::Summary& summary) {
  std::vector<WorkRow> rows;
  for (const metrics::RankSummary& rank : summary.ranks) {
    rows.insert(rows.end(), rank.device_work.rows.begin(), rank.device_work.rows.end());
  }
  rows = metrics::folded(std::move(rows));
  const std::set<Weights> forward = forward_products(rows);
  std::string table = "kind,variant,dtype,a,b,c,d,e,f,time_us\n";
  for (const WorkRow& row : rows) {
    if (is_product_row(row)) {
      table += product_line(row, forward);
    } else if (row.use == timeline::OperatorUse::kAttention && is_long(row)) {
      table += attention_line(row);
    }
  }
  return table;
}

}  // namespace sextant::calibrate
