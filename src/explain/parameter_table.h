// What a use case takes, as a table: a row a parameter. Command line, completion, manual pages, the
// page docs/parameters.md and JSON schemas are all made from it.
//
// Names are bare ("gbs"). How one is spelled is for whoever asks: --gbs on a command line, a
// property of an object elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::explain {

enum class ParameterKind : std::uint8_t {
  kText,
  kFlag,  // given or not; no value
  kCount,
  kNumber,
  kShare,   // "5%", "0.05"
  kSize,    // "64MiB"
  kTokens,  // "15T"
  kWord,    // one of `words`
  kWords,   // some of `words`, joined by commas
  kPrefix,  // one of `words`, then more: "lora:16", "mbs=1,2"
  kModel,
  kCluster,
  kDevice,
  kLayout,
  kFramework,
  kRule,
  kFileToRead,
  kFileToWrite,
  kFolderToWrite,
};

struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::kText;
  std::string_view value = {};  // what stands for its value in a text: "SEQUENCES"; a flag has none
  std::string_view help = {};
  // What counts where nothing is given: a value, or where there is no one value, words for it.
  std::string_view fallback = {};
  std::string_view otherwise = {};
  std::vector<std::string_view> words = {};
  std::string_view example = {};
  bool required = false;
  bool many = false;        // may be given several times
  bool positional = false;  // may stand without its name, in the table's order
};

// One use case as the page shows it.
struct ParameterTable {
  std::string_view name;
  std::string_view summary;
  std::vector<Parameter> parameters;
};

// "global batch (default: about 4 Mi tokens a step)".
std::string help_text(const Parameter& parameter);

// "a whole number", "a file to read".
std::string_view kind_text(ParameterKind kind);

// JSON Schema (draft 2020-12) of an object with a property a parameter: strings, but booleans for
// flags, integers and numbers; a list where it may be given several times.
std::string parameters_schema(std::span<const Parameter> parameters);

// The page of all use cases, Markdown.
std::string parameters_page(std::span<const ParameterTable> tables);

}  // namespace sextant::explain
