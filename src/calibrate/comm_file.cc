#include "calibrate/comm_file.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/comm_facts.h"
#include "describe/toml_table.h"

namespace sextant::calibrate {
namespace {

using describe::CommKey;
using describe::CommUnit;

constexpr std::string_view kLinks = "comm/links/";
constexpr std::string_view kNetworks = "comm/networks/";
constexpr std::string_view kEnding = ".toml";
constexpr std::string_view kMade = "# Made by sextant calibrate";
// Files have four digits, timings hardly three: what moved by less is what it was.
constexpr double kSame = 1e-3;

std::span<const CommKey> keys_of(const CommFile& file) {
  return file.links ? std::span<const CommKey>(describe::kLinkKeys)
                    : std::span<const CommKey>(describe::kNetworkKeys);
}

std::string key_text(const CommKey& key) {
  return fmt::format("{}.{}", key.table, key.name);
}

Result<double> number_in(const std::string& written, CommUnit unit, const std::string& where) {
  switch (unit) {
    case CommUnit::kTime: {
      SEXTANT_TRY(const Seconds time, parse_seconds(written, where));
      return time.base();
    }
    case CommUnit::kRate: {
      SEXTANT_TRY(const BytesPerSecond rate, parse_bytes_per_second(written, where));
      return rate.base();
    }
    case CommUnit::kRatio:
      break;
  }
  return parse_ratio(written, where);
}

Result<CommValue> value_in(const describe::TomlTable& file, const CommKey& key) {
  SEXTANT_TRY(const describe::TomlTable table, file.table(key.table));
  SEXTANT_TRY(const describe::TomlTable entry, table.table(key.name));
  CommValue value;
  value.key = key_text(key);
  SEXTANT_TRY(value.written, entry.text("value"));
  SEXTANT_TRY(value.number, number_in(value.written, key.unit, entry.where("value")));
  return value;
}

// All before the first constant, without the comment of an earlier calibration.
Result<std::string> head_of(const CommFile& file, const describe::DataStore& data) {
  SEXTANT_TRY(std::string text, data.read(file.path()));
  const std::string first = fmt::format("[{}]", key_text(keys_of(file)[0]));
  const std::size_t end = text.find("\n" + first);
  if (end == std::string::npos) {
    return invalid(fmt::format("its constants don't begin with {}", first), data.where(file.path()),
                   "the head, then the constants in the order of the built-in file");
  }
  text.resize(end);
  if (text.starts_with(kMade)) {
    text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text;
}

template <typename Facts>
Facts with_fit(Facts facts, const CommRefit& refit) {
  for (std::size_t i = 0; i < facts.values.size(); ++i) {
    auto& value = facts.values[i];
    const double moved = refit.fit.values[i];
    const bool same = std::abs(moved - value.value) <= kSame * std::abs(value.value);
    value.source = quotable(value.source);
    if (refit.fit.timings[i] > 0 && !same) {
      value = {moved, describe::SourceKind::kFitted,
               quotable(fmt::format("sextant calibrate: fitted on {} timings of {}",
                                    refit.fit.timings[i], refit.source))};
    }
  }
  return facts;
}

}  // namespace

std::string CommFile::path() const {
  return fmt::format("{}{}{}", links ? kLinks : kNetworks, id, kEnding);
}

CommFile comm_file(std::string_view path) {
  const bool links = path.starts_with(kLinks);
  path.remove_prefix((links ? kLinks : kNetworks).size());
  path.remove_suffix(kEnding.size());
  return {links, std::string(path)};
}

std::vector<double> CommContent::numbers() const {
  std::vector<double> all;
  all.reserve(values.size());
  for (const CommValue& value : values) {
    all.push_back(value.number);
  }
  return all;
}

Result<CommContent> comm_content(const CommFile& file, std::string_view text,
                                 std::string_view where) {
  SEXTANT_TRY(const describe::TomlTable table, describe::TomlTable::parse(text, where));
  CommContent content;
  SEXTANT_TRY(content.name, table.text("name"));
  for (const CommKey& key : keys_of(file)) {
    SEXTANT_TRY(CommValue value, value_in(table, key));
    content.values.push_back(std::move(value));
  }
  return content;
}

Result<CommContent> comm_content(const CommFile& file, const describe::DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(file.path()));
  return comm_content(file, text, data.where(file.path()));
}

namespace {

// From here on the file speaks of the device it was measured on, if it spoke of none.
std::string naming(std::string head, const std::string& device) {
  constexpr std::string_view kNobody = "devices = []\nscale_up = []\n";
  constexpr std::string_view kUnknown = " cards of a host that nobody measured";
  const std::size_t nobody = head.find(kNobody);
  if (device.empty() || nobody == std::string::npos) {
    return head;
  }
  head.replace(nobody, kNobody.find('\n'), fmt::format("devices = [\"{}\"]", quotable(device)));
  if (const std::size_t unknown = head.find(kUnknown); unknown != std::string::npos) {
    head.replace(unknown, kUnknown.size(), fmt::format(", {}", quotable(device)));
  }
  return head;
}

}  // namespace

Result<std::string> refitted_text(const CommFile& file, const CommRefit& refit,
                                  const describe::DataStore& data) {
  SEXTANT_TRY(const std::string old_head, head_of(file, data));
  const std::string head = file.links ? naming(old_head, refit.device) : old_head;
  std::string values;
  if (file.links) {
    SEXTANT_TRY(describe::LinkFacts facts, describe::load_link_facts(file.id, data));
    values = describe::link_values_text(with_fit(std::move(facts), refit));
  } else {
    SEXTANT_TRY(describe::NetworkFacts facts, describe::load_network_facts(file.id, data));
    values = describe::network_values_text(with_fit(std::move(facts), refit));
  }
  return fmt::format("{} {}\n{}{}", kMade, quotable(refit.made), head, values);
}

std::string quotable(std::string_view text) {
  std::string safe = printable(text, 4 * text.size() + 1);  // an escape has four letters
  std::ranges::replace(safe, '"', '\'');
  std::ranges::replace(safe, '\\', '/');
  return safe;
}

}  // namespace sextant::calibrate
