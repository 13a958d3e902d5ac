// Programs that train, which this program has no dialect for: recognised by what is started and by
// the keys of their files, so that they are refused by name and never taken for another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::emit {

// Who is started by these words ("swift sft …": ms-swift); nothing where it is nobody known.
std::optional<std::string_view> other_in_command(std::span<const ScriptWord> words);
// Whose YAML or JSON this is, by keys that only they have.
std::optional<std::string_view> other_in_tree(const Settings& settings);
// Whose recipe in Python this is, by what it imports.
std::optional<std::string_view> other_in_python(std::string_view text);

// The Error that refuses it by name.
tl::unexpected<Error> not_read(std::string_view framework, std::string_view where);

}  // namespace sextant::emit
