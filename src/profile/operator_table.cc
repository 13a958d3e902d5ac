#include "profile/operator_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "profile/recognition.h"

namespace sextant::profile {
namespace {

using timeline::Tensor;

constexpr std::size_t kMostOperatorRows = 10'000;

constexpr std::array<std::pair<std::string_view, CountRule>, 8> kRules{
    {{"product", CountRule::kProduct},
     {"attention", CountRule::kAttention},
     {"attention_gradient", CountRule::kAttentionGradient},
     {"elementwise", CountRule::kElementwise},
     {"copy", CountRule::kCopy},
     {"fill", CountRule::kFill},
     {"reduce", CountRule::kReduce},
     {"cat", CountRule::kCat}}};

// "attention:1:bhsd".
bool read_count(std::string_view text, OperatorFacts& facts) {
  if (text.empty()) {
    return true;
  }
  const std::vector<std::string_view> parts = split(text, ':');
  const auto* rule =
      std::ranges::find(kRules, parts[0], &std::pair<std::string_view, CountRule>::first);
  if (rule == kRules.end()) {
    return false;
  }
  facts.rule = rule->second;
  const bool is_attention =
      facts.rule == CountRule::kAttention || facts.rule == CountRule::kAttentionGradient;
  if (parts.size() != (is_attention ? 3U : facts.rule == CountRule::kProduct ? 2U : 1U)) {
    return false;
  }
  if (parts.size() > 1) {
    const auto first = to_integer(parts[1]);
    if (!first || *first < 0 || *first > 8) {
      return false;
    }
    facts.first = static_cast<std::size_t>(*first);
  }
  if (is_attention) {
    facts.heads_come_first = parts[2] == "bhsd";
    return facts.heads_come_first || parts[2] == "bshd";
  }
  return true;
}

const Tensor* input_at(const OperatorArguments& arguments, std::size_t place) {
  if (place >= arguments.inputs.size()) {
    return nullptr;
  }
  const std::optional<Tensor>& input = arguments.inputs[place];
  return input ? &*input : nullptr;
}

// Nothing where its format is not known.
Bytes element_size(const Tensor& tensor) {
  return tensor.element ? format_of(*tensor.element).size : Bytes();
}

std::optional<Bytes> tensor_bytes_of(const Tensor& tensor) {
  return tensor.element ? std::optional(tensor.elements() * format_of(*tensor.element).size)
                        : std::nullopt;
}

// Of all that are known; nothing where an element's format is not.
std::optional<Bytes> bytes_of_all(const std::vector<const Tensor*>& tensors) {
  Bytes sum;
  for (const Tensor* tensor : tensors) {
    const auto size = tensor_bytes_of(*tensor);
    if (!size) {
      return std::nullopt;
    }
    sum += *size;
  }
  return sum;
}

// [batch …, m, k] · [batch …, k, n].
OperatorAmounts product_amounts(const OperatorFacts& facts, const OperatorArguments& arguments) {
  const Tensor* a = input_at(arguments, facts.first);
  const Tensor* b = input_at(arguments, facts.first + 1);
  if (a == nullptr || b == nullptr || a->dims.size() < 2 || b->dims.empty()) {
    return {};
  }
  const auto k = static_cast<double>(a->dims.back());
  const bool is_vector = b->dims.size() == 1;
  const double n = is_vector ? 1.0 : static_cast<double>(b->dims.back());
  if (k != static_cast<double>(is_vector ? b->dims[0] : b->dims[b->dims.size() - 2])) {
    return {};
  }
  OperatorAmounts amounts;
  const double outputs = k > 0.0 ? a->elements() / k * n : 0.0;
  amounts.flops = Flops(2.0 * outputs * k);
  // Written in the format of the left matrix; where an added term is given, it is read.
  const auto read = bytes_of_all({a, b});
  if (read) {
    amounts.bytes = *read + outputs * element_size(*a);
    if (facts.first > 0) {
      const Tensor* added = input_at(arguments, 0);
      amounts.bytes =
          *amounts.bytes + (added == nullptr ? Bytes() : tensor_bytes_of(*added).value_or(Bytes()));
    }
  }
  return amounts;
}

// Two products forward; five backward, the first of them again. Source: Dao, FlashAttention-2,
// arXiv:2307.08691, section 4.1.
// Sequences of any lengths in one row: their ends are a list of 32-bit numbers, which no shape
// tells.
bool is_packed(const OperatorArguments& arguments) {
  return std::ranges::any_of(arguments.inputs, [](const std::optional<Tensor>& input) {
    return input && input->dims.size() == 1 && input->element == timeline::ElementType::kInt32;
  });
}

OperatorAmounts attention_amounts(const OperatorFacts& facts, const OperatorArguments& arguments) {
  const Tensor* q = input_at(arguments, facts.first);
  const Tensor* k = input_at(arguments, facts.first + 1);
  const Tensor* v = input_at(arguments, facts.first + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->dims.size() != 4 || k->dims.size() != 4 ||
      v->dims.size() != 4 || is_packed(arguments)) {
    return {};
  }
  const std::size_t length_at = facts.heads_come_first ? 2 : 1;
  const std::size_t heads_at = facts.heads_come_first ? 1 : 2;
  const auto at = [](const Tensor* tensor, std::size_t place) {
    return static_cast<double>(tensor->dims[place]);
  };
  OperatorAmounts amounts;
  const bool is_gradient = facts.rule == CountRule::kAttentionGradient;
  const double pairs = at(q, 0) * at(q, heads_at) * at(q, length_at) * at(k, length_at);
  const bool is_square = q->dims[length_at] == k->dims[length_at];
  if (arguments.is_causal) {
    const double seen = *arguments.is_causal && is_square ? 0.5 : 1.0;
    const double sizes = is_gradient ? 3.0 * at(q, 3) + 2.0 * at(v, 3) : at(q, 3) + at(v, 3);
    amounts.flops = Flops(2.0 * pairs * seen * sizes);
  }
  const auto inputs = bytes_of_all({q, k, v});
  const auto query = tensor_bytes_of(*q);
  if (inputs && query) {
    // Forward the result, of the query's size. Backward the result and its gradient, read; three
    // gradients, written.
    amounts.bytes = is_gradient ? *inputs * 2.0 + *query * 2.0 : *inputs + *query;
  }
  return amounts;
}

std::vector<const Tensor*> all_inputs(const OperatorArguments& arguments) {
  std::vector<const Tensor*> all;
  for (const auto& input : arguments.inputs) {
    // A number counts as nothing beside tensors.
    if (input && !input->dims.empty()) {
      all.push_back(&*input);
    }
  }
  return all;
}

// What inputs broadcast to: the larger of each dimension, from the last.
double broadcast_elements(const std::vector<const Tensor*>& inputs) {
  std::vector<std::int64_t> dims;
  for (const Tensor* input : inputs) {
    if (input->dims.size() > dims.size()) {
      dims.insert(dims.begin(), input->dims.size() - dims.size(), 1);
    }
    for (std::size_t i = 0; i < input->dims.size(); ++i) {
      std::int64_t& dim = dims[dims.size() - 1 - i];
      dim = std::max(dim, input->dims[input->dims.size() - 1 - i]);
    }
  }
  return Tensor{dims}.elements();
}

// In the widest format, as PyTorch promotes; in place in the first one's.
Bytes written_element(const std::vector<const Tensor*>& inputs, bool writes_first) {
  Bytes element = element_size(*inputs.front());
  if (!writes_first) {
    for (const Tensor* input : inputs) {
      element = std::max(element, element_size(*input));
    }
  }
  return element;
}

OperatorAmounts stream_amounts(const OperatorFacts& facts, const OperatorArguments& arguments) {
  const std::vector<const Tensor*> inputs = all_inputs(arguments);
  if (inputs.empty()) {
    // Of numbers alone: nothing worth counting. What was not recorded has no places either.
    return arguments.inputs.empty() ? OperatorAmounts{} : OperatorAmounts{Flops(0.0), Bytes(0.0)};
  }
  const Tensor* first = input_at(arguments, 0);
  const Tensor* second = input_at(arguments, 1);
  const auto read = bytes_of_all(inputs);
  OperatorAmounts amounts;
  switch (facts.rule) {
    case CountRule::kCopy:
      if (first != nullptr && second != nullptr) {
        amounts = {Flops(0.0), bytes_of_all({first, second})};
      }
      break;
    case CountRule::kFill:
      if (first != nullptr) {
        amounts = {Flops(0.0), tensor_bytes_of(*first)};
      }
      break;
    case CountRule::kReduce:
      if (first != nullptr) {
        amounts = {Flops(first->elements()), tensor_bytes_of(*first)};
      }
      break;
    case CountRule::kCat:
      amounts = {Flops(0.0), read ? std::optional(*read * 2.0) : std::nullopt};
      break;
    case CountRule::kElementwise: {
      const double outputs = broadcast_elements(inputs);
      amounts.flops = Flops(outputs);
      if (read) {
        amounts.bytes = *read + outputs * written_element(inputs, arguments.writes_first);
      }
      break;
    }
    case CountRule::kNone:
    case CountRule::kProduct:
    case CountRule::kAttention:
    case CountRule::kAttentionGradient:
      break;
  }
  return amounts;
}

}  // namespace

Result<OperatorTable> OperatorTable::parse(std::string text, std::string where) {
  SEXTANT_TRY(const CsvTable csv, CsvTable::parse(std::move(text), std::move(where)));
  for (const std::string_view column : {"operator", "use", "count", "causal", "source"}) {
    if (!csv.column(column)) {
      return invalid(fmt::format("has no column \"{}\"", column), csv.where(),
                     "operator,use,count,causal,source");
    }
  }
  if (csv.rows() > kMostOperatorRows) {
    return invalid(fmt::format("has {} rows", csv.rows()), csv.where(),
                   fmt::format("at most {}", kMostOperatorRows));
  }
  OperatorTable table;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::string_view pattern = csv.field(row, "operator");
    const std::string_view causal = csv.field(row, "causal");
    const auto use = use_of_word(csv.field(row, "use"));
    const auto place = to_integer(causal);
    OperatorFacts facts;
    if (pattern.empty() || csv.field(row, "source").empty() || !use ||
        !read_count(csv.field(row, "count"), facts) ||
        (!causal.empty() && (!place || *place < 0 || *place > 64))) {
      return invalid(fmt::format("\"{}\" is no operator as it should be", printable(pattern)),
                     csv.where(row), "operator, use, count, place of the mask, source");
    }
    facts.use = *use;
    if (place) {
      facts.causal = static_cast<std::size_t>(*place);
    }
    table.rows_.push_back({std::string(pattern), facts});
  }
  return table;
}

const OperatorFacts* OperatorTable::of(std::string_view name) const {
  const auto found =
      std::ranges::find_if(rows_, [&](const Row& row) { return fits_pattern(name, row.pattern); });
  return found == rows_.end() ? nullptr : &found->facts;
}

OperatorAmounts amounts_of(const OperatorFacts& facts, const OperatorArguments& arguments) {
  switch (facts.rule) {
    case CountRule::kNone:
      return {};
    case CountRule::kProduct:
      return product_amounts(facts, arguments);
    case CountRule::kAttention:
    case CountRule::kAttentionGradient:
      return attention_amounts(facts, arguments);
    case CountRule::kElementwise:
    case CountRule::kCopy:
    case CountRule::kFill:
    case CountRule::kReduce:
    case CountRule::kCat:
      break;
  }
  return stream_amounts(facts, arguments);
}

}  // namespace sextant::profile
