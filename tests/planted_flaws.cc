#include "planted_flaws.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "entry_sayings.h"

namespace sextant::tests {
namespace {

using describe::Framework;
using describe::Job;
using step::Direction;
using step::Quantity;
using verify::Claim;
using verify::ClaimRuling;
using verify::Ground;
using verify::Ruling;

std::size_t below(std::size_t count, std::mt19937& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

PlantedFlaw flaw_of(Flaw flaw, const SoundProposal& sound) {
  return {.flaw = flaw, .what = {}, .task = sound.task, .proposal = sound.proposal};
}

// ---- illegal ----

// Keys that break a rule, with the arithmetic that says so.
struct Breaking {
  LayoutKeys keys;
  std::string rule;  // how its name ends
  bool near = false;
};

std::int64_t heads_of(const Job& job) {
  const auto* attention = std::get_if<describe::Attention>(&job.model.blocks.front().mixer);
  return attention == nullptr ? 0 : attention->heads;
}

std::int64_t experts_of(const Job& job) {
  for (const describe::Block& block : job.model.blocks) {
    if (const auto* experts = std::get_if<describe::MoeFfn>(&block.ffn)) {
      return experts->experts;
    }
  }
  return 0;
}

// Ranks of tensor parallelism that do not divide the heads, and of pipelines that do not divide the
// layers, although both divide the devices.
void add_broken_axes(const Job& job, std::vector<Breaking>& all) {
  const describe::Layout& at = job.layout;
  const std::int64_t devices = job.cluster.devices;
  const std::int64_t heads = heads_of(job);
  for (const std::int64_t tp : {3, 6, 12, 16, 24, 48, 128}) {
    if (heads > 0 && heads % tp != 0 && devices % (tp * at.cp * at.pp) == 0) {
      const bool mesh = job.framework == Framework::kMaxtext;
      const LayoutKeys keys = {{"tp", std::to_string(tp)}, {"sp", "1"}};
      const LayoutKeys axes = {{"mesh", fmt::format("ici:fsdp={},tensor={}", devices / tp, tp)}};
      all.push_back({mesh ? axes : keys, "HEADS-TP", tp == 3});
    }
  }
  const bool pipelines = job.framework == Framework::kMegatronCore;
  for (const std::int64_t pp : {3, 6, 16, 32, 64}) {
    if (pipelines && devices % (at.tp * at.cp * pp) == 0 && job.model.layer_count() % pp != 0) {
      all.push_back({{{"pp", std::to_string(pp)}, {"vpp", "1"}}, "LAYERS-STAGES", pp == 3});
    }
  }
  const std::int64_t per_rank = at.pp > 1 ? job.model.layer_count() / at.pp : 0;
  if (pipelines && per_rank > 1) {  // one chunk more than there are layers for
    all.push_back({{{"vpp", std::to_string(per_rank + 1)}}, "LAYERS-STAGES", true});
  }
}

void add_broken_rest(const Job& job, std::vector<Breaking>& all) {
  const describe::Layout& at = job.layout;
  const bool meshes = job.framework == Framework::kMaxtext;
  const std::int64_t sequences = job.global_batch / job.dp();
  const bool full_only = job.framework == Framework::kMegatronCore || meshes;
  for (const std::int64_t mbs : {at.mbs + 1, std::int64_t{3}, std::int64_t{5}}) {
    if (full_only && sequences % mbs != 0) {
      all.push_back({{{"mbs", std::to_string(mbs)}}, "BATCH-MICRO", mbs == at.mbs + 1});
    }
  }
  // Megatron switches it off and goes on.
  if (!meshes && job.framework != Framework::kMegatronCore && at.tp == 1) {
    all.push_back({{{"sp", "1"}}, "SP-TP", true});
  }
  if (job.framework == Framework::kMegatronCore && at.vpp == 1) {
    all.push_back({{{"schedule", "interleaved-1f1b"}}, "SCHEDULE-VPP", true});
  }
  if (!meshes && at.zero != describe::Zero::kNone) {
    all.push_back({{{"zero_group", std::to_string(job.dp() * at.cp + 1)}}, "ZERO-GROUP", true});
  }
  if (const std::int64_t experts = experts_of(job); experts > 0) {
    all.push_back({{{"ep", std::to_string(experts + 1)}}, "EXPERTS-EP", true});
  } else if (job.framework == Framework::kMegatronCore) {
    all.push_back({{{"ep", "2"}}, "EXPERTS-EP", false});
  }
  const std::string& device = job.cluster.device.id;
  if (device.starts_with("a100") && !meshes) {
    all.push_back({{{"precision", "fp8"}}, "PRECISION-DEVICE", false});
  }
}

std::optional<PlantedFlaw> illegal(const SoundProposal& sound, std::mt19937& random) {
  std::vector<Breaking> all;
  add_broken_axes(sound.after, all);
  add_broken_rest(sound.after, all);
  if (all.empty()) {
    return std::nullopt;
  }
  const Breaking& one = all[below(all.size(), random)];
  PlantedFlaw made = flaw_of(Flaw::kIllegal, sound);
  LayoutKeys change = sound.change;
  for (const auto& [key, value] : one.keys) {
    change[key] = value;
  }
  made.proposal.change.layout = layout_text(change);
  made.what = fmt::format("{} breaks {}", layout_text(one.keys), one.rule);
  made.near = one.near;
  made.rule = one.rule;
  return made;
}

// ---- does not fit ----

// Of the changes that need more memory, one that the devices do not have.
std::optional<PlantedFlaw> too_large(const SoundProposal& sound, std::mt19937& random) {
  std::vector<LayoutKeys> larger{{{"recompute", "none"}},
                                 {{"zero", "0"}},
                                 {{"recompute", "none"}, {"mbs", "16"}},
                                 {{"recompute", "none"}, {"mbs", "32"}}};
  std::shuffle(larger.begin(), larger.end(), random);
  for (const LayoutKeys& keys : larger) {
    LayoutKeys change = sound.change;
    for (const auto& [key, value] : keys) {
      change[key] = value;
    }
    Job job = sound.task->problem.job;
    if (!describe::lay_over(layout_text(change), job) || !describe::is_legal(job)) {
      continue;
    }
    const step::Estimate estimate = step::whole_estimate(job, sound.task->machine);
    if (estimate.memory.fullest.device > sound.task->problem.available()) {
      PlantedFlaw made = flaw_of(Flaw::kDoesNotFit, sound);
      made.proposal.change.layout = layout_text(change);
      made.what = layout_text(keys);
      made.over = estimate.memory.fullest.device - sound.task->problem.available();
      return made;
    }
  }
  return std::nullopt;
}

std::optional<PlantedFlaw> does_not_fit(const SoundProposal& sound, std::mt19937& random) {
  std::optional<PlantedFlaw> made = below(2, random) == 0 ? too_large(sound, random) : std::nullopt;
  if (!made) {
    made = flaw_of(Flaw::kDoesNotFit, sound);
    made->what = "1 GiB over";
    made->near = true;
    made->over = 1_GiB;
    made->task = with_room(sound, -1_GiB);
  }
  made->ground = Ground::kMemory;
  return made;
}

// ---- claims ----

std::string claim_words(const Claim& claim) {
  return std::string(describe::word_of<Quantity>(step::kQuantityWords, claim.quantity));
}

PlantedFlaw wrong_direction(const SoundProposal& sound, std::mt19937& random) {
  PlantedFlaw made = flaw_of(Flaw::kWrongDirection, sound);
  const std::size_t at = below(made.proposal.claims.size(), random);
  Claim& claim = made.proposal.claims[at];
  made.what = claim_words(claim);
  claim.direction = step::opposite_of(claim.direction);
  if (claim.ratio) {
    claim.ratio = step::RatioRange{1.0 / claim.ratio->high, 1.0 / claim.ratio->low};
  }
  made.ground = Ground::kClaims;
  made.claim = at;
  made.claim_ruling = ClaimRuling::kRefuted;
  made.proposal.citations.clear();  // they were for the other direction
  return made;
}

// `times` the effect: of x0.9 twice is x0.8, of x1.2 x1.4; below nothing the square.
double effect_times(double ratio, double times) {
  const double size = 1.0 + times * (ratio - 1.0);
  return size > 0.0 ? size : ratio * ratio;
}

PlantedFlaw wrong_size(const SoundProposal& sound, std::mt19937& random) {
  PlantedFlaw made = flaw_of(Flaw::kWrongSize, sound);
  const std::size_t at = below(made.proposal.claims.size(), random);
  Claim& claim = made.proposal.claims[at];
  const double ratio = sound.ratios[at];
  constexpr double kSixfold = 6.0;
  made.near = below(2, random) == 0;
  const double size = effect_times(ratio, made.near ? 2.0 : kSixfold);
  const double beyond = ratio < 1.0 ? size * 0.9 : size * 1.1;
  claim.ratio = step::RatioRange{std::min(size, beyond), std::max(size, beyond)};
  made.what =
      fmt::format("{} the size of {}", made.near ? "twice" : "six times", claim_words(claim));
  made.ruling = Ruling::kCorrected;
  made.ground = Ground::kClaims;
  made.claim = at;
  made.claim_ruling = ClaimRuling::kWrongSize;
  return made;
}

// ---- citations ----

// A letter more, less or other; nothing where there is such an entry.
std::optional<std::string> misspelled(std::string id, std::mt19937& random) {
  const std::size_t at = below(id.size(), random);
  switch (below(3, random)) {
    case 0:
      id.erase(at, 1);
      break;
    case 1:
      id.insert(at, 1, id[at]);
      break;
    default:
      id[at] = id[at] == 'q' ? 'k' : 'q';
  }
  const auto& entries = verify::known().entries;
  const bool exists =
      std::ranges::any_of(entries, [&id](const kb::Entry& entry) { return entry.id == id; });
  return exists ? std::nullopt : std::optional(std::move(id));
}

void cite(PlantedFlaw& made, verify::Citation citation) {
  made.ruling = Ruling::kCorrected;
  made.ground = Ground::kCitations;
  made.citation = made.proposal.citations.size();
  made.proposal.citations.push_back(std::move(citation));
}

std::optional<PlantedFlaw> no_such_citation(const SoundProposal& sound, std::mt19937& random) {
  PlantedFlaw made = flaw_of(Flaw::kNoSuchCitation, sound);
  const auto& entries = verify::known().entries;
  const Claim claim = sound.proposal.claims.front();
  switch (below(4, random)) {
    case 0:
      cite(made, {verify::Cited::kRule, "HEADS-TPX", {}});
      break;
    case 1:
      cite(made, {verify::Cited::kFinding, "input-bound", claim});  // of no run
      break;
    default: {
      const auto id = misspelled(entries[below(entries.size(), random)].id, random);
      if (!id) {
        return std::nullopt;
      }
      made.near = true;
      cite(made, {verify::Cited::kEntry, *id, claim});
    }
  }
  made.what = made.proposal.citations.back().id;
  return made;
}

// An entry that is there but is no support: of the contrary, of another thing, of another machine,
// or that says it of another quantity.
std::optional<PlantedFlaw> says_otherwise(const SoundProposal& sound, std::mt19937& random) {
  const Claim claim = sound.proposal.claims.front();
  const CitedFor what = cited_for(sound.task->problem.job, sound.after, claim);
  std::vector<std::pair<const kb::Entry*, Saying>> found;
  const std::array<Saying, 4> wanted{Saying::kContrary, Saying::kOtherThing, Saying::kElsewhere,
                                     Saying::kSaysSo};
  const std::size_t first = below(wanted.size(), random);
  Saying saying = wanted[first];
  for (std::size_t i = 0; i < wanted.size() && found.empty(); ++i) {
    saying = wanted[(first + i) % wanted.size()];
    for (const kb::Entry& entry : verify::known().entries) {
      if (saying_of(entry, what) == saying) {
        found.emplace_back(&entry, saying);
      }
    }
  }
  PlantedFlaw made = flaw_of(Flaw::kSaysOtherwise, sound);
  const kb::Entry& entry = *found[below(found.size(), random)].first;
  verify::Citation citation{verify::Cited::kEntry, entry.id, claim};
  if (saying == Saying::kSaysSo) {  // of the step, and cited for memory
    citation.supports = Claim{.quantity = Quantity::kMemory, .direction = claim.direction};
    made.what = "says it of another quantity: ";
  } else {
    made.what = saying == Saying::kContrary     ? "says the contrary: "
                : saying == Saying::kOtherThing ? "is of another thing: "
                                                : "is of another machine: ";
  }
  made.near = saying == Saying::kContrary || saying == Saying::kSaysSo;
  made.what += entry.id;
  cite(made, std::move(citation));
  return made;
}

// ---- chips ----

PlantedFlaw wrong_chips(const SoundProposal& sound, std::mt19937& random) {
  PlantedFlaw made = flaw_of(Flaw::kWrongChips, sound);
  made.ground = Ground::kDevices;
  const std::int64_t devices = sound.after.cluster.devices;
  const std::vector<std::int64_t> others{devices - 1, devices + 1, 2 * devices, devices / 2};
  const std::size_t at = below(others.size() + 1, random);
  if (at < others.size()) {
    made.proposal.devices = others[at];
    made.near = at < 2;
    made.what = fmt::format("says {} of {} devices", others[at], devices);
    return made;
  }
  // One replica, or one chip of an axis, too many.
  LayoutKeys change = sound.change;
  if (sound.after.framework == Framework::kMaxtext) {
    change["mesh"] = fmt::format("ici:fsdp={}", devices + 1);
  } else {
    change["dp"] = std::to_string(sound.after.dp() + 1);
  }
  made.proposal.change.layout = layout_text(change);
  made.near = true;
  made.what = made.proposal.change.layout;
  return made;
}

}  // namespace

std::shared_ptr<const search::Task> with_room(const SoundProposal& sound, Bytes room) {
  auto task = std::make_shared<search::Task>(*sound.task);
  task->problem.headroom =
      1.0 - (sound.need + room) / task->problem.job.cluster.device.usable_memory();
  return task;
}

std::optional<PlantedFlaw> planted(Flaw flaw, const SoundProposal& sound, std::mt19937& random) {
  switch (flaw) {
    case Flaw::kIllegal:
      return illegal(sound, random);
    case Flaw::kDoesNotFit:
      return does_not_fit(sound, random);
    case Flaw::kWrongDirection:
      return wrong_direction(sound, random);
    case Flaw::kWrongSize:
      return wrong_size(sound, random);
    case Flaw::kNoSuchCitation:
      return no_such_citation(sound, random);
    case Flaw::kSaysOtherwise:
      return says_otherwise(sound, random);
    case Flaw::kWrongChips:
      return wrong_chips(sound, random);
  }
  return std::nullopt;
}

}  // namespace sextant::tests
