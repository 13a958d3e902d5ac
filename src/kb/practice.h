// Best practices: what public sources advise about laying out a training job, in our own words, and
// what of it the model can check.
//
// A practice says what to change (layout keys before → after), what that should do (quantity,
// direction, and a size where the source gives one), where it applies and who says so. Practices
// stand in data/practices/*.toml, their sources in data/practices/sources.toml. What the model says
// of one is kb/practice_check.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/layout/layout.h"
#include "describe/words.h"
#include "diagnose/finding.h"
#include "step/quantity.h"

namespace sextant::kb {

// What a job is held up by.
// The classes of a diagnosis.
using diagnose::Bottleneck;
inline constexpr std::array<describe::Word<Bottleneck>, 4> kBottleneckWords{
    {{Bottleneck::kCompute, "compute"},
     {Bottleneck::kMemory, "hbm"},
     {Bottleneck::kCommunication, "communication"},
     {Bottleneck::kStall, "stall"}}};

// Parts of a job that advice is about: the parallel axes, and what is none.
enum class Theme {
  kTensor,
  kPipeline,
  kData,
  kContext,
  kExpert,
  kMemory,
  kPrecision,
  kKernel,
  kBatch,
  kTopology,
  kOverlap,
  kHost,
};
inline constexpr std::array<describe::Word<Theme>, 12> kThemeWords{
    {{Theme::kTensor, "tp"},
     {Theme::kPipeline, "pp"},
     {Theme::kData, "dp"},
     {Theme::kContext, "cp"},
     {Theme::kExpert, "ep"},
     {Theme::kMemory, "memory"},
     {Theme::kPrecision, "precision"},
     {Theme::kKernel, "kernels"},
     {Theme::kBatch, "batch"},
     {Theme::kTopology, "topology"},
     {Theme::kOverlap, "overlap"},
     {Theme::kHost, "host"}}};

enum class ModelClass { kDense, kExperts, kHybrid };
inline constexpr std::array<describe::Word<ModelClass>, 3> kModelClassWords{
    {{ModelClass::kDense, "dense"},
     {ModelClass::kExperts, "moe"},
     {ModelClass::kHybrid, "hybrid"}}};

// A page, a paper or a file that somebody read.
struct PracticeSource {
  std::string id;  // "jax-scaling-book"
  std::string title;
  std::string url;
  std::string version;  // revision or date
  std::string read;     // how it was read: the page itself, or as quoted by whom
};

// Where a practice holds. An empty list: anywhere.
struct Applies {
  std::vector<Bottleneck> bottlenecks;
  std::vector<Theme> axes;
  std::vector<std::string> devices;   // "tpu-v5p", "h100-sxm"; families: "gpu", "tpu"
  std::vector<std::string> topology;  // "node", "nvlink-domain", "slice", "multi-slice", "torus"
  std::vector<describe::Framework> frameworks;
  std::vector<ModelClass> models;
  std::string versions;    // of the framework; "": any
  std::string conditions;  // in words; "": none
  bool operator==(const Applies&) const = default;
};

// What to do. Layout keys as `--layout` takes them, a JAX mesh ("ici:…;dcn:…") before them.
struct Change {
  std::string before;   // "": whatever it is
  std::string after;    // "": no layout key says it
  std::string setting;  // in the framework's own words; "": the keys say all
  bool operator==(const Change&) const = default;
};

// What a practice moves, said by the quantities of a step.
using step::Direction;
using step::kDirectionWords;
using step::kQuantityWords;
using step::Quantity;
using step::RatioRange;

struct Expects {
  Quantity quantity = Quantity::kStep;
  Direction direction = Direction::kLower;
  std::optional<RatioRange> ratio;  // nothing: the source says no size
  bool operator==(const Expects&) const = default;
};

// A job on which the claim should hold.
struct PracticeJob {
  std::string name;   // "job1"
  std::string where;  // "data/practices/tensor.toml:12:1"
  std::string model;
  std::string cluster;
  std::string cluster_after;  // as `cluster` where nothing else is said
  std::string sequences;
  std::string sequences_after;
  std::int64_t global_batch = 0;
  std::int64_t global_batch_after = 0;
  describe::Framework framework = describe::Framework::kOther;
  std::string before;  // layouts
  std::string after;
};

// The jobs' quantity moves as the practice expects.
struct JobsCheck {
  std::vector<PracticeJob> jobs;
};
// The jobs break the rule before and hold it after.
struct RuleCheck {
  std::string rule;
  std::vector<PracticeJob> jobs;
};
struct Uncheckable {
  std::string reason;
};
using PracticeCheck = std::variant<JobsCheck, RuleCheck, Uncheckable>;

// Who is right where source and model disagree.
enum class Right { kSource, kModel };
inline constexpr std::array<describe::Word<Right>, 2> kRightWords{
    {{Right::kSource, "source"}, {Right::kModel, "model"}}};
struct Verdict {
  Right right = Right::kSource;
  std::string reason;
};

struct Practice {
  std::string id;     // "tensor-inside-the-node"
  std::string where;  // "data/practices/tensor.toml:12:1"
  std::string title;
  std::string advice;   // one to three sentences
  std::string why;      // the mechanism
  bool do_not = false;  // the change is one to stay away from: `expects` is the harm
  std::string source;   // id of a PracticeSource
  std::string section;  // of the source
  Applies applies;
  Change change;
  Expects expects;
  PracticeCheck check;
  std::optional<Verdict> verdict;  // where the model is known to disagree

  [[nodiscard]] bool checkable() const { return !std::holds_alternative<Uncheckable>(check); }
};

struct PracticeBook {
  std::map<std::string, PracticeSource, std::less<>> sources;  // by id
  std::vector<Practice> practices;                             // by file, then by id
};

// One file's practices, by id. Whether their sources are described is load_practices' business.
Result<std::vector<Practice>> parse_practices(std::string_view text, std::string_view where);

// All practices of data/practices/. An Error names file, line and what is allowed: unknown keys and
// words, layouts that do not parse, ids that stand twice, sources that nobody described or uses.
Result<PracticeBook> load_practices(const describe::DataStore& data);

}  // namespace sextant::kb
