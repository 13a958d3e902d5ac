// Settings' values as numbers, switches and words, and what a reader says about them: a Fact for
// each value taken, an Unresolved for each that is not understood.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "describe/layout/layout.h"
#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

// What a file may say at most: pipeline stages that a layout can name, and tokens of a sequence.
inline constexpr std::int64_t kMostStages = 16384;
inline constexpr std::int64_t kLongestSequence = 1'000'000'000;

// "true" and "false" in any case, "1" and "0"; nothing for anything else.
std::optional<bool> to_flag(std::string_view text);
// Whole numbers as files write them: "8192", "8_192", "5e8", "8.0"; nothing for anything else.
std::optional<std::int64_t> to_whole(std::string_view text);

// A size of the layout that is a setting by itself.
struct SizeSetting {
  std::string_view key;    // "parallelism.tp"
  std::string_view field;  // "tp"
  std::int64_t describe::Layout::* member = nullptr;
};

// Asks one list of settings. A value of the wrong kind is listed as unresolved and read as absent;
// "auto" likewise, and "None" is absent.
class SettingReader {
 public:
  // REQUIRES: both outlive the reader.
  SettingReader(const Settings& settings, Reading& reading)
      : settings_(settings), reading_(reading) {}

  [[nodiscard]] const Setting* find(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  std::optional<std::int64_t> whole(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<bool> flag(std::string_view key);
  // From 1 to `most`, into the layout and the facts; nothing changes where it is absent.
  void size(const SizeSetting& size, std::int64_t most);
  // The value of the first row whose word it is.
  template <typename E>
  std::optional<E> word(std::string_view key, std::span<const describe::Word<E>> words);
  // One of the launcher's numbers, "devices".
  std::optional<std::int64_t> launched(std::string_view key);

  // The field has this value because of that setting; nothing where the setting is absent.
  void fact(std::string_view field, std::string value, std::string_view key);
  // The same of a field that other fields had a part in: gbs from the batch of one device.
  void derived(std::string_view field, std::string value, std::string_view key);
  void unresolved(std::string_view key, std::string why);

 private:
  void wrong(const Setting& setting, std::string_view allowed);

  const Settings& settings_;
  Reading& reading_;
};

// A field of the layout, and why a dialect has no words for some of its values.
using Reason = std::pair<std::string_view, std::string_view>;

// The fields in which what was said differs from what was wanted, each with its reason; a field
// without a row has no words at all in this dialect.
std::vector<Inexpressible> left_out_of(const describe::Layout& wanted, const describe::Layout& said,
                                       std::span<const Reason> reasons);

// The launcher's numbers of a job's cluster: nodes, devices_per_node, devices.
std::vector<Setting> launch_settings(const describe::Job& job);

template <typename E>
std::optional<E> SettingReader::word(std::string_view key,
                                     std::span<const describe::Word<E>> words) {
  const auto value = text(key);
  if (!value) {
    return std::nullopt;
  }
  std::string allowed;
  for (const auto& [meaning, name] : words) {
    if (name == *value) {
      return meaning;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  wrong(*find(key), allowed);
  return std::nullopt;
}

}  // namespace sextant::emit
