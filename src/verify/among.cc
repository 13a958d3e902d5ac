#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "verify/claims.h"
#include "verify/conclude.h"
#include "verify/judge.h"
#include "verify/layout_judgement.h"

namespace sextant::verify {
namespace {

using Each = std::vector<Verdict>;

// More than half of them: two of three.
std::size_t most_of(std::size_t count) {
  return count / 2 + 1;
}

// Did its judgement end before the claims?
bool is_stopped(const Verdict& verdict) {
  return verdict.ground == Ground::kWords || verdict.ground == Ground::kDevices ||
         verdict.ground == Ground::kRules;
}

std::string model_of(const Bench& bench) {
  return bench.task.problem.job.model.name;
}

// "x0.87 with llama-3-8b, x0.91 with …".
std::string by_model(std::size_t claim, const Each& each, std::span<const Bench> benches) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (!is_stopped(each[i])) {
      parts.push_back(
          fmt::format("x{:.2f} with {}", each[i].claims[claim].ratio, model_of(benches[i])));
    }
  }
  return join(parts, ", ");
}

// Those of a claim, the smallest ratio first.
std::vector<const JudgedClaim*> ordered_claims(std::size_t claim, const Each& each) {
  std::vector<const JudgedClaim*> all;
  for (const Verdict& verdict : each) {
    if (!is_stopped(verdict)) {
      all.push_back(&verdict.claims[claim]);
    }
  }
  std::ranges::stable_sort(all, {}, &JudgedClaim::ratio);
  return all;
}

ClaimRuling ruling_together(const std::vector<const JudgedClaim*>& claims, std::size_t models) {
  const auto count = [&claims](ClaimRuling ruling) {
    return static_cast<std::size_t>(std::ranges::count(claims, ruling, &JudgedClaim::ruling));
  };
  if (count(ClaimRuling::kRefuted) == models) {
    return ClaimRuling::kRefuted;
  }
  const std::size_t holds = count(ClaimRuling::kHolds);
  if (holds >= most_of(models)) {
    return ClaimRuling::kHolds;
  }
  return holds + count(ClaimRuling::kWrongSize) >= most_of(models) ? ClaimRuling::kWrongSize
                                                                   : ClaimRuling::kCannotTell;
}

// REQUIRES: one at least was judged.
JudgedClaim claim_together(std::size_t claim, const Each& each, std::span<const Bench> benches) {
  const std::vector<const JudgedClaim*> all = ordered_claims(claim, each);
  JudgedClaim together = *all[(all.size() - 1) / 2];
  for (const JudgedClaim* one : all) {
    together.interval.low = std::min(together.interval.low, one->interval.low);
    together.interval.high = std::max(together.interval.high, one->interval.high);
  }
  together.ruling = ruling_together(all, benches.size());
  together.why = fmt::format("claimed {}; under {} assumed models it {}: {}",
                             words_of(together.claim), benches.size(),
                             describe::word_of<ClaimRuling>(kClaimRulingWords, together.ruling),
                             by_model(claim, each, benches));
  return together;
}

// Why some of them say no, by model.
std::string refusing_models(const Each& each, std::span<const Bench> benches, bool by_memory) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (by_memory ? each[i].memory.has_value() : is_stopped(each[i])) {
      parts.push_back(model_of(benches[i]));
    }
  }
  return join(parts, ", ");
}

// The verdict that the others' middle ones are shown with: of those judged, the middle speed.
const Verdict* middle_of(const Each& each) {
  std::vector<const Verdict*> judged;
  for (const Verdict& verdict : each) {
    if (!is_stopped(verdict) && verdict.speed) {
      judged.push_back(&verdict);
    }
  }
  std::ranges::stable_sort(judged, {}, [](const Verdict* one) { return one->speed->speed; });
  return judged.empty() ? nullptr : judged[(judged.size() - 1) / 2];
}

Verdict started_from(const Each& each) {
  const Verdict* middle = middle_of(each);
  const auto judged =
      std::ranges::find_if(each, [](const Verdict& verdict) { return !is_stopped(verdict); });
  Verdict together = middle != nullptr ? *middle : judged != each.end() ? *judged : each.front();
  together.claims.clear();
  together.missing.clear();
  together.memory.reset();
  return together;
}

// What all of them together say of rules and memory; nothing: they stop nothing.
struct Stop {
  Ruling ruling = Ruling::kRejected;
  Ground ground = Ground::kRules;
  std::string why;
  std::string missing = {};
};

std::optional<Stop> stopped_by_rules(const Each& each, std::span<const Bench> benches) {
  const auto stopped = std::ranges::count_if(each, is_stopped);
  if (stopped == 0) {
    return std::nullopt;
  }
  const Verdict& first = *std::ranges::find_if(each, is_stopped);
  const auto refused = [](const Verdict& verdict) {
    return is_stopped(verdict) && verdict.ruling == Ruling::kRejected;
  };
  if (std::ranges::all_of(each, refused)) {
    return Stop{Ruling::kRejected, first.ground, first.reason};
  }
  const std::string models = refusing_models(each, benches, false);
  return Stop{Ruling::kUndecidable, first.ground,
              fmt::format("with {} assumed: {}", models, first.reason),
              fmt::format("the model's shape: it is not legal with {}", models)};
}

std::optional<Stop> stopped_by_memory(const Each& each, std::span<const Bench> benches,
                                      const std::optional<MeshMemory>& known) {
  if (known && known->fits) {
    return std::nullopt;
  }
  const auto fails = [](const Verdict& verdict) { return verdict.memory.has_value(); };
  const std::string models = refusing_models(each, benches, true);
  if (std::ranges::all_of(each, fails)) {
    return Stop{Ruling::kRejected, Ground::kMemory,
                fmt::format("it does not fit with any of the assumed models ({})", models)};
  }
  if (std::ranges::any_of(each, fails)) {
    return Stop{Ruling::kUndecidable, Ground::kMemory,
                fmt::format("it does not fit with {} assumed", models),
                fmt::format("the model's shape: it does not fit with {}", models)};
  }
  if (known) {
    return Stop{Ruling::kUndecidable, Ground::kMemory, known->why,
                known->missing.empty() ? std::string() : known->missing.front()};
  }
  return std::nullopt;
}

Verdict ended_by(Verdict verdict, const Stop& stop, const Each& each) {
  if (!stop.missing.empty()) {
    verdict.missing.push_back(stop.missing);
  }
  if (stop.ground == Ground::kMemory) {
    for (const Verdict& one : each) {
      verdict.memory = verdict.memory ? verdict.memory : one.memory;
    }
  }
  if (stop.ground == Ground::kRules) {
    const auto first = std::ranges::find_if(each, is_stopped);
    verdict.broken = first->broken;
    verdict.broken_already = first->broken_already;
  }
  return ended(std::move(verdict), stop.ruling, stop.ground, stop.why);
}

Verdict together_of(const Each& each, std::span<const Bench> benches,
                    const std::optional<MeshMemory>& known) {
  Verdict together = started_from(each);
  const std::optional<Stop> rules = stopped_by_rules(each, benches);
  if (rules && rules->ruling == Ruling::kRejected) {
    return ended_by(std::move(together), *rules, each);
  }
  const bool judged =
      std::ranges::any_of(each, [](const Verdict& one) { return !is_stopped(one); });
  const auto& any = std::ranges::find_if(each, [](const Verdict& one) { return !is_stopped(one); });
  for (std::size_t i = 0; judged && i < any->claims.size(); ++i) {
    together.claims.push_back(claim_together(i, each, benches));
  }
  const bool refuted = std::ranges::any_of(together.claims, [](const JudgedClaim& claim) {
    return claim.ruling == ClaimRuling::kRefuted;
  });
  const std::optional<Stop> memory = stopped_by_memory(each, benches, known);
  const bool no_memory = memory && memory->ruling == Ruling::kRejected;
  if (no_memory || (memory && !rules && !refuted)) {
    return ended_by(std::move(together), *memory, each);
  }
  if (rules && !refuted) {
    return ended_by(std::move(together), *rules, each);
  }
  return concluded(std::move(together), fmt::format("under {} assumed models: {}", benches.size(),
                                                    judged ? any->reason : std::string()));
}

// What the facts alone refuse; nothing: they do not, or it is no mesh.
std::optional<MeshRefusal> refused_by(const MeshFacts* facts, const Proposal& proposal) {
  const auto axes = proposed_axes(proposal.change);
  return facts != nullptr && axes ? mesh_refusal(*facts, *axes) : std::nullopt;
}

std::optional<MeshMemory> memory_by(const MeshFacts* facts, const Proposal& proposal) {
  const auto axes = proposed_axes(proposal.change);
  return facts != nullptr && axes ? std::optional(mesh_memory(*facts, *axes)) : std::nullopt;
}

}  // namespace

AmongVerdict judge_among(const Proposal& proposal, std::span<const Bench> benches,
                         const MeshFacts* facts) {
  AmongVerdict among;
  if (proposal.change.layout.empty()) {  // a setting, or nothing: no model decides
    among.each.push_back(judge(proposal, benches.front()));
    among.together = among.each.front();
    return among;
  }
  for (const Bench& bench : benches) {
    among.each.push_back(judged_layout(proposal, bench, MemoryRule::kIsNoted));
  }
  if (const auto refusal = refused_by(facts, proposal)) {
    among.together = ended({}, Ruling::kRejected, refusal->ground, refusal->why);
    return among;
  }
  among.together = together_of(among.each, benches, memory_by(facts, proposal));
  return among;
}

}  // namespace sextant::verify
