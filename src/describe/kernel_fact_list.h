// The keys of KernelFacts as a list: name, unit and value, for what writes, fits or compares them
// all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "describe/kernel_facts.h"

namespace sextant::describe {

// One key of one KernelFacts, which must outlive it. Numbers are in seconds for times and without
// unit for ratios and counts; a count is rounded.
class KernelFact {
 public:
  using Place = std::variant<Sourced<double>*, Sourced<Seconds>*, Sourced<std::int64_t>*>;
  KernelFact(std::string key, Place place) : key_(std::move(key)), place_(place) {}

  [[nodiscard]] const std::string& key() const { return key_; }  // "product.launch"
  [[nodiscard]] double number() const;
  void set_number(double number);
  void set_source(SourceKind kind, std::string source);
  [[nodiscard]] SourceKind kind() const;
  [[nodiscard]] const std::string& source() const;
  // The value as the files write it, to four digits: "5.46 us", "0.915 ratio", "1178 count".
  [[nodiscard]] std::string text() const;

 private:
  std::string key_;
  Place place_;
};

// Every key in the order of the files. Number formats without rates have none.
std::vector<KernelFact> kernel_fact_list(KernelFacts& facts);

// The file data/kernels/<device>.toml; `head` is its first comment, one line.
std::string kernel_facts_text(KernelFacts facts, const std::string& head);

}  // namespace sextant::describe
