#include "agents/case_proposals.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "verify/judge.h"

namespace sextant::agents {
namespace {

using verify::Citation;
using verify::Cited;
using verify::Claim;
using verify::Proposal;
using verify::Verdict;

// A change smaller than that is none that a profile shows.
constexpr double kNoticeable = 0.05;

std::optional<step::Quantity> quantity_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::kTensor:
      return step::Quantity::kTensorComm;
    case Traffic::kSequence:
      return step::Quantity::kContextComm;
    case Traffic::kGradients:
      return step::Quantity::kDataComm;
    case Traffic::kWeights:
      return std::nullopt;  // no term of a step holds it alone
  }
  return std::nullopt;
}

std::vector<Claim> claims_of(const MeshMove& move, const ProposalFacts& facts) {
  std::vector<Claim> claims;
  if (!facts.is_same_size || !facts.from) {
    return claims;
  }
  claims.push_back({step::Quantity::kStep, step::Direction::kLower, {}});
  for (const ReliefTerm& term : move.reliefs) {
    const auto quantity = quantity_of(term.traffic);
    if (quantity && term.ratio < 1.0 - kNoticeable) {
      claims.push_back({*quantity, step::Direction::kLower, {}});
    }
  }
  return claims;
}

void cite(const MeshRule& rule, const ProposalFacts& facts, std::vector<Citation>& citations) {
  for (const std::string& practice : rule.practices) {
    const bool is_known =
        std::ranges::find(facts.entries, practice, &kb::Entry::id) != facts.entries.end();
    const bool is_cited = std::ranges::find(citations, practice, &Citation::id) != citations.end();
    if (is_known && !is_cited) {
      citations.push_back({Cited::kEntry, practice, {}});
    }
  }
}

std::string relief_sentence(const MeshMove& move) {
  std::vector<std::string> parts;
  for (const ReliefTerm& term : move.reliefs) {
    parts.push_back(fmt::format("{} x{:.2f} ({:+.1f} % of the told operators' time)",
                                describe::word_of<Traffic>(kTrafficWords, term.traffic), term.ratio,
                                -100.0 * term.points));
  }
  return parts.empty() ? "nothing of the told operators waits for its axes" : join(parts, "; ");
}

std::string score_sentence(const MeshMove& move) {
  std::vector<std::string> parts;
  for (const ScoreTerm& term : move.terms) {
    parts.push_back(fmt::format("{} {:.2f}", term.what, term.factor));
  }
  return fmt::format("rank {:.3f} = {}", move.score, join(parts, " x "));
}

std::vector<verify::Load> rising_loads(const CaseMesh& from, const CaseMesh& mesh,
                                       double memory_scale) {
  constexpr double kRounding = 1e-9;
  std::vector<verify::Load> rising = mesh_loads(from, mesh, memory_scale);
  std::erase_if(rising, [](const verify::Load& load) { return load.ratio <= 1.0 + kRounding; });
  return rising;
}

std::string load_words(const std::vector<verify::Load>& loads) {
  std::vector<std::string> parts;
  for (const verify::Load& load : loads) {
    std::string part = fmt::format("{} x{:.3g}", load.what, load.ratio);
    if (std::ranges::find(parts, part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  }
  return join(parts, ", ");
}

std::string memory_sentence(const CaseMesh& mesh, const ProposalFacts& facts) {
  if (!facts.from) {
    return "no mesh is known to run: whether it fits depends on the model's shape";
  }
  const CaseMesh& from = *facts.from;
  const std::vector<verify::Load> rising = rising_loads(from, mesh, facts.memory_scale);
  const std::string beside = facts.memory_scale == 1.0
                                 ? ""
                                 : fmt::format(" (chips hold x{:.3g})", 1.0 / facts.memory_scale);
  return rising.empty() ? fmt::format("no chip holds more of its memory than with {}, which runs{}",
                                      to_text(from), beside)
                        : fmt::format("against {}, which runs{}, a chip holds {}", to_text(from),
                                      beside, load_words(rising));
}

std::vector<std::string> trade_offs_of(const MeshMove& move, const ProposalFacts& facts) {
  std::vector<std::string> trade_offs;
  for (const ReliefTerm& term : move.reliefs) {
    if (term.ratio > 1.0 + kNoticeable) {
      trade_offs.push_back(fmt::format(
          "{} x{:.2f}", describe::word_of<Traffic>(kTrafficWords, term.traffic), term.ratio));
    }
  }
  if (!move.whole_sides) {
    trade_offs.push_back(
        fmt::format("axes share a side of {}: JAX's create_device_mesh splits one only with "
                    "allow_split_physical_axes, and what runs there is a line, not a ring",
                    to_text(facts.slice.topology)));
  }
  if (facts.from && !rising_loads(*facts.from, move.mesh, facts.memory_scale).empty()) {
    trade_offs.emplace_back("compile it before it is run: a mesh that does not fit fails there");
  }
  if (facts.from && (*facts.from)[CaseAxis::kModel] == 1 && move.mesh[CaseAxis::kModel] > 1) {
    trade_offs.emplace_back("a model axis exchanges activations in every layer, which nothing did");
  }
  return trade_offs;
}

// What is missing, and whether it fits: known where no kind of load rises.
void put_memory(const CaseMesh& mesh, const ProposalFacts& facts, Verdict& verdict) {
  if (verdict.ruling != verify::Ruling::kUndecidable) {
    return;
  }
  const bool fits = facts.from && rising_loads(*facts.from, mesh, facts.memory_scale).empty();
  verdict.ground = fits ? verify::Ground::kClaims : verify::Ground::kMemory;
  verdict.reason = memory_sentence(mesh, facts);
  verdict.missing = {fits ? "the model's shape: without it nothing tells how fast it is"
                          : "the model's shape: without it nothing tells whether it fits"};
  if (!facts.asked.batch && !facts.from) {
    verdict.missing.emplace_back("the batch: whether data divides it");
  }
}

Impact impact_of(const MeshMove& move, const ProposalFacts& facts) {
  Impact impact;
  if (facts.is_same_size && facts.from) {
    impact.step =
        fmt::format("lower: {:.1f} % of the told operators' time is freed", 100.0 * move.relief);
    impact.communication = "lower";
  } else {
    impact.step = facts.from ? fmt::format("{} chips share what {} did", facts.slice.chips,
                                           facts.from->chips())
                             : "nothing to compare it with";
    impact.communication = move.relief < 0.0 ? "higher" : move.relief > 0.0 ? "lower" : "not known";
  }
  impact.duty = facts.bottleneck == diagnose::Bottleneck::kStall
                    ? "higher where what it idles for is what the move relieves"
                    : "about the same: waiting inside collectives counts as busy";
  impact.memory = memory_sentence(move.mesh, facts);
  return impact;
}

Proposal proposal_of(const CaseMesh& mesh, const std::string& title, const ProposalFacts& facts) {
  Proposal proposal;
  proposal.title = title;
  proposal.change.layout = layout_words(mesh);
  proposal.devices = facts.slice.chips;
  proposal.author = "built-in";
  return proposal;
}

// The line that makes the mesh: axes longer than one, outermost first.
std::string mesh_line(const CaseMesh& mesh) {
  std::vector<std::string> sizes;
  std::vector<std::string> names;
  for (const auto& [axis, word] : kCaseAxisWords) {
    sizes.push_back(fmt::format("{}", mesh[axis]));
    names.push_back(fmt::format("\"{}\"", word));
  }
  return fmt::format("mesh = jax.make_mesh(({}), ({}))", join(sizes, ", "), join(names, ", "));
}

Judged judged_of(Proposal proposal, const CaseMesh& mesh, const ProposalFacts& facts) {
  Judged judged;
  judged.verdict = mesh_verdict(proposal, mesh, facts);
  judged.proposal = std::move(proposal);
  judged.mesh = to_text(mesh);
  judged.run = {mesh_line(mesh)};
  return judged;
}

std::string title_of(const MeshMove& move, const ProposalFacts& facts) {
  const MeshRule& rule = facts.rules.rule(move.rule);
  return fmt::format("{}: {}", rule.title, to_text(move.mesh));
}

}  // namespace

Verdict mesh_verdict(const Proposal& proposal, const CaseMesh& mesh, const ProposalFacts& facts) {
  Verdict verdict = verify::judge_mesh(proposal, judged_facts(facts));
  put_memory(mesh, facts, verdict);
  return verdict;
}

verify::MeshFacts judged_facts(const ProposalFacts& facts) {
  verify::MeshFacts known{.chips = facts.slice.chips,
                          .topology = {facts.slice.topology.begin(), facts.slice.topology.end()},
                          .batch = facts.asked.batch,
                          .sequence_length = facts.asked.sequence_length};
  // A mesh of another size is no mesh to leave as it is, and to compare memory with it is done
  // here.
  if (facts.from && facts.is_same_size) {
    known.runs = verify::RunningMesh{.axes = layout_axes(*facts.from, false),
                                     .batch = facts.asked.batch,
                                     .sequence_length = facts.asked.sequence_length};
  }
  return known;
}

Judged judged_move(const MeshMove& move, const ProposalFacts& facts) {
  Proposal proposal = proposal_of(move.mesh, title_of(move, facts), facts);
  const MeshRule& rule = facts.rules.rule(move.rule);
  proposal.reasoning.bottleneck = fmt::format("{} {}", rule.why, relief_sentence(move));
  proposal.reasoning.memory = memory_sentence(move.mesh, facts);
  proposal.reasoning.comparison =
      facts.from ? fmt::format(
                       "{} instead of {}; tokens a chip x{:.3g}; groups that exchange in "
                       "every layer are of {} chips; {}",
                       to_text(move.mesh), to_text(*facts.from), move.tokens, move.busy_chips(),
                       score_sentence(move))
                 : score_sentence(move);
  proposal.claims = claims_of(move, facts);
  cite(rule, facts, proposal.citations);
  if (move.whole_sides) {
    cite(facts.rules.rule("whole-sides"), facts, proposal.citations);
  }
  proposal.trade_offs = trade_offs_of(move, facts);
  Judged judged = judged_of(std::move(proposal), move.mesh, facts);
  if (!move.unknown.empty()) {
    judged.verdict.missing.push_back(move.unknown);
  }
  judged.impact = impact_of(move, facts);
  return judged;
}

Judged judged_mesh(const CaseMesh& mesh, const ProposalFacts& facts) {
  return judged_of(proposal_of(mesh, "Another mesh: " + to_text(mesh), facts), mesh, facts);
}

Judged judged_refusal(const RefusedMove& refused, const ProposalFacts& facts) {
  const MeshRule& rule = facts.rules.rule(refused.rule);
  Proposal proposal =
      proposal_of(refused.mesh, fmt::format("{}: {}", rule.title, to_text(refused.mesh)), facts);
  proposal.reasoning.bottleneck = rule.why;
  proposal.reasoning.memory = memory_sentence(refused.mesh, facts);
  proposal.reasoning.comparison = refused.why;
  cite(rule, facts, proposal.citations);
  Judged judged = judged_of(std::move(proposal), refused.mesh, facts);
  judged.verdict.reason = refused.why;
  judged.verdict.ground = verify::Ground::kRules;
  if (!refused.unknown.empty()) {
    judged.verdict.missing.push_back(refused.unknown);
  }
  return judged;
}

}  // namespace sextant::agents
