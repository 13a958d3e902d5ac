// Devices, systems and fabrics by name: an id is its file's stem; an alias is found by reading them
// all.
#include <optional>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/cluster/device_file.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::describe {
namespace {

template <typename T>
using EntryReader = Result<T> (*)(const TomlTable&, std::string_view);

template <typename T>
Result<T> load_file(std::string_view folder, std::string_view id, const DataStore& data,
                    EntryReader<T> reader) {
  const std::string path = fmt::format("{}/{}.toml", folder, id);
  SEXTANT_TRY(const std::string text, data.read(path));
  SEXTANT_TRY(const TomlTable table, TomlTable::parse(text, data.where(path)));
  return reader(table, id);
}

// The entry whose id or alias is `word`. `what` names the set in the error.
template <typename T>
Result<T> load_named(std::string_view folder, std::string_view word, std::string_view what,
                     const DataStore& data, EntryReader<T> reader) {
  const std::string wanted = to_lower(word);
  std::vector<std::string> ids = data.list(folder, "toml");
  for (const std::string& id : ids) {
    if (id == wanted) {
      return load_file(folder, id, data, reader);
    }
  }
  std::vector<std::string> known = ids;
  for (const std::string& id : ids) {
    SEXTANT_TRY(T entry, load_file(folder, id, data, reader));
    for (const std::string& alias : entry.aliases) {
      if (alias == wanted) {
        return entry;
      }
      known.push_back(alias);
    }
  }
  const std::string hint = did_you_mean(word, known);
  return not_found(fmt::format("'{}' is not a known {}{}{}", printable(word), what,
                               hint.empty() ? "" : "; ", hint),
                   {}, join(ids, ", "));
}

// "ib-200" → the family's word and the rate.
struct FamilyRate {
  FabricFamily family;
  BytesPerSecond rate;
};

std::optional<FamilyRate> family_rate(std::string_view word) {
  const std::size_t dash = word.rfind('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const auto family = parse_word<FabricFamily>(kFabricFamilyWords, word.substr(0, dash), "", "");
  const auto gbits = to_double(word.substr(dash + 1));
  if (!family || !gbits || *gbits <= 0.0) {
    return std::nullopt;
  }
  return FamilyRate{*family, *gbits * 1_Gbitps};
}

// A listed fabric of that family and rate; else the family's usual one with the user's rate.
Result<Fabric> fabric_of_rate(const FamilyRate& wanted, std::string_view word,
                              const DataStore& data) {
  for (const std::string& id : data.list("fabrics", "toml")) {
    SEXTANT_TRY(Fabric fabric, load_file("fabrics", id, data, read_fabric));
    if (fabric.family == wanted.family && fabric.nic_rate &&
        fabric.nic_rate->value == wanted.rate) {
      return fabric;
    }
  }
  SEXTANT_TRY(Fabric fabric,
              load_named("fabrics", word_of<FabricFamily>(kFabricFamilyWords, wanted.family),
                         "fabric", data, read_fabric));
  fabric.name = fmt::format("{} at {}", fabric.name, to_text(wanted.rate));
  fabric.id = std::string(word);
  fabric.nic_rate =
      Sourced<BytesPerSecond>{wanted.rate, SourceKind::kAssumed, "the rate in the fabric's word"};
  return fabric;
}

}  // namespace

Result<Device> load_device(std::string_view word, const DataStore& data) {
  return load_named("devices", word, "device", data, read_device);
}

Result<System> load_system(std::string_view word, const DataStore& data) {
  return load_named("systems", word, "system", data, read_system);
}

Result<Fabric> load_fabric(std::string_view word, const DataStore& data) {
  auto named = load_named("fabrics", word, "fabric", data, read_fabric);
  if (!named && named.error().kind == ErrorKind::kNotFound) {
    if (const auto rate = family_rate(to_lower(word))) {
      return fabric_of_rate(*rate, word, data);
    }
    named.error().allowed += ", or FAMILY-GBITS such as ib-200";
  }
  return named;
}

}  // namespace sextant::describe
