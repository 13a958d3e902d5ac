// What the name of a kernel, an operator or an annotation says of it: communication, a copy or
// compute; the operation and the element type of a collective that has no metadata. The names
// stand in a table (data/profile/names.csv) that users extend, since libraries rename their kernels
// and new ones come.
//
// The table: `pattern,says,value,source`. A pattern is compared with the whole name, case for case;
// '*' stands for any text. `says` is "kind" (value: communication, copy, compute, host), "op" (an
// operation's word, all_reduce) or "element" (c10::ScalarType's word, BFloat16); of kernels that
// compute "use" (what they do: product, norm …) and "unit" (what multiplies: vector, tf32, tensor).
// Of the rows of one kind of fact the first that fits counts; op and element are asked of
// communication only, use and unit of all else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.h"
#include "base/result.h"
#include "profile/kernel_meaning.h"
#include "timeline/label.h"

namespace sextant::profile {

struct Recognised {
  std::optional<timeline::SpanKind> kind;  // nothing: no row fits
  std::optional<CollectiveOp> op;
  std::optional<timeline::ElementType> element;
  std::optional<timeline::OperatorUse> use = std::nullopt;
  std::optional<timeline::ProductUnit> unit = std::nullopt;
  bool operator==(const Recognised&) const = default;
};

class RecognitionTable {
 public:
  // Of at most 10,000 rows; `where` is the file's name for errors.
  static Result<RecognitionTable> parse(std::string text, std::string where);

  // These rows, and after them those: a user's table before the program's.
  [[nodiscard]] RecognitionTable before(const RecognitionTable& other) const;

  // Walks the rows: ask once for each distinct name. Names are cut at 4096 characters.
  [[nodiscard]] Recognised of(std::string_view name) const;
  [[nodiscard]] std::size_t rows() const {
    return kinds_.size() + ops_.size() + elements_.size() + uses_.size() + units_.size();
  }

 private:
  template <typename T>
  struct Row {
    std::string pattern;
    T value;
  };
  std::vector<Row<timeline::SpanKind>> kinds_;
  std::vector<Row<CollectiveOp>> ops_;
  std::vector<Row<timeline::ElementType>> elements_;
  std::vector<Row<timeline::OperatorUse>> uses_;
  std::vector<Row<timeline::ProductUnit>> units_;
};

// The word of a use or a unit in data/profile; nothing for none.
std::optional<timeline::OperatorUse> use_of_word(std::string_view word);

// The table as the readers ask it of a device's kernels: what no row knows computes. The table must
// outlive the answer.
KernelNames kernel_names(const RecognitionTable& table);

// Whether the text is of the pattern: '*' any text, all else itself.
bool fits_pattern(std::string_view text, std::string_view pattern);

// The operation of torch.distributed's word for a collective ("_allgather_base", "allreduce"); of
// NCCL's and ours ("all_reduce") alike. Nothing for those that we have no word for.
std::optional<CollectiveOp> op_of_torch_word(std::string_view word);
// Of c10::ScalarType's word, as in "dtype", and as in "Input type" ("float", "c10::Half").
std::optional<timeline::ElementType> element_of_torch_word(std::string_view word);

}  // namespace sextant::profile
