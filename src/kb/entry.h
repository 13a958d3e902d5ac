// What the knowledge base holds: practices (what somebody advises) and wins (past optimisations:
// one change to a job and what it was measured to do; losses too), built in or the user's own.
//
// One type for both, since they are looked for, shown and exported together. What an entry is about
// (Features) is what it is found by. Everything but id, kind, title and source may be unknown.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/layout/layout.h"
#include "describe/words.h"
#include "kb/practice.h"

namespace sextant::kb {

enum class EntryKind : std::uint8_t { kPractice, kWin };
inline constexpr std::array<describe::Word<EntryKind>, 2> kEntryKindWords{
    {{EntryKind::kPractice, "practice"}, {EntryKind::kWin, "win"}}};

enum class Origin : std::uint8_t { kBuiltIn, kOwn };
inline constexpr std::array<describe::Word<Origin>, 2> kOriginWords{
    {{Origin::kBuiltIn, "built-in"}, {Origin::kOwn, "own"}}};

// Of a measurement. A: numbers printed with the whole configuration; B: some of it follows from the
// text, or relative numbers with a printed configuration; C: a relative number alone.
enum class Trust : std::uint8_t { kUnknown, kA, kB, kC };
inline constexpr std::array<describe::Word<Trust>, 3> kTrustWords{
    {{Trust::kA, "a"}, {Trust::kB, "b"}, {Trust::kC, "c"}}};

// What came of a change that has no number: one of the two configurations did not run.
enum class Fate : std::uint8_t { kNumber, kFitsAfter, kNoLongerFits };
inline constexpr std::array<describe::Word<Fate>, 2> kFateWords{
    {{Fate::kFitsAfter, "fits-after"}, {Fate::kNoLongerFits, "no-longer-fits"}}};

// What a change is of.
inline constexpr std::array<std::string_view, 27> kChangeWords{
    "attention-kernel", "compile",   "cp",      "data",      "dp",   "ep",        "expert-dispatch",
    "fusion",           "host",      "loss",    "mbs",       "nccl", "network",   "offload",
    "optimizer",        "other",     "overlap", "placement", "pp",   "precision", "recompute",
    "schedule",         "straggler", "sync",    "tp",        "vpp",  "zero"};

// Sizes of a job's axes that are larger than one: tp, pp, cp, ep, dp, … by name.
using Mesh = std::map<std::string, std::int64_t, std::less<>>;
// Of layout keys among other words: "tp=8,pp=4,zero=1 (hybrid)" → {pp: 4, tp: 8}; JAX meshes too.
Mesh mesh_of(std::string_view layout);

// What an entry is about, or a question; empty: anything, or not stated.
struct Features {
  std::vector<Bottleneck> bottlenecks = {};
  std::vector<Theme> axes = {};
  std::vector<std::string> changes = {};   // of kChangeWords
  std::vector<std::string> devices = {};   // "h100-sxm"; families: "gpu", "tpu"
  std::vector<std::string> topology = {};  // "node", "nvlink-domain", "slice", …
  std::vector<describe::Framework> frameworks = {};
  std::vector<ModelClass> models = {};
  std::string model = {};         // its name
  double parameters_billion = 0;  // 0: not stated
  std::int64_t device_count = 0;  // 0: not stated
  Mesh mesh = {};
  bool operator==(const Features&) const = default;
};

struct Measurement {
  std::string metric = {};  // "step_time_s", "mem_gib", …; "": none
  std::optional<double> before = {};
  std::optional<double> after = {};
  std::optional<double> effect_percent = {};  // of speed, positive: faster; of mem_gib: saved
  Fate fate = Fate::kNumber;
  bool operator==(const Measurement&) const = default;
};

struct Entry {
  std::string id = {};  // lower-case words joined by '-'; it never changes its meaning
  EntryKind kind = EntryKind::kPractice;
  Origin origin = Origin::kOwn;
  std::string title = {};
  std::string advice = {};  // of a practice
  std::string why = {};     // the mechanism, where the source says it
  bool do_not = false;
  std::string source = {};  // who says so; never empty
  std::string url = {};
  std::string section = {};  // of the source
  Trust trust = Trust::kUnknown;
  Features about = {};
  std::string software = {};  // framework and version in the source's words
  std::string network = {};
  std::string shape = {};  // "layers=80,hidden=8192"
  std::int64_t sequence = 0;
  std::int64_t global_batch = 0;
  std::string layout = {};  // what does not change
  std::string before = {};
  std::string after = {};
  std::string setting = {};  // the change in the framework's words
  std::string expects = {};  // of a practice: "step lower, x0.7 to x0.85"
  Measurement measured = {};
  std::string conditions = {};
  std::string date = {};  // of the source
  std::string added_by = {};
  std::string added_at = {};  // RFC 3339, UTC; of the user's own
  bool operator==(const Entry&) const = default;
};

// Was it measured, rather than said?
bool is_measured(const Entry& entry);

// Lower-case letters, digits and '-', at most 80.
bool is_entry_id(std::string_view id);
// "Keep TP in the node!" → "keep-tp-in-the-node".
std::string id_from(std::string_view title);

// A practice of the book as an entry.
Entry entry_of(const Practice& practice, const PracticeSource& source);

}  // namespace sextant::kb
