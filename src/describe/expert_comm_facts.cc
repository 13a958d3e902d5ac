#include "describe/expert_comm_facts.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <variant>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kExpertCommFile = "comm/experts.toml";
constexpr std::array<std::string_view, 2> kKernels{"hopper", "blackwell"};
constexpr std::string_view kNames = "names";

// One value of one table.
struct ExpertKey {
  std::string_view name;
  std::variant<Sourced<Seconds>*, Sourced<BytesPerSecond>*, Sourced<double>*,
               Sourced<std::int64_t>*>
      into;
};

Result<Seconds> parsed_value(std::string_view text, std::string_view where, Seconds /*unit*/) {
  return parse_seconds(text, where);
}
Result<BytesPerSecond> parsed_value(std::string_view text, std::string_view where,
                                    BytesPerSecond /*unit*/) {
  return parse_bytes_per_second(text, where);
}
Result<double> parsed_value(std::string_view text, std::string_view where, double /*unit*/) {
  return parse_ratio(text, where);
}
Result<std::int64_t> parsed_value(std::string_view text, std::string_view where,
                                  std::int64_t /*unit*/) {
  return parse_count(text, where);
}

template <typename T>
Result<void> read_into(const TomlTable& table, std::string_view name, Sourced<T>& into) {
  SEXTANT_TRY(into, table.sourced<T>(name, [](std::string_view text, std::string_view where) {
    return parsed_value(text, where, T());
  }));
  return {};
}

// Every key, and nothing beside those and `beside`.
Result<void> read_expert_keys(const TomlTable& table, std::span<const ExpertKey> keys,
                              std::string_view beside = {}) {
  std::vector<std::string_view> names{beside};
  for (const ExpertKey& key : keys) {
    SEXTANT_CHECK_OK(
        std::visit([&](auto* into) { return read_into(table, key.name, *into); }, key.into));
    names.push_back(key.name);
  }
  return table.only(names);
}

Result<void> read_expert_keys(const TomlTable& file, std::string_view name,
                              std::span<const ExpertKey> keys) {
  SEXTANT_TRY(const TomlTable table, file.table(name));
  return read_expert_keys(table, keys);
}

Result<ExpertKernelFacts> read_kernels(const TomlTable& file, std::string_view name) {
  SEXTANT_TRY(const TomlTable table, file.table(name));
  ExpertKernelFacts facts;
  SEXTANT_TRY(facts.names, table.texts(kNames));
  const std::array<ExpertKey, 7> keys{{{"dispatch_latency", &facts.dispatch_latency},
                                       {"combine_latency", &facts.combine_latency},
                                       {"direct_dispatch_latency", &facts.direct_dispatch_latency},
                                       {"direct_combine_latency", &facts.direct_combine_latency},
                                       {"direct_expert_latency", &facts.direct_expert_latency},
                                       {"direct_dispatch_rate", &facts.direct_dispatch_rate},
                                       {"direct_combine_rate", &facts.direct_combine_rate}}};
  SEXTANT_CHECK_OK(read_expert_keys(table, keys, kNames));
  return facts;
}

Result<void> read_modes(const TomlTable& file, ExpertCommFacts& facts) {
  const std::array<ExpertKey, 8> normal{{{"dispatch_copy", &facts.dispatch_copy},
                                         {"combine_copy", &facts.combine_copy},
                                         {"dispatch_relay", &facts.dispatch_relay},
                                         {"combine_relay", &facts.combine_relay},
                                         {"scale_up_share", &facts.scale_up_share},
                                         {"fill", &facts.fill},
                                         {"dispatch_doubling", &facts.dispatch_doubling},
                                         {"combine_doubling", &facts.combine_doubling}}};
  const std::array<ExpertKey, 2> direct{{{"scale_up_share", &facts.direct_scale_up_share},
                                         {"network_latency", &facts.direct_network_latency}}};
  const std::array<ExpertKey, 1> network{{{"share", &facts.network_share}}};
  SEXTANT_CHECK_OK(read_expert_keys(file, "normal", normal));
  SEXTANT_CHECK_OK(read_expert_keys(file, "direct", direct));
  return read_expert_keys(file, "network", network);
}

Result<void> read_libraries(const TomlTable& file, ExpertCommFacts& facts) {
  const std::array<ExpertKey, 6> libraries{{{"sms", &facts.sms},
                                            {"default_peers", &facts.default_peers},
                                            {"release_latency", &facts.release_latency},
                                            {"v2_copy", &facts.v2_copy},
                                            {"efa_staging", &facts.efa_staging},
                                            {"efa_message", &facts.efa_message}}};
  const std::array<ExpertKey, 4> spread{{{"one_domain", &facts.one_domain_spread},
                                         {"network", &facts.network_spread},
                                         {"efa", &facts.efa_spread},
                                         {"undetermined", &facts.undetermined_spread}}};
  SEXTANT_CHECK_OK(read_expert_keys(file, "libraries", libraries));
  return read_expert_keys(file, "spread", spread);
}

}  // namespace

const ExpertKernelFacts* ExpertCommFacts::kernels_of(std::string_view generation) const {
  const auto found = std::ranges::find_if(kernels, [&](const ExpertKernelFacts& facts) {
    return std::ranges::find(facts.names, generation) != facts.names.end();
  });
  return found == kernels.end() ? nullptr : &*found;
}

Result<ExpertCommFacts> expert_comm_facts(const DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kExpertCommFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kExpertCommFile)));
  ExpertCommFacts facts;
  for (const std::string_view name : kKernels) {
    SEXTANT_TRY(ExpertKernelFacts kernels, read_kernels(file, name));
    facts.kernels.push_back(std::move(kernels));
  }
  SEXTANT_CHECK_OK(read_modes(file, facts));
  SEXTANT_CHECK_OK(read_libraries(file, facts));
  constexpr std::array<std::string_view, 7> kTables{"hopper",  "blackwell", "normal", "direct",
                                                    "network", "libraries", "spread"};
  SEXTANT_CHECK_OK(file.only(kTables));
  return facts;
}

}  // namespace sextant::describe
