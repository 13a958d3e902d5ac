// devices/*.toml, systems/*.toml and fabrics/*.toml as values. Each file is checked whole: an
// unknown key, a number without unit, source or kind, or a missing required table is an Error with
// line and column.
#pragma once

#include <string_view>

#include "base/result.h"
#include "describe/cluster/cluster.h"
#include "describe/toml_table.h"

namespace sextant::describe {

Result<Device> read_device(const TomlTable& table, std::string_view id);
Result<System> read_system(const TomlTable& table, std::string_view id);
Result<Fabric> read_fabric(const TomlTable& table, std::string_view id);

}  // namespace sextant::describe
