// How a setting is spelled in a file, and where in a file's text a new one goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emit/patch.h"
#include "emit/settings.h"

namespace sextant::emit {

enum class PatchedKind { kShell, kYaml, kJson, kToml, kPython };
// By the name's ending; a script where it has none of the others'.
PatchedKind patched_kind(std::string_view file);

// The value as it stands in place of the literal `old`, with its quotes where it has any; nothing
// where it cannot be spelled there.
std::optional<std::string> value_in_place(const Setting& wanted, PatchedKind kind,
                                          std::string_view old, char before);

// The bytes of text that say this setting, from its flag or key on: nothing where they are not
// spelled out beside its value (the value came out of a variable).
struct Span {
  std::size_t offset = 0;
  std::size_t length = 0;
};
std::optional<Span> span_of(const Setting& setting, PatchedKind kind, std::string_view text);

// Puts the wanted setting beside one that the text has, and takes one out. Nothing where the text's
// form does not allow it.
std::optional<Edit> inserted_beside(const Setting& neighbour, const Setting& wanted,
                                    Dialect dialect, std::string_view text);
std::optional<Edit> taken_out(const Setting& setting, std::string_view text);

}  // namespace sextant::emit
