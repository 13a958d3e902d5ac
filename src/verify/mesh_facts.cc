#include "verify/mesh_facts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/job_layout.h"
#include "verify/claims.h"
#include "verify/conclude.h"

namespace sextant::verify {
namespace {

using describe::MeshAxes;

std::string axes_words(const MeshAxes& axes) {
  return describe::to_text(describe::Mesh{.ici = axes, .dcn = {}});
}

bool all_positive(const MeshAxes& axes) {
  return std::min({axes.data, axes.fsdp, axes.tensor, axes.sequence, axes.expert, axes.pipeline,
                   axes.replica}) >= 1;
}

// Ranks that a batch is dealt to.
std::int64_t batch_ranks(const MeshAxes& axes) {
  return saturating_product({axes.data, axes.fsdp, axes.replica});
}

std::string topology_words(const std::vector<std::int64_t>& topology) {
  std::vector<std::string> sides;
  for (const std::int64_t side : topology) {
    sides.push_back(fmt::format("{}", side));
  }
  return join(sides, "x");
}

std::int64_t product_of(const std::vector<std::int64_t>& sides) {
  std::int64_t product = 1;
  for (const std::int64_t side : sides) {
    product = saturating_product({product, side});
  }
  return product;
}

double over(std::int64_t one, std::int64_t other) {
  return as_double(one) / as_double(other);
}

// How many times the other's tokens the one has.
double tokens_over(const MeshFacts& facts) {
  const RunningMesh& runs = *facts.runs;
  const double batch = facts.batch && runs.batch ? over(*facts.batch, *runs.batch) : 1.0;
  const bool lengths = facts.sequence_length && runs.sequence_length;
  return batch * (lengths ? over(*facts.sequence_length, *runs.sequence_length) : 1.0);
}

// Of claims without a model: that it fits as before is known where memory is.
JudgedClaim claim_without_model(const Claim& claim, const MeshMemory& memory) {
  if (claim.quantity != step::Quantity::kFits || !memory.fits) {
    return untold_claim(claim, "nothing is known of the model");
  }
  JudgedClaim judged = untold_claim(claim, memory.why);
  // The mesh that runs fits, so "higher" claims what is there already.
  judged.ruling =
      claim.direction == step::Direction::kSame ? ClaimRuling::kHolds : ClaimRuling::kRefuted;
  judged.interval = {1.0, 1.0};
  return judged;
}

}  // namespace

std::vector<Load> kinds_of_load(const MeshFacts& facts, const MeshAxes& axes) {
  const MeshAxes& runs = facts.runs->axes;
  const double tokens = tokens_over(facts) * over(batch_ranks(runs), batch_ranks(axes)) *
                        over(runs.sequence, axes.sequence) * over(runs.expert, axes.expert);
  const double split = over(runs.tensor, axes.tensor);
  const double weights = split * over(runs.pipeline, axes.pipeline) *
                         over(runs.expert, axes.expert) * over(runs.fsdp, axes.fsdp);
  const double pipelines =
      over(std::max(runs.pipeline, axes.pipeline), std::min(runs.pipeline, axes.pipeline));
  return {{"tokens a chip", tokens},
          {"tokens a chip inside a layer", tokens * split},
          {"weights a chip where tensor, expert and fsdp split them", weights},
          {"weights a chip where data and sequence split them too",
           weights * over(runs.data, axes.data) * over(runs.sequence, axes.sequence)},
          {std::string(kPipelineLoad), pipelines}};
}

MeshMemory mesh_memory(const MeshFacts& facts, const MeshAxes& axes) {
  constexpr double kRounding = 1e-9;
  if (!facts.runs) {
    return {std::nullopt,
            "no mesh is known to run",
            {"the model's shape, or a mesh that runs on such chips"}};
  }
  std::vector<std::string> rising;
  for (const Load& load : kinds_of_load(facts, axes)) {
    if (load.ratio > 1.0 + kRounding) {
      rising.push_back(fmt::format("x{:.3g} the {}", load.ratio, load.what));
    }
  }
  const std::string runs = axes_words(facts.runs->axes);
  if (rising.empty()) {
    return {true, fmt::format("no chip holds more than with {}, which runs", runs), {}};
  }
  const std::string more = join(rising, ", ");
  return {std::nullopt,
          fmt::format("against {}, which runs, a chip holds {}", runs, more),
          {fmt::format("the model's shape: whether {} fit", more)}};
}

std::optional<MeshRefusal> mesh_refusal(const MeshFacts& facts, const MeshAxes& axes) {
  if (!all_positive(axes)) {
    return MeshRefusal{Ground::kWords, "an axis has no size of at least 1"};
  }
  const std::int64_t product = axes.devices();
  if (product != facts.chips) {
    return MeshRefusal{Ground::kDevices, fmt::format("{} are {} chips; there are {}",
                                                     axes_words(axes), product, facts.chips)};
  }
  if (!facts.topology.empty() && product_of(facts.topology) != product) {
    return MeshRefusal{Ground::kDevices, fmt::format("a slice of {} has {} chips, not {}",
                                                     topology_words(facts.topology),
                                                     product_of(facts.topology), product)};
  }
  const std::int64_t ranks = batch_ranks(axes);
  if (facts.batch && *facts.batch % ranks != 0) {
    return MeshRefusal{Ground::kRules,
                       fmt::format("a batch of {} does not divide over data · fsdp · replica = {}",
                                   *facts.batch, ranks)};
  }
  if (facts.sequence_length && *facts.sequence_length % axes.sequence != 0) {
    return MeshRefusal{Ground::kRules, fmt::format("{} tokens do not divide over sequence={}",
                                                   *facts.sequence_length, axes.sequence)};
  }
  return std::nullopt;
}

Result<MeshAxes> proposed_axes(const Change& change) {
  const describe::LayoutWords words = describe::split_layout(change.layout);
  if (words.mesh.empty()) {
    return invalid(fmt::format("'{}' is no mesh", printable(change.layout)), "‹layout›",
                   "such as 'ici:data=8,tensor=4'");
  }
  SEXTANT_TRY(const describe::Mesh mesh, describe::parse_mesh(words.mesh));
  const auto times = [&mesh](std::int64_t MeshAxes::* axis) {
    return saturating_product({mesh.ici.*axis, mesh.dcn.*axis});
  };
  return MeshAxes{.data = times(&MeshAxes::data),
                  .fsdp = times(&MeshAxes::fsdp),
                  .tensor = times(&MeshAxes::tensor),
                  .sequence = times(&MeshAxes::sequence),
                  .expert = times(&MeshAxes::expert),
                  .pipeline = times(&MeshAxes::pipeline),
                  .replica = times(&MeshAxes::replica)};
}

Verdict judge_mesh(const Proposal& proposal, const MeshFacts& facts) {
  const auto axes = proposed_axes(proposal.change);
  if (!axes) {
    return ended({}, Ruling::kRejected, Ground::kWords, sextant::to_text(axes.error()));
  }
  if (proposal.devices && *proposal.devices != facts.chips) {
    return ended(
        {}, Ruling::kRejected, Ground::kDevices,
        fmt::format("it says it runs on {} chips; there are {}", *proposal.devices, facts.chips));
  }
  if (const auto refusal = mesh_refusal(facts, *axes)) {
    return ended({}, Ruling::kRejected, refusal->ground, refusal->why);
  }
  if (facts.runs && facts.runs->axes == *axes) {
    return ended({}, Ruling::kRejected, Ground::kWords, "it changes nothing: the job has it so");
  }
  MeshMemory memory = mesh_memory(facts, *axes);
  Verdict verdict;
  for (const Claim& claim : proposal.claims) {
    verdict.claims.push_back(claim_without_model(claim, memory));
    if (verdict.claims.back().ruling == ClaimRuling::kRefuted) {
      std::string why = verdict.claims.back().why;
      return ended(std::move(verdict), Ruling::kRejected, Ground::kClaims, std::move(why));
    }
  }
  verdict.missing = std::move(memory.missing);
  if (verdict.missing.empty()) {
    verdict.missing.emplace_back("the model's shape: without it nothing tells how fast it is");
  }
  return ended(std::move(verdict), Ruling::kUndecidable,
               memory.fits ? Ground::kClaims : Ground::kMemory, std::move(memory.why));
}

}  // namespace sextant::verify
