#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cost/compute/operator_time.h"
#include "diagnose/device_facts.h"
#include "diagnose/device_rules.h"

namespace sextant::diagnose {
namespace {

using describe::DType;
using metrics::ProductSize;
using metrics::WorkPart;
using metrics::WorkPass;
using metrics::WorkRow;
using timeline::ElementType;
using timeline::ProductUnit;

bool is_own_product(const WorkRow& row) {
  return (row.part == WorkPart::kProducts || row.part == WorkPart::kHead) &&
         row.use == timeline::OperatorUse::kProduct && row.pass != WorkPass::kAgain;
}

std::optional<ElementType> element_of_row(const WorkRow& row) {
  const auto size = metrics::product_size(row.inputs);
  return size ? size->element : std::nullopt;
}

// ---- products beside the matrix units ----

// Elements that matrix units take, but a unit of vectors multiplied.
bool runs_on_vectors(const WorkRow& row) {
  return is_own_product(row) && row.unit == ProductUnit::kVector &&
         element_of_row(row) != ElementType::kFloat64;
}

std::optional<Seconds> on_matrix_units(const Scene& scene, const WorkSum& sum) {
  Seconds least;
  const auto steps = static_cast<double>(scene.totals.steps);
  for (const WorkRow* row : sum.rows) {
    const auto element = element_of_row(*row);
    const auto format = element ? matrix_format(*element) : std::nullopt;
    auto compute =
        format ? at_peak(scene, Flops(row->flops.value() / steps), *format) : std::nullopt;
    if (!compute) {  // a device whose matrix units take 16 bits alone
      compute = at_peak(scene, Flops(row->flops.value() / steps), DType::kFp16);
    }
    const auto memory = at_bandwidth(scene, Bytes(row->bytes.value() / steps));
    if (!compute || !memory) {
      return std::nullopt;
    }
    least += std::min(std::max(*compute, *memory), of_mean_step(scene, row->time.total_ns));
  }
  return least;
}

bool is_in_32_bits(const WorkRow& row) {
  return !row.inputs.empty() && row.inputs.front().element == ElementType::kFloat32;
}
bool runs_as_tf32(const WorkRow& row) {
  return row.use == timeline::OperatorUse::kProduct && row.unit == ProductUnit::kTensorTf32 &&
         is_in_32_bits(row);
}
// In 16 bits half of the bytes; a fused attention, its products at their rate.
bool would_run_in_16_bits(const WorkRow& row) {
  return is_in_32_bits(row) && row.part != WorkPart::kUpdate && row.pass != WorkPass::kUpdate &&
         row.use != timeline::OperatorUse::kProduct;
}

// Matrix units take 16 bits at twice the rate of TF32, and memory twice as many.
void add_wide_products(const Scene& scene, Findings& answer) {
  const WorkSum wide = work_sum(scene, runs_as_tf32);
  const auto least = at_peak(scene, wide.flops, DType::kBf16);
  if (!least || !is_worth_a_word(scene, wide.time) || wide.stated_time < wide.time) {
    return;
  }
  const WorkSum others = work_sum(scene, would_run_in_16_bits);
  constexpr double kHalf = 0.5;
  const Seconds lost = std::max(Seconds(), wide.time - *least) + kHalf * others.time;
  if (!is_worth_a_word(scene, lost)) {
    return;
  }
  answer.found.push_back(
      {.rule = "missing-tensor-cores",
       .cause = fmt::format(
           "{:.0f} products a step are in 32 bits and run as TF32, at {:.3g} TFLOP/s: {} ({}); in "
           "16 bits they need {} at least, and what streams through memory half of its {}.",
           wide.calls, wide.flops / wide.time / 1_TFLOPps, milliseconds(wide.time),
           percent_of_step(scene, wide.time), milliseconds(*least), milliseconds(others.time)),
       .ranks = {},
       .per_step = lost,
       .parts = {lost},
       .status = Status::kInferred,  // whether the training bears 16 bits is not in a profile
       .evidence = evidence_of(scene, wide.rows),
       .advice = {"half"}});
}

void add_missing_tensor_cores(const Scene& scene, Findings& answer) {
  const WorkSum vectors = work_sum(scene, runs_on_vectors);
  if (!is_worth_a_word(scene, vectors.time)) {
    add_wide_products(scene, answer);
    return;
  }
  if (vectors.stated_time < vectors.time) {
    answer.abstained.push_back({"missing-tensor-cores", "shapes"});
    return;
  }
  const auto least = on_matrix_units(scene, vectors);
  if (!least) {
    answer.abstained.push_back({"missing-tensor-cores", "device"});
    return;
  }
  const Seconds lost = vectors.time - *least;
  if (!is_worth_a_word(scene, lost)) {
    return;
  }
  answer.found.push_back(
      {.rule = "missing-tensor-cores",
       .cause = fmt::format(
           "{:.0f} products a step run beside the matrix units, at {:.3g} TFLOP/s: {} ({}); with "
           "them they need {} at least. The longest: {}.",
           vectors.calls, vectors.flops / vectors.time / 1_TFLOPps, milliseconds(vectors.time),
           percent_of_step(scene, vectors.time), milliseconds(*least),
           shapes_text(vectors.rows.front()->inputs)),
       .ranks = {},
       .per_step = lost,
       .parts = {lost},
       .status = Status::kVerified,
       .evidence = evidence_of(scene, vectors.rows)});
}

// ---- products too small to fill the device ----

// Source: cuBLAS's and cutlass's usual tile of one compute unit; nvjet's are 128 x 256 and more.
constexpr std::int64_t kTile = 128;

struct SizedProduct {
  const WorkRow* row = nullptr;
  Seconds least;  // at the peak
};

std::int64_t tiles_of(const ProductSize& size) {
  const auto along = [](std::int64_t length) { return (length + kTile - 1) / kTile; };
  return size.batch * along(size.m) * along(size.n);
}

// Whether its size is why it runs at less than half of what its FLOPs take at the peak: tiles that
// leave compute units without one, or so few FLOPs a byte that memory binds it.
std::optional<SizedProduct> small_product(const Scene& scene, const WorkRow& row) {
  const auto size = metrics::product_size(row.inputs);
  const auto format = size && size->element ? matrix_format(*size->element) : std::nullopt;
  const auto units = scene.device ? scene.device->compute_units : std::nullopt;
  if (!format || !units) {
    return std::nullopt;
  }
  if (row.unit == ProductUnit::kVector || row.stated_flops != row.time.count ||
      row.time.count == 0) {
    return std::nullopt;
  }
  const auto compute = at_peak(scene, Flops(row.flops.value()), *format);
  const auto memory = at_bandwidth(scene, Bytes(row.bytes.value()));
  const Seconds time = static_cast<double>(row.time.total_ns) * 1_ns;
  constexpr double kHalf = 0.5;
  if (!compute || !memory || *compute >= kHalf * time) {
    return std::nullopt;
  }
  const bool is_small = tiles_of(*size) < units->value || *memory > *compute;
  return is_small ? std::optional(SizedProduct{&row, *compute}) : std::nullopt;
}

// What joins the results of small products where one product would need nothing: sums and copies
// of the size of a result, in the same pass, at least half as often.
Seconds joining_time(const Scene& scene, const std::vector<const WorkRow*>& products) {
  const WorkSum joining = work_sum(scene, [&](const WorkRow& row) {
    return (row.part == WorkPart::kElementwise || row.part == WorkPart::kRelayout) &&
           !row.inputs.empty() && std::ranges::any_of(products, [&](const WorkRow* product) {
             const auto size = metrics::product_size(product->inputs);
             return product->pass == row.pass && 2 * row.time.count >= product->time.count &&
                    row.inputs.front().elements() == static_cast<double>(size->batch) *
                                                         static_cast<double>(size->m) *
                                                         static_cast<double>(size->n);
           });
  });
  return joining.time;
}

// What the device waits before them is theirs where they are most of what the host launches: else
// it would wait as long before the rest.
bool are_most_launches(const Scene& scene, const WorkSum& small) {
  const WorkSum all = work_sum(scene, [](const WorkRow&) { return true; });
  return 2.0 * small.kernels > all.kernels;
}

void add_small_products(const Scene& scene, Findings& answer) {
  const WorkSum products = work_sum(scene, is_own_product);
  if (!scene.device || products.rows.empty()) {
    return;  // missing-tensor-cores says what is not known
  }
  WorkSum small;
  Seconds least;
  for (const WorkRow* row : products.rows) {
    const auto found = small_product(scene, *row);
    if (found) {
      const double steps = static_cast<double>(scene.totals.steps);
      small.time += of_mean_step(scene, row->time.total_ns);
      small.idle += of_mean_step(scene, row->idle_ns);
      small.calls += static_cast<double>(row->time.count) / steps;
      small.kernels += static_cast<double>(row->kernels) / steps;
      small.rows.push_back(row);
      least += found->least / steps;
    }
  }
  const Seconds joining = joining_time(scene, small.rows);
  small.idle = are_most_launches(scene, small) ? spared_idle(scene, small.idle) : Seconds();
  const Seconds lost = small.time + small.idle + joining - least;
  if (small.rows.empty() || !is_worth_a_word(scene, small.time - least)) {
    return;
  }
  answer.found.push_back(
      {.rule = "small-products",
       .cause = fmt::format(
           "{:.0f} products a step are too small for the device: they take {} ({}), {:.3g} us "
           "each, with {} idle before them and {} to join their results; their FLOPs need {} at "
           "the peak. The longest: {}.",
           small.calls, milliseconds(small.time), percent_of_step(scene, small.time),
           small.time / small.calls / 1_us, milliseconds(small.idle), milliseconds(joining),
           milliseconds(least), shapes_text(small.rows.front()->inputs)),
       .ranks = {},
       .per_step = lost,
       .parts = {small.time + joining - least, Seconds(), Seconds(), small.idle},
       .status = Status::kInferred,
       .evidence = evidence_of(scene, small.rows)});
}

// ---- products slower than the device does them ----

// A product as it was measured against how long the device takes for one of its size.
struct Pace {
  const WorkRow* row = nullptr;
  Seconds time;      // of a mean step
  Seconds expected;  // the same
  [[nodiscard]] double ratio() const { return time / expected; }
};

std::optional<DType> format_of_row(const WorkRow& row, timeline::ElementType element) {
  return row.unit == ProductUnit::kVector ? DType::kFp32 : matrix_format(element);
}

std::optional<Pace> pace_of(const Scene& scene, const cost::DeviceModel& model,
                            const WorkRow& row) {
  // Shorter ones are launches and tails more than rates.
  constexpr Seconds kLong = 50_us;
  const auto size = metrics::product_size(row.inputs);
  const auto element = size ? size->element : std::nullopt;
  const auto format = element ? format_of_row(row, *element) : std::nullopt;
  if (!format || !row.unit || row.stated_flops != row.time.count || row.time.count == 0 ||
      model.rate(*format).burst.base() <= 0.0) {
    return std::nullopt;
  }
  workload::Operator op{.kind = workload::OpKind::kGemm, .dtype = *format, .batch = size->batch};
  op.m = size->m;
  op.n = size->n;
  op.k = size->k;
  const double count = static_cast<double>(row.time.count);
  op.flops = Flops(row.flops.value() / count);
  const auto cells = static_cast<double>(size->batch * size->m * size->n);
  op.written = cells * timeline::format_of(*element).size;
  op.read = std::max(Bytes(), Bytes(row.bytes.value() / count) - op.written);
  const Seconds expected = cost::operator_time(op, model).total();
  if (expected < kLong) {
    return std::nullopt;
  }
  const double per_step = count / static_cast<double>(scene.totals.steps);
  return Pace{&row, of_mean_step(scene, row.time.total_ns), expected * per_step};
}

std::vector<Pace> paces_of(const Scene& scene, const cost::DeviceModel& model) {
  std::vector<Pace> paces;
  for (const WorkRow& row : scene.device_work.rows) {
    if (is_own_product(row)) {
      const auto pace = pace_of(scene, model, row);
      if (pace) {
        paces.push_back(*pace);
      }
    }
  }
  return paces;
}

// The ratio below which half of the time lies. REQUIRES: some.
double middle_ratio(std::vector<Pace> paces) {
  std::ranges::sort(paces, {}, &Pace::ratio);
  Seconds all;
  for (const Pace& pace : paces) {
    all += pace.time;
  }
  Seconds below;
  for (const Pace& pace : paces) {
    below += pace.time;
    if (below >= 0.5 * all) {
      return pace.ratio();
    }
  }
  return paces.back().ratio();
}

// What the model of a device leaves open: products of H200s lie within a quarter of it, nine in
// ten. Source: docs/validation.md, kernels.
constexpr double kModelError = 1.25;

Finding pace_finding(const Scene& scene, std::string rule, const std::vector<Pace>& slow,
                     std::string cause) {
  Finding finding{.rule = std::move(rule), .cause = std::move(cause), .ranks = {}};
  std::vector<const WorkRow*> rows;
  for (const Pace& pace : slow) {
    finding.per_step += pace.time - pace.expected;
    rows.push_back(pace.row);
  }
  finding.parts = {finding.per_step};
  finding.status = Status::kInferred;
  finding.evidence = evidence_of(scene, rows);
  return finding;
}

// A clock that is low slows whatever computes by one factor; what only moves memory keeps its pace.
bool is_clock(const std::vector<Pace>& paces, double middle) {
  constexpr double kAlike = 1.2;
  // One size may be slow for reasons of its own: several must be slow alike.
  constexpr std::size_t kSeveral = 3;
  Seconds alike;
  Seconds all;
  for (const Pace& pace : paces) {
    all += pace.time;
    const bool is_alike = pace.ratio() < middle * kAlike && pace.ratio() > middle / kAlike;
    alike += is_alike ? pace.time : Seconds();
  }
  constexpr double kMostOfIt = 0.75;
  return paces.size() >= kSeveral && middle > kModelError && alike >= kMostOfIt * all;
}

void add_paces(const Scene& scene, Findings& answer) {
  if (!scene.kernel_model) {
    return;
  }
  const std::vector<Pace> paces = paces_of(scene, *scene.kernel_model);
  if (paces.empty()) {
    return;
  }
  const double middle = middle_ratio(paces);
  if (is_clock(paces, middle)) {
    // Fused attention computes on the same units.
    const WorkSum attention =
        work_sum(scene, [](const WorkRow& row) { return row.part == WorkPart::kAttention; });
    const Seconds slowed = attention.time * (1.0 - 1.0 / middle);
    Finding finding = pace_finding(
        scene, "clock-throttling", paces,
        fmt::format("Products of {} sizes all take {:.2f} times what the device takes for them: "
                    "its clock is low, or its power is limited.",
                    paces.size(), middle));
    finding.per_step += slowed;
    finding.parts[0] += slowed;
    if (is_worth_a_word(scene, finding.per_step)) {
      answer.found.push_back(std::move(finding));
    }
    return;
  }
  // Each by itself: where others keep the pace, twice the time is no matter of the clock.
  constexpr double kTwice = 2.0;
  std::vector<Pace> slow;
  std::ranges::copy_if(paces, std::back_inserter(slow), [&](const Pace& pace) {
    return pace.ratio() > kTwice && pace.ratio() > kTwice * std::min(middle, 1.0);
  });
  if (slow.empty()) {
    return;
  }
  Finding finding = pace_finding(
      scene, "slow-kernels", slow,
      fmt::format("{} sizes of products take more than twice what the device takes for them; the "
                  "longest: {}, {:.1f} times.",
                  slow.size(), shapes_text(slow.front().row->inputs), slow.front().ratio()));
  if (is_worth_a_word(scene, finding.per_step)) {
    answer.found.push_back(std::move(finding));
  }
}

}  // namespace

Findings product_findings(const Scene& scene) {
  Findings answer;
  add_missing_tensor_cores(scene, answer);
  add_small_products(scene, answer);
  add_paces(scene, answer);
  return answer;
}

}  // namespace sextant::diagnose
