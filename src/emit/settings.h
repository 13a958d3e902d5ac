// What a user's files say, in the framework's own words, before anyone asks what it means.
//
// Files of every kind (launch scripts, YAML, JSON, TOML, Python recipes, logs) are read into
// Settings; a dialect (emit/dialects.h) turns Settings into a layout and a layout into Settings.
// Syntax is known on one side, meaning on the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/layout.h"
#include "describe/words.h"

namespace sextant::emit {

// The languages a job is written in. One framework may have two.
enum class Dialect {
  kMegatron,        // Megatron-LM flags: "tensor_model_parallel_size"
  kBridge,          // Megatron-Bridge overrides: "model.tensor_model_parallel_size"
  kTorchtitan,      // recipe and --section.key: "parallelism.tensor_parallel_degree"
  kTorchtitanToml,  // the TOML of torchtitan 0.2.2 and before
  kDeepspeed,       // JSON: "zero_optimization.stage"
  kMaxtext,         // YAML and key=value: "ici_fsdp_parallelism"
  kAccelerate,      // YAML: "parallelism_config.parallelism_config_tp_size"
  kNanotron,        // YAML: "parallelism.tp"
};
inline constexpr std::array<describe::Word<Dialect>, 9> kDialectWords{
    {{Dialect::kMegatron, "megatron"},
     {Dialect::kMegatron, "megatron-core"},
     {Dialect::kBridge, "bridge"},
     {Dialect::kTorchtitan, "torchtitan"},
     {Dialect::kTorchtitanToml, "torchtitan-toml"},
     {Dialect::kDeepspeed, "deepspeed"},
     {Dialect::kMaxtext, "maxtext"},
     {Dialect::kAccelerate, "accelerate"},
     {Dialect::kNanotron, "nanotron"}}};
describe::Framework framework_of(Dialect dialect);
// Whose files are written where nobody says: of a framework with two, the first; nothing where
// there are none.
std::optional<Dialect> own_dialect(describe::Framework framework);

// Where a value stands. offset and length span the literal text of the value in the file, so that a
// patch can replace it; length 0: there is no single literal (computed, spliced, or a default).
struct Place {
  std::string file;
  std::int64_t line = 0;  // 1-based; 0: not in a file
  std::size_t offset = 0;
  std::size_t length = 0;
};
// "train.sh:12", or the file alone.
std::string to_text(const Place& place);

// One setting. A switch that stands alone has the value "true".
struct Setting {
  std::string key;  // canonical: no leading dashes, the framework's destination name
  std::vector<std::string> values;  // several where the framework takes a list
  Place place{};
};

// Something the files leave open: a variable nobody sets, a command's output, a missing model.
struct Unresolved {
  std::string what;  // "--global-batch-size $GBS"
  std::string why;   // "GBS is set nowhere in the script"
  Place place{};
  // The setting whose value it is, as Setting::key has it; "": of no setting by itself.
  std::string key{};
  // It may hold any settings ("$EXTRA_ARGS", a file that is missing): what is stated nowhere else
  // is not known.
  bool any = false;
};

// A configuration that a launch script writes itself. What is not known in it is spelled as the
// script does ("$STAGE").
struct WrittenFile {
  std::string name;
  std::string text;
  bool known = true;  // false: written by a command that is not followed
};

struct Settings {
  Dialect dialect = Dialect::kMegatron;
  // False: whose settings these are cannot be told. Only the launcher's are read, and no dialect's
  // defaults hold.
  bool framework_known = true;
  // Who runs it, where it is not the dialect's own program: "nemo" (emit/other_words.h).
  std::string program{};
  std::vector<Setting> given;        // in file order; of a repeated key the last stands
  std::vector<Setting> environment;  // variables the job is started with
  // The logs among the files: what a framework printed itself. Values that it worked out are among
  // it, and no environment is.
  std::vector<std::string> printed;
  // The launcher's: "nodes", "devices_per_node", "devices".
  std::vector<Setting> launch;
  // Files that a script writes before it starts the job, and those that it reads or starts.
  std::vector<WrittenFile> written;
  std::vector<std::string> followed;
  std::vector<Unresolved> unresolved;
};

// The last setting of that key, or nothing.
const Setting* find(const std::vector<Setting>& settings, std::string_view key);

void append(std::vector<Setting>& to, std::vector<Setting> from);

}  // namespace sextant::emit
