// Models from the catalogue and from Hugging Face config.json files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/model/model.h"

namespace sextant::describe {

// MODEL as users write it: a catalogue name (case ignored; a prefix that ends at a hyphen is enough
// where it is unique), a config.json path, or "-" for standard input. A word that contains '/' or
// ends in ".json" is a path.
Result<Model> load_model(std::string_view word, const DataStore& data);

// One config.json, already read. `where` names it in errors.
// Wrapper configs (text_config, llm_config, language_config) are descended into; v4 and v5 field
// names and the classes' attribute maps are known; omitted fields take the class's defaults and are
// listed in Model::assumed.
Result<Model> parse_hf_config(std::string_view json, std::string_view where, const DataStore& data);

// Names of the catalogue, sorted.
std::vector<std::string> catalogue_names(const DataStore& data);

}  // namespace sextant::describe
