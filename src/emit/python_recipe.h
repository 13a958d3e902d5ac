// torchtitan's recipes: Python functions that return Trainer.Config(…), written and read as text.
// Nothing is run.
//
// Read are: calls with keyword arguments, literals, lists and tuples, names of such values set at
// module or function level, arithmetic on numbers, and assignments to attributes of a configuration
// ("config.parallelism.tensor_parallel_degree = 4") that another function returned. Whatever else
// decides a setting is listed as unresolved with its line.
//
// Keys: "parallelism.x" of parallelism=ParallelismConfig(x=…); a class of a member is a value of
// its own ("activation_checkpoint" is "FullAC", "loss" is "ChunkedLossWrapper");
// model_registry("8B", k=v) is "model.flavor" and "model.k"; the module it is imported from is
// "model.name", a recipe of another file that this one starts from is "config", the function's own
// name is "recipe".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/settings.h"

namespace sextant::emit {

// `comments` become lines at the top. A "config" is called and then changed, member by member.
std::string render_python_recipe(const Settings& settings,
                                 const std::vector<std::string>& comments);

// Of several recipes in a file the last is read. An Error where the text is too large, is not
// UTF-8, or nests too deeply.
Result<Settings> parse_python_recipe(std::string_view text, std::string_view name);

}  // namespace sextant::emit
