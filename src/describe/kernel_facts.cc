#include "describe/kernel_facts.h"

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/kernel_fact_keys.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kGenerations = "kernels/generations.toml";
constexpr std::string_view kLike = "like";  // the generation whose facts a generation starts from

// Reads the keys of one table. The first error is kept, the rest of the keys are skipped. A key
// that is absent keeps its value where `partial`, and is an error elsewhere.
class KeyReader {
 public:
  KeyReader(TomlTable table, bool partial) : table_(std::move(table)), partial_(partial) {}

  KeyReader& ratio(std::string_view key, Sourced<double>& into) {
    return read(key, into, parse_ratio);
  }
  // A ratio that something is divided by.
  KeyReader& share(std::string_view key, Sourced<double>& into) {
    ratio(key, into);
    if (state_ && into.value <= 0.0) {
      state_ =
          invalid(fmt::format("{} is {}, must be above 0", key, into.value), table_.where(key));
    }
    return *this;
  }
  KeyReader& seconds(std::string_view key, Sourced<Seconds>& into) {
    return read(key, into, parse_seconds);
  }
  KeyReader& count(std::string_view key, Sourced<std::int64_t>& into) {
    return read(key, into, parse_count);
  }
  // An Error of a key that could not be read, or of one that nobody asked for.
  [[nodiscard]] Result<void> finish() const {
    SEXTANT_CHECK_OK(state_);
    return table_.only(asked_);
  }

 private:
  template <typename T>
  KeyReader& read(std::string_view key, Sourced<T>& into,
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

template <typename Facts>
Result<void> read_kernel_keys(const TomlTable& table, bool partial, Facts& facts) {
  KeyReader reader(table, partial);
  visit_keys(reader, facts);
  return reader.finish();
}

Result<void> read_rates(const TomlTable& table, KernelFacts& facts) {
  for (const std::string& key : table.keys()) {
    SEXTANT_TRY(const DType dtype,
                parse_word<DType>(kDTypeWords, key, "number format", table.where(key)));
    SEXTANT_TRY(const TomlTable rates, table.table(key));
    RateFacts read;
    SEXTANT_CHECK_OK(read_kernel_keys(rates, false, read));
    facts.rates[static_cast<std::size_t>(dtype)] = std::move(read);
  }
  return {};
}

// The tables of `file` over what `facts` already holds; all of them must be there unless `partial`.
Result<void> read_facts(const TomlTable& file, bool partial, KernelFacts& facts) {
  constexpr std::array<std::string_view, 8> kTables{"rates",  "power", "product",   "attention",
                                                    "stream", "issue", "host_copy", kLike};
  SEXTANT_CHECK_OK(partial ? file.only(kTables)
                           : file.only(std::span(kTables).first(kTables.size() - 1)));
  for (const std::string_view key : std::span(kTables).first(kTables.size() - 1)) {
    if (partial && !file.has(key)) {
      continue;
    }
    SEXTANT_TRY(const TomlTable table, file.table(key));
    if (key == "rates") {
      SEXTANT_CHECK_OK(read_rates(table, facts));
    } else if (key == "power") {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.power));
    } else if (key == "product") {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.product));
    } else if (key == "attention") {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.attention));
    } else if (key == "stream") {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.stream));
    } else if (key == "issue") {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.issue));
    } else {
      SEXTANT_CHECK_OK(read_kernel_keys(table, partial, facts.host_copy));
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
  SEXTANT_TRY(KernelFacts facts, parse_kernel_facts(text, data.where(path)));
  facts.measured_on = id;
  return facts;
}

}  // namespace

Result<KernelFacts> parse_kernel_facts(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, where));
  KernelFacts facts;
  SEXTANT_CHECK_OK(read_facts(file, false, facts));
  return facts;
}

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
    if (table.has(kLike)) {
      SEXTANT_TRY(const std::string other, table.text(kLike));
      SEXTANT_TRY(const TomlTable first, file.table(other));
      SEXTANT_CHECK_OK(read_facts(first, true, facts));
    }
    SEXTANT_CHECK_OK(read_facts(table, true, facts));
  }
  return facts;
}

}  // namespace sextant::describe
