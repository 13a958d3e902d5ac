// Free text of a runs row to the project's words: framework and flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/layout.h"

namespace sextant::measured {

struct FrameworkReading {
  describe::Framework framework = describe::Framework::kOther;
  bool literal = false;  // the text says it in the project's own word
};

// Megatron-DeepSpeed before Megatron, NeMo AutoModel before NeMo: the longer name decides. NVIDIA's
// MLPerf containers run NeMo's Megatron. FSDP2 and DTensor trainers (AutoModel) issue the
// traffic of torchtitan; torchtune runs plain PyTorch modules; JAX trainers (Paxml, Levanter) that
// of MaxText.
FrameworkReading framework_of(std::string_view text, std::string_view flags);

// "a; KEY=value; other words": entries by key, or by being there at all. Case is ignored.
class Flags {
 public:
  explicit Flags(std::string_view text);
  // Whether some entry contains the text.
  [[nodiscard]] bool mention(std::string_view text) const;
  // The value of KEY=value (lower case), as a view into this.
  [[nodiscard]] std::optional<std::string_view> value(std::string_view key) const&;
  [[nodiscard]] std::optional<std::string_view> value(std::string_view key) const&& = delete;
  // KEY=1/True/0/False; nothing where the key is not there.
  [[nodiscard]] std::optional<bool> on(std::string_view key) const;

 private:
  std::vector<std::string> entries_;
};

// The first year named by a date ("2021-04", "NeMo 26.04" → 2026, "MLPerf Training v5.1" →
// nothing).
std::optional<int> year_of(std::string_view date);

// Is a date not before that month ("2025-09", "NeMo 25.09")? One that names no month counts by its
// year, one that names no year is not.
struct Month {
  int year = 0;
  int month = 0;
};
bool is_since(std::string_view date, Month month);

}  // namespace sextant::measured
