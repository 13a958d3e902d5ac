#include "describe/kernel_facts.h"

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kGenerations = "kernels/generations.toml";

// Reads the keys of one table. The first error is kept, the rest of the keys are skipped. A key
// that is absent keeps its value where `partial`, and is an error elsewhere.
class Reader {
 public:
  Reader(TomlTable table, bool partial) : table_(std::move(table)), partial_(partial) {}

  Reader& ratio(std::string_view key, Sourced<double>& into) {
    return read(key, into, parse_ratio);
  }
  // A ratio that something is divided by.
  Reader& share(std::string_view key, Sourced<double>& into) {
    ratio(key, into);
    if (state_ && into.value <= 0.0) {
      state_ =
          invalid(fmt::format("{} is {}, must be above 0", key, into.value), table_.where(key));
    }
    return *this;
  }
  Reader& seconds(std::string_view key, Sourced<Seconds>& into) {
    return read(key, into, parse_seconds);
  }
  Reader& count(std::string_view key, Sourced<std::int64_t>& into) {
    return read(key, into, parse_count);
  }
  // An Error of a key that could not be read, or of one that nobody asked for.
  [[nodiscard]] Result<void> finish() const {
    SEXTANT_CHECK_OK(state_);
    return table_.only(asked_);
  }

 private:
  template <typename T>
  Reader& read(std::string_view key, Sourced<T>& into,
               Result<T> (*reader)(std::string_view, std::string_view)) {
    asked_.push_back(key);
    if (!state_ || (partial_ && !table_.has(key))) {
      return *this;
    }
    auto value = table_.sourced(key, reader);
    if (value) {
      into = std::move(*value);
    } else {
      state_ = tl::unexpected<Error>(std::move(value.error()));
    }
    return *this;
  }

  TomlTable table_;
  bool partial_;
  Result<void> state_;
  std::vector<std::string_view> asked_;
};

Result<void> read_rates(const TomlTable& table, KernelFacts& facts) {
  for (const std::string& key : table.keys()) {
    SEXTANT_TRY(const DType dtype,
                parse_word<DType>(kDTypeWords, key, "number format", table.where(key)));
    SEXTANT_TRY(const TomlTable rates, table.table(key));
    RateFacts read;
    SEXTANT_CHECK_OK(Reader(rates, false)
                         .share("burst", read.burst)
                         .share("sustained", read.sustained)
                         .finish());
    facts.rates[static_cast<std::size_t>(dtype)] = std::move(read);
  }
  return {};
}

Result<void> read_power(const TomlTable& table, bool partial, PowerFacts& power) {
  return Reader(table, partial)
      .ratio("watts_per_tflops", power.watts_per_tflops)
      .ratio("exponent", power.exponent)
      .seconds("ramp", power.ramp)
      .finish();
}

Result<void> read_product(const TomlTable& table, bool partial, ProductFacts& product) {
  return Reader(table, partial)
      .seconds("launch", product.launch)
      .share("small_tile", product.small_tile)
      .ratio("input_gradient", product.input_gradient)
      .ratio("weight_gradient", product.weight_gradient)
      .ratio("exposed_output", product.exposed_output)
      .share("bandwidth", product.bandwidth)
      .seconds("split", product.split)
      .count("split_depth", product.split_depth)
      .seconds("group_launch", product.group_launch)
      .finish();
}

Result<void> read_attention(const TomlTable& table, bool partial, AttentionFacts& attention) {
  return Reader(table, partial)
      .share("flash_forward", attention.flash.forward)
      .share("flash_backward", attention.flash.backward)
      .share("cudnn_forward", attention.cudnn.forward)
      .share("cudnn_backward", attention.cudnn.backward)
      .ratio("softmax", attention.softmax)
      .ratio("forward_keys", attention.forward_keys)
      .ratio("backward_keys", attention.backward_keys)
      .ratio("tail", attention.tail)
      .count("forward_rows", attention.forward_rows)
      .count("backward_rows", attention.backward_rows)
      .seconds("backward_launch", attention.backward_launch)
      .ratio("math_forward", attention.math_forward)
      .ratio("math_backward", attention.math_backward)
      .finish();
}

Result<void> read_stream(const TomlTable& table, bool partial, StreamFacts& stream) {
  return Reader(table, partial)
      .seconds("launch", stream.launch)
      .share("bandwidth", stream.bandwidth)
      .ratio("move", stream.move)
      .ratio("activation", stream.activation)
      .ratio("norm", stream.norm)
      .ratio("norm_gradient", stream.norm_gradient)
      .ratio("reread", stream.reread)
      .count("kept_columns", stream.kept_columns)
      .ratio("random", stream.random)
      .ratio("loss", stream.loss)
      .ratio("loss_gradient", stream.loss_gradient)
      .ratio("update", stream.update)
      .seconds("update_launch", stream.update_launch)
      .share("scan", stream.scan)
      .finish();
}

Result<void> read_issue(const TomlTable& table, bool partial, IssueFacts& issue) {
  return Reader(table, partial)
      .seconds("kernel", issue.kernel)
      .seconds("elementwise", issue.elementwise)
      .seconds("norm", issue.norm)
      .seconds("norm_gradient", issue.norm_gradient)
      .seconds("product", issue.product)
      .seconds("view", issue.view)
      .seconds("scaled_product", issue.scaled_product)
      .seconds("attention", issue.attention)
      .seconds("attention_gradient", issue.attention_gradient)
      .seconds("update", issue.update)
      .seconds("foreach_update", issue.foreach_update)
      .finish();
}

Result<void> read_host_copy(const TomlTable& table, bool partial, HostCopyFacts& copy) {
  return Reader(table, partial)
      .seconds("launch", copy.launch)
      .share("pinned", copy.pinned)
      .share("pageable", copy.pageable)
      .seconds("pageable_launch", copy.pageable_launch)
      .finish();
}

// The tables of `file` over what `facts` already holds; all of them must be there unless `partial`.
Result<void> read_facts(const TomlTable& file, bool partial, KernelFacts& facts) {
  constexpr std::array<std::string_view, 7> kTables{"rates",  "power", "product",  "attention",
                                                    "stream", "issue", "host_copy"};
  SEXTANT_CHECK_OK(file.only(kTables));
  for (const std::string_view key : kTables) {
    if (partial && !file.has(key)) {
      continue;
    }
    SEXTANT_TRY(const TomlTable table, file.table(key));
    if (key == "rates") {
      SEXTANT_CHECK_OK(read_rates(table, facts));
    } else if (key == "power") {
      SEXTANT_CHECK_OK(read_power(table, partial, facts.power));
    } else if (key == "product") {
      SEXTANT_CHECK_OK(read_product(table, partial, facts.product));
    } else if (key == "attention") {
      SEXTANT_CHECK_OK(read_attention(table, partial, facts.attention));
    } else if (key == "stream") {
      SEXTANT_CHECK_OK(read_stream(table, partial, facts.stream));
    } else if (key == "issue") {
      SEXTANT_CHECK_OK(read_issue(table, partial, facts.issue));
    } else {
      SEXTANT_CHECK_OK(read_host_copy(table, partial, facts.host_copy));
    }
  }
  if (!facts.rates[static_cast<std::size_t>(DType::kBf16)]) {
    return invalid("no rates of bf16, which other formats fall back to", file.where());
  }
  return {};
}

Result<KernelFacts> facts_of_file(const DataStore& data, const std::string& id) {
  const std::string path = fmt::format("kernels/{}.toml", id);
  SEXTANT_TRY(const std::string text, data.read(path));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(path)));
  KernelFacts facts;
  SEXTANT_CHECK_OK(read_facts(file, false, facts));
  facts.measured_on = id;
  return facts;
}

}  // namespace

Result<KernelFacts> kernel_facts(const DataStore& data, const Device& device) {
  auto own = facts_of_file(data, device.id);
  if (own || own.error().kind != ErrorKind::kNotFound) {
    return own;
  }
  SEXTANT_TRY(const std::string text, data.read(kGenerations));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kGenerations)));
  SEXTANT_TRY(const std::string reference, file.text("reference"));
  SEXTANT_TRY(KernelFacts facts, facts_of_file(data, reference));
  facts.scaled = true;
  if (file.has(device.generation)) {
    SEXTANT_TRY(const TomlTable table, file.table(device.generation));
    SEXTANT_CHECK_OK(read_facts(table, true, facts));
  }
  return facts;
}

}  // namespace sextant::describe
