#include "made_training.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

struct Array {
  std::vector<std::int64_t> dims;
  std::string type = "c10::BFloat16";
};

double elements(const Array& array) {
  double product = 1.0;
  for (const std::int64_t dim : array.dims) {
    product *= static_cast<double>(dim);
  }
  return product;
}
double bytes(const Array& array) {
  return elements(array) * (array.type == "float" ? 4.0 : 2.0);
}

// What large kernels reach of an H200's datasheet: three quarters of its bandwidth, two thirds of
// its products' rates, and fp32 products on its vector cores.
constexpr double kBytesPerUs = 3.6e6;
constexpr double kHalfPerUs = 660e6;
constexpr double kTf32PerUs = 340e6;
constexpr double kSinglePerUs = 49e6;
constexpr double kStartUs = 2.0;
constexpr double kOperatorTakesUs = 6.0;  // of the host
constexpr double kCallUs = 4.0;
constexpr double kUnits = 132.0;

class Writer {
 public:
  explicit Writer(const MadeTraining& made) : made_(made) {}

  void range(const std::string& category, const std::string& name, bool is_recorded,
             const std::function<void()>& inside) {
    const double from = host_;
    host_ += 1.0;
    inside();
    host_ += 1.0;
    event(category, name, from, host_ - from, arguments({}, is_recorded, ""), 505);
  }
  // An operator that launches one kernel.
  void op(const std::string& name, const std::vector<Array>& inputs, const std::string& kernel,
          double takes_us, const std::string& values = "", int kernels = 1) {
    const double from = host_;
    host_ += kOperatorTakesUs;
    for (int i = 0; i < kernels; ++i) {
      const std::string launch = fmt::format("\"correlation\": {}", ++correlation_);
      event("cuda_runtime", "cudaLaunchKernel", host_, kCallUs, launch, 505);
      host_ += kCallUs + 1.0;
      const double start = std::max(device_, host_ + 2.0);
      event("kernel", kernel, start, takes_us / kernels, launch + ", \"device\": 0, \"stream\": 7",
            7);
      device_ = start + takes_us / kernels + 0.5;
    }
    event("cpu_op", name, from, host_ - from, arguments(inputs, is_forward, values), 505);
    host_ += 1.0;
  }
  void stream(const std::string& name, const std::vector<Array>& inputs, double written,
              double read = -1.0) {
    double moved = 0.0;
    for (const Array& input : inputs) {
      moved += bytes(input);
    }
    op(name, inputs, "void at::native::vectorized_elementwise_kernel<8, at::native::Functor>",
       kStartUs + ((read < 0.0 ? moved : read) + written) / kBytesPerUs);
  }
  void unary(const std::string& name, const Array& x) { stream(name, {x}, bytes(x)); }
  void binary(const std::string& name, const Array& x) { stream(name, {x, x}, bytes(x)); }
  void cast(const Array& to, const Array& from) {
    stream("aten::copy_", {to, from}, bytes(to), bytes(from));
  }
  // [batch,] m × k · k × n.
  void product(const std::string& name, Array a, Array b) {
    const double flops = 2.0 * elements(a) * static_cast<double>(b.dims.back());
    const auto tiles = [](std::int64_t length) {
      return static_cast<double>((length + 127) / 128);
    };
    const double m = tiles(a.dims[a.dims.size() - 2]);
    const double batch = a.dims.size() > 2 ? static_cast<double>(a.dims[0]) : 1.0;
    const double fill = std::min(1.0, batch * m * tiles(b.dims.back()) / kUnits);
    const bool is_vector = a.type == "float" && !made_.has_tf32;
    const double rate = (is_vector           ? kSinglePerUs
                         : a.type == "float" ? kTf32PerUs
                                             : kHalfPerUs) *
                        made_.clock * fill;
    const double written = elements(a) / static_cast<double>(a.dims.back()) *
                           static_cast<double>(b.dims.back()) * (a.type == "float" ? 4.0 : 2.0);
    op(name, {a, b},
       is_vector           ? "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>"
       : a.type == "float" ? "sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n_tilesize128x128x16"
                           : "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
       3.0 + std::max(flops / rate, (bytes(a) + bytes(b) + written) / kBytesPerUs));
  }
  void attention(const std::string& name, const std::vector<Array>& inputs, double flops,
                 const std::string& values) {
    op(name, inputs, "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64>>",
       5.0 + flops / (400e6 * made_.clock), values);
  }
  void backward(const std::string& node, const std::function<void()>& inside) {
    is_forward = false;
    range("cpu_op", "autograd::engine::evaluate_function: " + node, false,
          [&] { range("cpu_op", node, true, inside); });
  }
  // The host waits for the device.
  void wait() {
    event("cuda_runtime", "cudaStreamSynchronize", host_, std::max(1.0, device_ - host_), "", 505);
    host_ = std::max(host_ + 1.0, device_);
  }
  std::string take() {
    return fmt::format(
        "{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA H200\", "
        "\"totalGlobalMem\": 150109880320, \"numSms\": 132}}], \"record_shapes\": {}, "
        "\"traceEvents\": [\n{}\n]}}",
        made_.has_shapes ? 1 : 0, fmt::join(events_, ",\n"));
  }
  bool is_forward = true;

 private:
  std::string arguments(const std::vector<Array>& inputs, bool is_recorded,
                        const std::string& values) {
    std::string text = fmt::format("\"External id\": {}", ++external_);
    if (is_recorded) {
      text += fmt::format(", \"Sequence number\": {}", external_);
    }
    if (made_.has_shapes && !inputs.empty()) {
      std::string dims;
      std::string types;
      for (const Array& input : inputs) {
        dims += fmt::format("{}[{}]", dims.empty() ? "" : ", ", fmt::join(input.dims, ", "));
        types += fmt::format("{}\"{}\"", types.empty() ? "" : ", ", input.type);
      }
      text += fmt::format(", \"Input Dims\": [{}], \"Input type\": [{}]", dims, types);
      text += values.empty() ? "" : fmt::format(", \"Concrete Inputs\": [{}]", values);
    }
    return text;
  }
  void event(const std::string& category, const std::string& name, double start, double takes,
             const std::string& arguments, int thread) {
    events_.push_back(fmt::format(
        "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": "
        "{:.3f}, \"dur\": {:.3f}, \"args\": {{{}}}}}",
        category, name, category == "kernel" ? 0 : 505, thread, start, takes, arguments));
  }

  const MadeTraining& made_;
  std::vector<std::string> events_;
  double host_ = 0.0;
  double device_ = 0.0;
  std::int64_t correlation_ = 0;
  std::int64_t external_ = 100;
};

class Training {
 public:
  explicit Training(const MadeTraining& made)
      : c_(made),
        w_(made),
        type_(made.is_single_precision ? "float" : "c10::BFloat16"),
        rows_(made.batch * made.length),
        x_{{made.batch, made.length, made.hidden}, type_},
        wide_{{made.batch, made.length, 4 * made.hidden}, type_},
        x32_{x_.dims, "float"},
        logits_{{rows_, made.vocabulary}, type_} {}

  std::string run() {
    for (int step = 0; step < 2; ++step) {
      w_.range("user_annotation", fmt::format("ProfilerStep#{}", step), false, [&] { one_step(); });
    }
    return w_.take();
  }

 private:
  void one_step() {
    w_.is_forward = true;
    for (std::int64_t i = 0; i < c_.layers; ++i) {
      block();
    }
    norm();
    linear(c_.hidden, c_.vocabulary);
    loss();
    loss_gradient();
    linear_gradient(c_.hidden, c_.vocabulary);
    norm_gradient();
    for (std::int64_t i = 0; i < c_.layers; ++i) {
      if (c_.recomputes) {
        w_.backward("CheckpointFunctionBackward",
                    [&] { w_.range("cpu_op", "aten::linear", true, [&] { block(); }); });
      }
      block_gradient();
    }
    w_.range("user_annotation", "Optimizer.step#AdamW.step", false, [&] { update(); });
    w_.wait();
  }
  void linear(std::int64_t in, std::int64_t out) {
    w_.product("aten::mm", {{rows_, in}, type_}, {{in, out}, type_});
  }
  void linear_gradient(std::int64_t in, std::int64_t out) {
    w_.backward("MmBackward0", [&] {
      w_.product("aten::mm", {{out, rows_}, type_}, {{rows_, in}, type_});
      w_.product("aten::mm", {{rows_, out}, type_}, {{out, in}, type_});
    });
  }
  void block() {
    norm();
    linear(c_.hidden, 3 * c_.hidden);
    attend();
    linear(c_.hidden, c_.hidden);
    w_.binary("aten::add", x_);
    norm();
    if (c_.has_small_products) {
      for (int i = 0; i < 64; ++i) {
        linear(c_.hidden, c_.hidden / 16);
      }
      w_.stream("aten::cat", {wide_}, bytes(wide_));
    } else {
      linear(c_.hidden, 4 * c_.hidden);
    }
    activate();
    linear(4 * c_.hidden, c_.hidden);
    w_.binary("aten::add", x_);
  }
  void block_gradient() {
    linear_gradient(4 * c_.hidden, c_.hidden);
    activation_gradient();
    if (c_.has_small_products) {
      for (int i = 0; i < 64; ++i) {
        linear_gradient(c_.hidden, c_.hidden / 16);
        w_.backward("MmBackward0", [&] { w_.binary("aten::add_", x_); });
      }
    } else {
      linear_gradient(c_.hidden, 4 * c_.hidden);
    }
    norm_gradient();
    w_.backward("AddBackward0", [&] { w_.binary("aten::add_", x_); });
    linear_gradient(c_.hidden, c_.hidden);
    attention_gradient();
    linear_gradient(c_.hidden, 3 * c_.hidden);
    norm_gradient();
    w_.backward("AddBackward0", [&] { w_.binary("aten::add_", x_); });
  }
  void norm() {
    const Array weight{{c_.hidden}, type_};
    if (!c_.has_norm_parts) {
      w_.stream("aten::_fused_rms_norm", {x_, weight}, bytes(x_));
      return;
    }
    const Array one{{c_.batch, c_.length, 1}, "float"};
    w_.cast(x32_, x_);
    w_.unary("aten::pow", x32_);
    w_.stream("aten::mean", {x32_}, bytes(one));
    w_.unary("aten::add", one);
    w_.unary("aten::rsqrt", one);
    w_.stream("aten::mul", {x32_, one}, bytes(x32_));
    w_.stream("aten::mul", {x32_, {{c_.hidden}, "float"}}, bytes(x32_));
    w_.cast(x_, x32_);
  }
  void norm_gradient() {
    if (!c_.has_norm_parts) {
      w_.backward("FusedRmsNormBackward0",
                  [&] { w_.stream("aten::_fused_rms_norm_backward", {x_, x_}, bytes(x_)); });
      return;
    }
    w_.backward("MulBackward0", [&] {
      w_.cast(x32_, x_);
      for (int i = 0; i < 5; ++i) {
        w_.binary("aten::mul", x32_);
      }
      w_.stream("aten::sum", {x32_}, 0.0);
      w_.binary("aten::add", x32_);
      w_.cast(x_, x32_);
    });
  }
  Array scores(const std::string& type) const {
    return {{c_.batch, c_.heads, c_.length, c_.length}, type};
  }
  Array head(std::int64_t rows, std::int64_t columns) const {
    return {{c_.batch * c_.heads, rows, columns}, type_};
  }
  double attention_flops() const {
    return 2.0 * elements(scores(type_)) * static_cast<double>(c_.hidden / c_.heads);
  }
  void attend() {
    const std::int64_t size = c_.hidden / c_.heads;
    const Array q{{c_.batch, c_.length, c_.heads, size}, type_};
    if (c_.attention == MadeAttention::kFlash) {
      w_.attention("aten::_flash_attention_forward", {q, q, q}, attention_flops(),
                   R"("", "", "", "", "", "2048", "2048", "0.", "True")");
    } else {
      const bool is_eager = c_.attention == MadeAttention::kEager;
      w_.product("aten::bmm", head(c_.length, size), head(size, c_.length));
      w_.unary(is_eager ? "aten::div" : "aten::mul", scores(type_));
      w_.unary(is_eager ? "aten::masked_fill" : "aten::add", scores(type_));
      if (is_eager) {
        w_.cast(scores("float"), scores(type_));
        w_.unary("aten::_softmax", scores("float"));
        w_.cast(scores(type_), scores("float"));
      } else {
        w_.unary("aten::_softmax", scores(type_));
      }
      w_.product("aten::bmm", head(c_.length, c_.length), head(c_.length, size));
    }
    if (c_.has_relayouts) {
      const Array y{{c_.batch, c_.heads, c_.length, size}, type_};
      for (int i = 0; i < 8; ++i) {
        w_.cast(y, y);
      }
    }
  }
  void attention_gradient() {
    const std::int64_t size = c_.hidden / c_.heads;
    const Array q{{c_.batch, c_.length, c_.heads, size}, type_};
    w_.backward("ScaledDotProductBackward0", [&] {
      if (c_.attention == MadeAttention::kFlash) {
        w_.attention("aten::_flash_attention_backward", {q, q, q, q}, 2.5 * attention_flops(),
                     R"("", "", "", "", "", "", "", "", "2048", "2048", "0.", "True")");
        return;
      }
      w_.product("aten::bmm", head(c_.length, size), head(size, c_.length));
      w_.product("aten::bmm", head(c_.length, c_.length), head(c_.length, size));
      w_.binary("aten::_softmax_backward_data", scores(type_));
      w_.unary("aten::mul", scores(type_));
      w_.product("aten::bmm", head(c_.length, c_.length), head(c_.length, size));
      w_.product("aten::bmm", head(c_.length, c_.length), head(c_.length, size));
    });
  }
  void activate() {
    if (!c_.has_chain) {
      w_.unary("aten::gelu", wide_);
      return;
    }
    for (int i = 0; i < 8; ++i) {
      w_.binary("aten::mul", wide_);
      w_.unary("aten::tanh", wide_);
    }
  }
  void activation_gradient() {
    w_.backward("GeluBackward0", [&] {
      for (int i = 0; i < (c_.has_chain ? 16 : 1); ++i) {
        w_.binary(c_.has_chain ? "aten::mul" : "aten::gelu_backward", wide_);
      }
    });
  }
  // Logits are widened first.
  void loss() {
    const Array wide{logits_.dims, "float"};
    w_.cast(wide, logits_);
    w_.unary("aten::_log_softmax", wide);
    w_.stream("aten::nll_loss_forward", {{{4}, "float"}}, 4.0);
  }
  void loss_gradient() {
    const Array wide{logits_.dims, "float"};
    w_.backward("NllLossBackward0", [&] { w_.stream("aten::fill_", {wide}, bytes(wide), 0.0); });
    w_.backward("LogSoftmaxBackward0",
                [&] { w_.binary("aten::_log_softmax_backward_data", wide); });
    w_.backward("ToCopyBackward0", [&] { w_.cast(logits_, wide); });
  }
  void update() {
    w_.is_forward = false;
    std::vector<Array> parameters{{{c_.vocabulary, c_.hidden}, type_},
                                  {{c_.vocabulary, c_.hidden}, type_}};
    for (std::int64_t i = 0; i < c_.layers; ++i) {
      for (const std::int64_t times : {3, 1, 4, 4}) {
        parameters.push_back({{times * c_.hidden, c_.hidden}, type_});
      }
      parameters.push_back({{c_.hidden}, type_});
      parameters.push_back({{c_.hidden}, type_});
    }
    double all = 0.0;
    for (const Array& parameter : parameters) {
      all += bytes(parameter);
    }
    const std::string kernel = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel";
    switch (c_.optimizer) {
      case MadeOptimizer::kFused:
        w_.op("aten::_fused_adamw_", {}, kernel + "<FusedAdamMathFunctor>", 7.0 * all / kBytesPerUs,
              "", 12);
        break;
      case MadeOptimizer::kForeach:
        for (const auto& [name, passes] : kForeach) {
          w_.op(name, {}, kernel + "<BinaryOpFunctor>", passes * all / kBytesPerUs, "", 8);
        }
        break;
      case MadeOptimizer::kLoop:
        for (const Array& one : parameters) {
          for (const auto& [name, tensors] : kLoop) {
            w_.stream(name, std::vector<Array>(tensors, one), bytes(one));
          }
        }
        break;
    }
  }

  // Of AdamW, and what each reads and writes of a parameter. Source: torch/optim/adamw.py.
  static constexpr std::array<std::pair<const char*, double>, 9> kForeach{
      {{"aten::_foreach_mul_", 2.0},
       {"aten::_foreach_lerp_", 3.0},
       {"aten::_foreach_mul_", 2.0},
       {"aten::_foreach_addcmul_", 4.0},
       {"aten::_foreach_sqrt", 2.0},
       {"aten::_foreach_div_", 2.0},
       {"aten::_foreach_add_", 2.0},
       {"aten::_foreach_div_", 2.0},
       {"aten::_foreach_addcdiv_", 4.0}}};
  static constexpr std::array<std::pair<const char*, std::size_t>, 8> kLoop{
      {{"aten::mul_", 1},
       {"aten::lerp_", 2},
       {"aten::mul_", 1},
       {"aten::addcmul_", 3},
       {"aten::sqrt", 1},
       {"aten::div_", 1},
       {"aten::add_", 1},
       {"aten::addcdiv_", 3}}};

  const MadeTraining& c_;
  Writer w_;
  std::string type_;
  std::int64_t rows_;
  Array x_, wide_, x32_, logits_;
};

}  // namespace

std::string made_training(const MadeTraining& made) {
  return Training(made).run();
}

}  // namespace sextant::tests
