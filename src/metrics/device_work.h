// What a device worked at, by what it was for: rows of one part of a step (products of the layers,
// attention, its written scores, norms …), one pass (forward, backward, again forward, update) and
// one operator with the same inputs. What rules about the device ask, and what a predicted step is
// laid beside.
//
// Which pass: work launched inside "Optimizer.step#…" is the update's; inside autograd's evaluation
// of a function, backward; there, by an operator that autograd records for a pass to come, the
// forward pass run again (activation checkpointing). All else is forward.
//
// Scores: what is of the shape (…, queries, keys) of a softmax whose input a batch of products has
// made. Logits: what is as wide as the input of a loss over classes.
//
// Chains: operators that stream through memory, one directly behind the other on a stream, three
// or more: what one kernel could do. `least_bytes` is what that must move: what the first reads and
// the last writes; nothing where shapes do not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/spread.h"
#include "metrics/steps.h"
#include "metrics/view.h"
#include "timeline/label.h"

namespace sextant::metrics {

enum class WorkPass : std::uint8_t { kForward, kAgain, kBackward, kUpdate, kUnknown };
inline constexpr std::size_t kWorkPasses = 5;
std::string_view name_of(WorkPass pass);

enum class WorkPart : std::uint8_t {
  kProducts,   // of the layers
  kHead,       // products with the vocabulary
  kAttention,  // fused
  kScores,     // attention whose scores are written: its products, softmax and all between
  kNorms,
  kElementwise,  // reductions too
  kRelayout,     // copies that change only the order of elements
  kEmbedding,
  kLoss,  // all that is as wide as the vocabulary, but products
  kUpdate,
  kCopies,  // between host and device, and fills
  kCommunication,
  kOther,
};
inline constexpr std::size_t kWorkParts = 13;
std::string_view name_of(WorkPart part);

struct WorkRow {
  WorkPass pass = WorkPass::kUnknown;
  WorkPart part = WorkPart::kOther;
  std::string name = {};  // as in OperatorRow
  std::optional<timeline::OperatorUse> use = std::nullopt;
  std::optional<timeline::ProductUnit> unit = std::nullopt;  // of the kernels
  std::vector<timeline::Tensor> inputs = {};                 // at most kMostRowInputs
  Spread time = {};                                          // of all that one call launched
  std::int64_t kernels = 0;
  std::int64_t idle_ns = 0;  // before it, when nothing ran on the device
  WideSum flops = {};
  WideSum bytes = {};
  std::int64_t stated_flops = 0;  // calls that say
  std::int64_t stated_bytes = 0;
  Interval longest = {};  // one of those that took longest; on the recorder's clock
  WorkRow& operator+=(const WorkRow& other);  // of one key
  bool operator==(const WorkRow&) const = default;
};
inline constexpr std::size_t kMostRowInputs = 4;

struct ChainRow {
  WorkPass pass = WorkPass::kUnknown;
  std::string names = {};  // "aten::pow, aten::mean, …"
  Spread time = {};
  std::int64_t idle_ns = 0;  // of the device, before its operators
  std::int64_t operators = 0;
  WideSum bytes = {};  // of those chains of which all is known, as the next
  WideSum least_bytes = {};
  std::int64_t stated = 0;     // such chains
  std::int64_t stated_ns = 0;  // their time
  Interval longest = {};
  ChainRow& operator+=(const ChainRow& other);  // of one key
  bool operator==(const ChainRow&) const = default;
};

struct WorkTables {
  std::vector<WorkRow> rows;  // longest total first, of equals by key
  std::vector<ChainRow> chains;
  bool operator==(const WorkTables&) const = default;
};

// Of the kept steps' work of a rank with a device.
WorkTables device_work(const View& view, const RankLanes& rank, const Steps& steps,
                       std::size_t rank_number);

// Rows of one key as one, in order.
std::vector<WorkRow> folded(std::vector<WorkRow> rows);
std::vector<ChainRow> folded(std::vector<ChainRow> rows);

// A product's sizes; nothing for what is none, or is not recorded.
struct ProductSize {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::optional<timeline::ElementType> element = std::nullopt;
};
std::optional<ProductSize> product_size(const std::vector<timeline::Tensor>& inputs);

}  // namespace sextant::metrics
