// Operators of PyTorch by name: what each does, and how its FLOPs and bytes follow from the shapes
// of its inputs. They stand in a table (data/profile/operators.csv).
//
// The table: `operator,use,count,causal,source`. An operator may hold '*' for any text; the first
// row that fits counts. `count` is how it is counted, nothing where shapes don't tell:
//   product:N             the left matrix is input N, the right one the next; batches in front
//   attention:N:LAYOUT    query, key and value are inputs N to N + 2, bshd: batch, length, heads,
//                         size; bhsd: batch, heads, length, size
//   attention_gradient:…  the same of its backward pass
//   elementwise           reads all inputs, writes what they broadcast to
//   copy                  reads input 1, writes input 0
//   fill                  writes input 0
//   reduce                reads input 0
//   cat                   reads all and writes as much
// `causal` is the argument that says whether attention is masked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "timeline/label.h"

namespace sextant::profile {

enum class CountRule : std::uint8_t {
  kNone,
  kProduct,
  kAttention,
  kAttentionGradient,
  kElementwise,
  kCopy,
  kFill,
  kReduce,
  kCat,
};

struct OperatorFacts {
  timeline::OperatorUse use = timeline::OperatorUse::kElementwise;
  CountRule rule = CountRule::kNone;
  std::size_t first = 0;                             // of the inputs that the rule speaks of
  bool heads_come_first = false;                     // bhsd
  std::optional<std::size_t> causal = std::nullopt;  // argument
};

class OperatorTable {
 public:
  // Of at most 10,000 rows; `where` is the file's name for errors.
  static Result<OperatorTable> parse(std::string text, std::string where);

  // Null: no row fits. Walks the rows: ask once for each name. Lives as long as the table.
  [[nodiscard]] const OperatorFacts* of(std::string_view name) const;

 private:
  struct Row {
    std::string pattern;
    OperatorFacts facts;
  };
  std::vector<Row> rows_;
};

// Amounts of one call; nothing where the shapes do not tell.
struct OperatorAmounts {
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;  // read and written, each input and output once
};
// `is_causal` is asked of attention alone: half of its pairs are left out where query and key are
// of one length. `writes_first`: an operator in place.
struct OperatorArguments {
  std::vector<std::optional<timeline::Tensor>> inputs;  // by place; nothing: no tensor
  std::optional<bool> is_causal = std::nullopt;
  bool writes_first = false;
};
OperatorAmounts amounts_of(const OperatorFacts& facts, const OperatorArguments& arguments);

}  // namespace sextant::profile
