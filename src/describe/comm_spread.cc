#include "describe/comm_spread.h"

#include <vector>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kCommSpreadFile = "comm/spread.toml";
constexpr std::array<std::string_view, kSizeClasses> kSizeWords{"tiny", "small", "medium", "large",
                                                                "huge"};

}  // namespace

std::size_t size_class(Bytes bytes) {
  constexpr std::array<Bytes, kSizeClasses - 1> kBounds{32_KiB, 1_MiB, 16_MiB, 256_MiB};
  std::size_t size = 0;
  while (size < kBounds.size() && bytes >= kBounds[size]) {
    ++size;
  }
  return size;
}

Result<CommSpread> comm_spread(const DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kCommSpreadFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kCommSpreadFile)));
  CommSpread spread;
  std::vector<std::string_view> regimes;
  for (const auto& [regime, word] : kCommRegimeWords) {
    SEXTANT_TRY(const TomlTable table, file.table(word));
    for (std::size_t size = 0; size < kSizeWords.size(); ++size) {
      SEXTANT_TRY(Sourced<double> factor, table.sourced(kSizeWords[size], parse_ratio));
      if (factor.value < 1.0) {
        return invalid("a factor below 1", table.where(kSizeWords[size]), "1 ratio and more");
      }
      spread.factors[static_cast<std::size_t>(regime)][size] = std::move(factor);
    }
    SEXTANT_CHECK_OK(table.only(kSizeWords));
    regimes.push_back(word);
  }
  SEXTANT_CHECK_OK(file.only(regimes));
  return spread;
}

}  // namespace sextant::describe
