// Megatron's arguments by the names its code knows them under, whoever spelled them: flags of
// Megatron-LM, the arguments block of a log, overrides of Megatron-Bridge. Everything that has a
// meaning for a job is read from and written to these; the spellings are two columns of one table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "emit/dialects.h"
#include "emit/known_keys.h"
#include "emit/settings.h"

namespace sextant::emit {

// Which of the two programs is spoken to.
enum class Megatron { kLm, kBridge };

// How an argument is spelled. Empty: the name itself (flag), no such setting (bridge).
struct Spelling {
  std::string_view name;    // destination in Megatron-LM's namespace
  std::string_view flag;    // "no_overlap_p2p_communication"
  std::string_view bridge;  // "comm_overlap.overlap_p2p_comm"
  bool flag_negates = false;
  bool bridge_negates = false;
};
std::span<const Spelling> spellings();
// The one of that name, or null.
const Spelling* spelling_of(std::string_view name);

struct Argument {
  std::string name;
  std::vector<std::string> values;
  std::string words;  // as the user wrote it, and what it is called now
  Place place{};
};

// Arguments in the order given; of a repeated name the last stands.
using Arguments = std::vector<Argument>;
const Argument* find(const Arguments& arguments, std::string_view name);

// "[a, b]" and "a,b" in one value as several; "None" and "null" as no value; "torch.bfloat16" and
// "AttnBackend.flash" as their last part.
std::vector<std::string> plain_values(const std::vector<std::string>& values);

// Collects what is to be written.
class ArgumentWriter {
 public:
  explicit ArgumentWriter(Megatron program) : program_(program) {}
  [[nodiscard]] Megatron program() const { return program_; }

  void number(std::string_view name, std::int64_t value);
  void word(std::string_view name, std::string_view value);
  void words(std::string_view name, std::vector<std::string> values);
  void flag(std::string_view name, bool on);

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }

 private:
  Megatron program_;
  Arguments arguments_;
};

// Reads arguments one by one and notes for which field of the job each was used.
class ArgumentReader {
 public:
  ArgumentReader(Megatron program, const Arguments& arguments, Reading& reading)
      : program_(program), arguments_(arguments), reading_(reading) {}
  [[nodiscard]] Megatron program() const { return program_; }

  // The field the arguments read from now on are facts of.
  void field(std::string_view name) { field_ = name; }

  // Whether the argument is given a value at all; no fact.
  [[nodiscard]] bool has(std::string_view name) const;
  // Nothing where it is absent or not a whole number in the range (then it is listed as
  // unresolved).
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least = 1,
                                     std::int64_t most = 1'000'000'000'000);
  std::optional<std::string> word(std::string_view name);
  std::vector<std::string> words(std::string_view name);
  bool flag(std::string_view name, bool otherwise);
  // Lists the argument as not understood.
  void unresolved(std::string_view name, std::string_view why);

 private:
  const Argument* take(std::string_view name);

  Megatron program_;
  const Arguments& arguments_;
  Reading& reading_;
  std::string field_;
};

// Settings of Megatron-LM (flags, or destinations as a log has them) as arguments. Keys that are
// neither, nor an old name of one, go to `reading.unknown`.
Arguments arguments_of_flags(const std::vector<Setting>& given, const describe::DataStore& data,
                             Reading& reading);
// Overrides of Megatron-Bridge as arguments. Only keys of sections that Megatron-Bridge does not
// have are unknown: its model providers have more fields than any list.
Arguments arguments_of_overrides(const std::vector<Setting>& given, Reading& reading);

// The flags of Megatron-LM, and the sections and settings of Megatron-Bridge that are known.
KnownKeys megatron_keys(const describe::DataStore& data);
KnownKeys bridge_keys();

// Arguments as the program's own settings. Switches that are off are written only where the program
// would have them on.
std::vector<Setting> flags_of(const Arguments& arguments);
std::vector<Setting> overrides_of(const Arguments& arguments);

}  // namespace sextant::emit
