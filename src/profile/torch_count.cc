#include "profile/torch_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "profile/recognition.h"
#include "profile/tensor_words.h"

namespace sextant::profile {
namespace {

enum class CountedAs : std::uint8_t { kProduct, kForward, kBackward };

// Where heads stand in the shapes of queries and keys: batch, heads, tokens, channels or batch,
// tokens, heads, channels.
enum class Heads : std::uint8_t { kSecond, kThird };

struct CountedOperator {
  std::string_view name;
  CountedAs as = CountedAs::kProduct;
  std::size_t first = 0;  // input: the left factor, the queries
  // Of attention.
  std::size_t causal = 0;  // input: says whether the mask is causal
  std::size_t lengths =
      0;  // input: of packed sequences, whose tokens no shape tells; 0: takes none
  Heads heads = Heads::kThird;
};

// Source: PyTorch 2.11, aten/src/ATen/native/native_functions.yaml: the order of inputs.
constexpr std::array<CountedOperator, 14> kCountedOperators{
    {{"aten::mm"},
     {"aten::bmm"},
     {"aten::_scaled_mm"},
     {"aten::addmm", CountedAs::kProduct, 1},
     {"aten::_addmm_activation", CountedAs::kProduct, 1},
     {"aten::baddbmm", CountedAs::kProduct, 1},
     {"aten::_flash_attention_forward", CountedAs::kForward, 0, 8, 3},
     {"aten::_flash_attention_backward", CountedAs::kBackward, 1, 11, 6},
     {"aten::_efficient_attention_forward", CountedAs::kForward, 0, 9, 4},
     {"aten::_efficient_attention_backward", CountedAs::kBackward, 1, 14, 6},
     {"aten::_cudnn_attention_forward", CountedAs::kForward, 0, 10, 4, Heads::kSecond},
     {"aten::_cudnn_attention_backward", CountedAs::kBackward, 1, 14, 9, Heads::kSecond},
     {"aten::_scaled_dot_product_flash_attention_for_cpu", CountedAs::kForward, 0, 4, 0,
      Heads::kSecond},
     {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", CountedAs::kBackward, 1, 7, 0,
      Heads::kSecond}}};

const CountedOperator* counted_operator(std::string_view name) {
  const auto* found = std::find_if(kCountedOperators.begin(), kCountedOperators.end(),
                                   [&](const CountedOperator& one) { return one.name == name; });
  return found == kCountedOperators.end() ? nullptr : found;
}

double elements_in(const TensorShape& shape) {
  double elements = 1.0;
  for (const double dimension : shape) {
    elements *= dimension;
  }
  return elements;
}

// [batch,] M, K times [batch,] K, N.
std::optional<TorchCount> product(const TensorShape& left, const TensorShape& right, Bytes size) {
  const std::size_t rank = left.size();
  if (rank < 2 || rank > 3 || right.size() != rank || left.back() != right[rank - 2] ||
      (rank == 3 && left[0] != right[0])) {
    return std::nullopt;
  }
  const double result = elements_in(left) / left.back() * right.back();
  return TorchCount{
      .flops = Flops(2.0 * result * left.back()),
      .bytes = (elements_in(left) + elements_in(right) + result) * size,
  };
}

// Keys may have fewer heads than queries, and values other channels.
std::optional<TorchCount> attention(const CountedOperator& counted,
                                    const std::vector<TensorShape>& shapes, bool is_causal,
                                    Bytes size) {
  const TensorShape& queries = shapes[counted.first];
  const TensorShape& keys = shapes[counted.first + 1];
  const TensorShape& values = shapes[counted.first + 2];
  const bool is_packed = counted.lengths > 0 && !shapes[counted.lengths].empty();
  if (is_packed || queries.size() != 4 || keys.size() != 4 || values.size() != 4) {
    return std::nullopt;
  }
  const double tokens = keys[counted.heads == Heads::kSecond ? 2 : 1];
  const double rows = elements_in(queries) / queries.back();  // of the scores
  const double by_keys = rows * tokens * queries.back();
  const double by_values = rows * tokens * values.back();
  const double share = is_causal ? 0.5 : 1.0;
  const double inputs = elements_in(queries) + elements_in(keys) + elements_in(values);
  const double result = rows * values.back();
  if (counted.as == CountedAs::kForward) {
    return TorchCount{.flops = Flops(2.0 * share * (by_keys + by_values)),
                      .bytes = (inputs + result) * size};
  }
  // Scores again, their gradient, those of the queries and keys; of the values.
  return TorchCount{.flops = Flops(2.0 * share * (3.0 * by_keys + 2.0 * by_values)),
                    .bytes = (2.0 * inputs + 2.0 * result) * size};
}

bool is_finite(const TorchCount& count) {
  return std::isfinite(count.flops.base()) && std::isfinite(count.bytes.base());
}

}  // namespace

bool is_counted_operator(std::string_view name) {
  return counted_operator(name) != nullptr;
}

std::string_view counted_value(std::string_view name, const KinetoArguments& arguments) {
  const CountedOperator* counted = counted_operator(name);
  if (counted == nullptr || counted->causal == 0 || !arguments.input_values.is_nested()) {
    return {};
  }
  const std::vector<std::string_view> values = listed_words(arguments.input_values.text);
  return counted->causal < values.size() ? values[counted->causal] : std::string_view();
}

std::optional<TorchCount> torch_count(std::string_view name, const KinetoArguments& arguments) {
  const CountedOperator* counted = counted_operator(name);
  if (counted == nullptr || !arguments.input_dims.is_nested() ||
      !arguments.input_types.is_nested()) {
    return std::nullopt;
  }
  const std::vector<TensorShape> shapes = tensor_shapes(arguments.input_dims.text);
  const std::vector<std::string_view> types = listed_words(arguments.input_types.text);
  const std::size_t last =
      std::max(counted->first + (counted->as == CountedAs::kProduct ? 1 : 2), counted->lengths);
  const auto element =
      counted->first < types.size() ? element_of_torch_word(types[counted->first]) : std::nullopt;
  if (!element || last >= shapes.size()) {
    return std::nullopt;
  }
  const Bytes size = timeline::format_of(*element).size;
  std::optional<TorchCount> count;
  if (counted->as == CountedAs::kProduct) {
    count = product(shapes[counted->first], shapes[counted->first + 1], size);
  } else {
    // What was not recorded ("") and what is no mask of ours (0) is no mask; of the efficient
    // kernels 1 and 2 are causal.
    const std::string_view causal = counted_value(name, arguments);
    count = attention(*counted, shapes, is_one_of(causal, {"True", "1", "2"}), size);
  }
  return count && is_finite(*count) ? count : std::nullopt;
}

}  // namespace sextant::profile
