#include "profile/recognition.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"

namespace sextant::profile {
namespace {

using timeline::ElementType;
using timeline::SpanKind;

constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kLongestMatched = 4096;

constexpr std::array<std::pair<std::string_view, SpanKind>, 4> kKindWords{
    {{"communication", SpanKind::kCommunication},
     {"copy", SpanKind::kCopy},
     {"compute", SpanKind::kCompute},
     {"host", SpanKind::kHost}}};

// Source: pytorch, c10/core/ScalarType.h and caffe2's TypeMeta names, which "Input type" gives.
constexpr std::array<std::pair<std::string_view, ElementType>, 14> kTypeNames{
    {{"double", ElementType::kFloat64},
     {"float", ElementType::kFloat32},
     {"c10::Half", ElementType::kFloat16},
     {"c10::BFloat16", ElementType::kBfloat16},
     {"c10::Float8_e4m3fn", ElementType::kFloat8E4m3},
     {"c10::Float8_e4m3fnuz", ElementType::kFloat8E4m3},
     {"c10::Float8_e5m2", ElementType::kFloat8E5m2},
     {"c10::Float8_e5m2fnuz", ElementType::kFloat8E5m2},
     {"long int", ElementType::kInt64},
     {"int", ElementType::kInt32},
     {"short int", ElementType::kInt16},
     {"signed char", ElementType::kInt8},
     {"unsigned char", ElementType::kUint8},
     {"bool", ElementType::kBool}}};

template <typename T>
const T* first_that_fits(const std::vector<T>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const T& row) { return fits_pattern(name, row.pattern); });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<CollectiveOp> op_of_word(std::string_view word) {
  for (const auto& [op, spelling] : kCollectiveOpWords) {
    if (spelling == word) {
      return op;
    }
  }
  return std::nullopt;
}

std::optional<SpanKind> kind_of_word(std::string_view word) {
  for (const auto& [spelling, kind] : kKindWords) {
    if (spelling == word) {
      return kind;
    }
  }
  return std::nullopt;
}

std::optional<timeline::ProductUnit> unit_of_word(std::string_view word) {
  for (std::size_t i = 0; i < timeline::kProductUnits; ++i) {
    const auto unit = static_cast<timeline::ProductUnit>(i);
    if (name_of(unit) == word) {
      return unit;
    }
  }
  return std::nullopt;
}

// Letters only, in lower case, without "coalesced", "base" and the like: "_allgather_base" and
// "all_gather_into_tensor_coalesced" begin alike.
std::string letters_of(std::string_view word) {
  std::string letters;
  for (const char c : word.substr(0, 64)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower >= 'a' && lower <= 'z') {
      letters += lower;
    }
  }
  return letters;
}

Result<void> check_names_table(const CsvTable& csv) {
  for (const std::string_view column : {"pattern", "says", "value", "source"}) {
    if (!csv.column(column)) {
      return invalid(fmt::format("has no column \"{}\"", column), csv.where(),
                     "pattern,says,value,source");
    }
  }
  if (csv.rows() > kMostRows) {
    return invalid(fmt::format("has {} rows", csv.rows()), csv.where(),
                   fmt::format("at most {}", kMostRows));
  }
  return {};
}

}  // namespace

std::optional<timeline::OperatorUse> use_of_word(std::string_view word) {
  for (std::size_t i = 0; i < timeline::kOperatorUses; ++i) {
    const auto use = static_cast<timeline::OperatorUse>(i);
    if (name_of(use) == word) {
      return use;
    }
  }
  return std::nullopt;
}

bool fits_pattern(std::string_view text, std::string_view pattern) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) {
    return text == pattern;
  }
  if (!text.starts_with(pattern.substr(0, first))) {
    return false;
  }
  text.remove_prefix(first);
  pattern.remove_prefix(first + 1);
  // What stands between two stars may be taken where it comes first: less is used up.
  for (std::size_t star = pattern.find('*'); star != std::string_view::npos;
       star = pattern.find('*')) {
    const std::size_t at = text.find(pattern.substr(0, star));
    if (at == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(at + star);
    pattern.remove_prefix(star + 1);
  }
  return text.ends_with(pattern);
}

KernelNames kernel_names(const RecognitionTable& table) {
  return [&table](std::string_view name) {
    const Recognised what = table.of(name);
    return KernelMeaning{what.kind.value_or(SpanKind::kCompute), what.op, what.element, what.use,
                         what.unit};
  };
}

std::optional<CollectiveOp> op_of_torch_word(std::string_view word) {
  // Source: torch/csrc/distributed/c10d/Types.hpp (OpType) and ProcessGroupNCCL.cpp, the words of
  // RECORD_PARAM_COMMS; NCCL's in its kernels' names.
  static constexpr std::array<std::pair<std::string_view, CollectiveOp>, 13> kBegins{
      {{"allreduce", CollectiveOp::kAllReduce},
       {"allgather", CollectiveOp::kAllGather},
       {"reducescatter", CollectiveOp::kReduceScatter},
       {"alltoall", CollectiveOp::kAllToAll},
       {"broadcast", CollectiveOp::kBroadcast},
       {"sendrecv", CollectiveOp::kSendReceive},
       {"sendreceive", CollectiveOp::kSendReceive},
       {"send", CollectiveOp::kSendReceive},
       {"recv", CollectiveOp::kSendReceive},
       {"isend", CollectiveOp::kSendReceive},
       {"irecv", CollectiveOp::kSendReceive},
       {"pingpong", CollectiveOp::kSendReceive},
       {"gatherintotensor", CollectiveOp::kAllGather}}};
  const std::string letters = letters_of(word);
  for (const auto& [begin, op] : kBegins) {
    if (letters.starts_with(begin)) {
      return op;
    }
  }
  return std::nullopt;
}

std::optional<ElementType> element_of_torch_word(std::string_view word) {
  for (const timeline::ElementFormat& format : timeline::kElementFormats) {
    if (format.torch == word) {
      return format.type;
    }
  }
  for (const auto& [name, type] : kTypeNames) {
    if (name == word) {
      return type;
    }
  }
  return std::nullopt;
}

Result<RecognitionTable> RecognitionTable::parse(std::string text, std::string where) {
  SEXTANT_TRY(const CsvTable csv, CsvTable::parse(std::move(text), std::move(where)));
  SEXTANT_CHECK_OK(check_names_table(csv));
  RecognitionTable table;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::string_view pattern = csv.field(row, "pattern");
    const std::string_view says = csv.field(row, "says");
    const std::string_view value = csv.field(row, "value");
    const auto kind = says == "kind" ? kind_of_word(value) : std::nullopt;
    const auto op = says == "op" ? op_of_word(value) : std::nullopt;
    const auto element = says == "element" ? element_of_torch_word(value) : std::nullopt;
    const auto use = says == "use" ? use_of_word(value) : std::nullopt;
    const auto unit = says == "unit" ? unit_of_word(value) : std::nullopt;
    if (pattern.empty() || csv.field(row, "source").empty()) {
      return invalid("a row without a pattern or a source", csv.where(row));
    }
    if (!kind && !op && !element && !use && !unit) {
      return invalid(fmt::format("\"{}\" as {} is unknown", printable(value), printable(says)),
                     csv.where(row),
                     "kind: communication, copy, compute, host; op: all_reduce, all_gather, "
                     "reduce_scatter, alltoall, sendrecv, broadcast; element: Float, BFloat16, …; "
                     "use: product, attention, norm, …; unit: vector, tf32, tensor");
    }
    if (kind) {
      table.kinds_.push_back({std::string(pattern), *kind});
    } else if (op) {
      table.ops_.push_back({std::string(pattern), *op});
    } else if (element) {
      table.elements_.push_back({std::string(pattern), *element});
    } else if (use) {
      table.uses_.push_back({std::string(pattern), *use});
    } else {
      table.units_.push_back({std::string(pattern), *unit});
    }
  }
  return table;
}

RecognitionTable RecognitionTable::before(const RecognitionTable& other) const {
  RecognitionTable both = *this;
  both.kinds_.insert(both.kinds_.end(), other.kinds_.begin(), other.kinds_.end());
  both.ops_.insert(both.ops_.end(), other.ops_.begin(), other.ops_.end());
  both.elements_.insert(both.elements_.end(), other.elements_.begin(), other.elements_.end());
  both.uses_.insert(both.uses_.end(), other.uses_.begin(), other.uses_.end());
  both.units_.insert(both.units_.end(), other.units_.begin(), other.units_.end());
  return both;
}

Recognised RecognitionTable::of(std::string_view name) const {
  name = name.substr(0, kLongestMatched);
  Recognised what;
  if (const auto* row = first_that_fits(kinds_, name)) {
    what.kind = row->value;
  }
  if (what.kind != SpanKind::kCommunication) {
    const auto* use = first_that_fits(uses_, name);
    what.use = use == nullptr ? std::nullopt : std::optional(use->value);
    const auto* unit = first_that_fits(units_, name);
    what.unit = unit == nullptr ? std::nullopt : std::optional(unit->value);
    return what;
  }
  if (const auto* row = first_that_fits(ops_, name)) {
    what.op = row->value;
  }
  if (const auto* row = first_that_fits(elements_, name)) {
    what.element = row->value;
  }
  return what;
}

}  // namespace sextant::profile
