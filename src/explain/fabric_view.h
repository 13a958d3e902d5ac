// What collectives reached against what the fabric should, as a table and in JSON.
#pragma once

#include <cstddef>
#include <string>

#include "diagnose/fabric.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {

// Those that fall short say so; of the longest `most`.
Table fabric_table(const diagnose::FabricView& fabric, std::size_t most);
// "12 collectives are not held against the fabric: …"; "" where none is left out.
std::string fabric_left_out(const diagnose::FabricView& fabric);
Json fabric_json(const diagnose::FabricView& fabric);

}  // namespace sextant::explain
