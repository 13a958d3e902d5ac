#include "describe/host_facts.h"

#include <array>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kHostFile = "host.toml";

// One time of one table.
struct HostKey {
  std::string_view name;
  Sourced<Seconds>* into;
};

Result<void> read_times(const TomlTable& file, std::string_view name,
                        std::span<const HostKey> keys) {
  SEXTANT_TRY(const TomlTable table, file.table(name));
  std::vector<std::string_view> names;
  for (const HostKey& key : keys) {
    SEXTANT_TRY(*key.into, table.sourced(key.name, parse_seconds));
    names.push_back(key.name);
  }
  return table.only(names);
}

}  // namespace

Result<HostFacts> host_facts(const DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kHostFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kHostFile)));
  HostFacts facts;
  const std::array<HostKey, 3> eager{{{"forward_kernel", &facts.forward_kernel},
                                      {"backward_kernel", &facts.backward_kernel},
                                      {"layer", &facts.layer}}};
  const std::array<HostKey, 2> compiled{
      {{"kernel", &facts.compiled_kernel}, {"step", &facts.compiled_step}}};
  const std::array<HostKey, 1> graph{{{"kernel", &facts.graph_kernel}}};
  const std::array<HostKey, 3> dtensor{{{"forward_product", &facts.dtensor_forward},
                                        {"backward_product", &facts.dtensor_backward},
                                        {"sequence_layer", &facts.dtensor_sequence}}};
  const std::array<HostKey, 2> experts{
      {{"expert", &facts.expert}, {"expert_8bit", &facts.expert_8bit}}};
  const std::array<HostKey, 3> fsdp{{{"entry", &facts.fsdp_entry},
                                     {"forward_unit", &facts.fsdp_forward},
                                     {"backward_unit", &facts.fsdp_backward}}};
  const std::array<HostKey, 3> optimizer{{{"fused", &facts.fused_tensor},
                                          {"foreach", &facts.foreach_tensor},
                                          {"loop", &facts.loop_tensor}}};
  SEXTANT_CHECK_OK(read_times(file, "eager", eager));
  SEXTANT_CHECK_OK(read_times(file, "compiled", compiled));
  SEXTANT_CHECK_OK(read_times(file, "graph", graph));
  SEXTANT_CHECK_OK(read_times(file, "dtensor", dtensor));
  SEXTANT_CHECK_OK(read_times(file, "fsdp", fsdp));
  SEXTANT_CHECK_OK(read_times(file, "experts", experts));
  SEXTANT_CHECK_OK(read_times(file, "optimizer", optimizer));
  const std::array<HostKey, 2> copy{{{"issue", &facts.copy}, {"beside", &facts.copy_beside}}};
  SEXTANT_CHECK_OK(read_times(file, "copy", copy));
  constexpr std::array<std::string_view, 8> kTables{"eager", "compiled", "graph",     "dtensor",
                                                    "fsdp",  "experts",  "optimizer", "copy"};
  SEXTANT_CHECK_OK(file.only(kTables));
  return facts;
}

}  // namespace sextant::describe
