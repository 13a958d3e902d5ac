// YAML and JSON files ↔ flat settings with dotted keys. The only place that knows the YAML library.
//
// {"a": {"b": [1, 2]}} is the setting "a.b" with the values "1" and "2". Of a list that holds more
// than plain values every element is numbered: "stages.0.name". null is the value "null"; an empty
// list or table is a setting without values. Values are kept as they are spelled ("1e-4",
// "10_000"); whether one was quoted is not kept. Anchors, aliases and merge keys (<<) are expanded.
//
// Bounds: 4 MiB of text, 64 levels, 100,000 entries after expansion. A key given twice is an Error,
// as it is for DeepSpeed. Keys with dots in them read as if they were nested.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "emit/flags.h"
#include "emit/settings.h"

namespace sextant::emit {

constexpr Bytes kMostTreeText = 4_MiB;

// One document with a mapping (or nothing) at the top. A value's Place spans its literal, quotes
// included, where it is one scalar on one line; a value that came through an alias has no literal.
Result<Settings> parse_yaml(std::string_view text, std::string_view name, Dialect dialect);

// The same of JSON, as DeepSpeed's reader (hjson) takes it from most users: comments (//, /* */, #)
// and commas before a closing bracket are allowed. Other forms of hjson (bare words, ''' strings)
// are an Error.
Result<Settings> parse_json(std::string_view text, std::string_view name, Dialect dialect);

// The given settings as a file that reads back to the same keys and values. Values that look like
// numbers, booleans or null are written bare, others quoted where they must be. `comments`: lines
// for the top.
std::string render_yaml(const Settings& settings, std::span<const std::string> comments = {});
std::string render_json(const Settings& settings);

// Which framework's file this is, by its keys; nothing where no framework's are found.
std::optional<Dialect> dialect_of_tree(const Settings& settings);

// Megatron's functional tests keep a command line as a table (MODEL_ARGS: {--flag: value}) and
// variables beside it (ENV_VARS). The table as words for parse_flags; empty where there is none.
std::vector<WordAt> megatron_test_words(const Settings& settings);
std::vector<Setting> megatron_test_environment(const Settings& settings);

}  // namespace sextant::emit
