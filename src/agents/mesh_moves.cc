#include "agents/mesh_moves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sextant::agents {
namespace {

// Below a twentieth of the time of five operators among hundreds a move has nothing to go by.
constexpr double kWorthwhile = 0.05;
constexpr std::array<CaseAxis, 4> kCaseAxes{CaseAxis::kReplica, CaseAxis::kData, CaseAxis::kSeq,
                                            CaseAxis::kModel};

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i == 0) {
      divisors.push_back(i);
      if (i != number / i) {
        divisors.push_back(number / i);
      }
    }
  }
  std::ranges::sort(divisors);
  return divisors;
}

// All meshes of those chips with that replica axis, or one.
std::vector<CaseMesh> meshes_of(std::int64_t chips, std::int64_t replica) {
  std::vector<CaseMesh> meshes;
  if (chips % replica != 0) {
    replica = 1;
  }
  const std::int64_t rest = chips / replica;
  const std::vector<std::int64_t> divisors = divisors_of(rest);
  for (const std::int64_t data : divisors) {
    for (const std::int64_t seq : divisors) {
      if ((rest / data) % seq == 0) {
        meshes.push_back({{replica, data, seq, rest / data / seq}});
      }
    }
  }
  return meshes;
}

struct AxisChange {
  std::optional<CaseAxis> giver;     // the one that gives most
  std::optional<CaseAxis> receiver;  // the one that takes most
  int changed = 0;
  double doublings = 0.0;  // beyond what the number of chips asks for
};

AxisChange axis_change(const CaseMesh& from, const CaseMesh& to) {
  AxisChange change;
  double all = 0.0;
  double least = 0.0;
  double most = 0.0;
  for (const CaseAxis axis : kCaseAxes) {
    const double doublings =
        std::log2(static_cast<double>(to[axis]) / static_cast<double>(from[axis]));
    all += std::abs(doublings);
    change.changed += from[axis] == to[axis] ? 0 : 1;
    if (doublings < least) {
      least = doublings;
      change.giver = axis;
    }
    if (doublings > most) {
      most = doublings;
      change.receiver = axis;
    }
  }
  const double asked =
      std::abs(std::log2(static_cast<double>(to.chips()) / static_cast<double>(from.chips())));
  change.doublings = (all - asked) / 2.0;
  return change;
}

std::string rule_of(const AxisChange& change, bool is_same_size) {
  if (!is_same_size || !change.giver || !change.receiver) {
    return "other-slice";
  }
  const auto word = [](CaseAxis axis) {
    return axis == CaseAxis::kSeq ? "sequence" : axis == CaseAxis::kModel ? "model" : "data";
  };
  return fmt::format("{}-to-{}", word(*change.giver), word(*change.receiver));
}

RefusedMove long_model(const CaseMesh& mesh, const MeshSlice& slice) {
  return {.mesh = mesh,
          .rule = "model-axis-bound",
          .why = fmt::format("a model axis of {} waits for its links on {}: {} is as long as a "
                             "wide model may have",
                             mesh[CaseAxis::kModel], slice.device, slice.longest_model)};
}

// Tokens of a sequence that one part of the seq axis holds.
double block_of(std::int64_t length, const CaseMesh& mesh) {
  return static_cast<double>(length) / static_cast<double>(mesh[CaseAxis::kSeq]);
}

// Of a mesh with a longer seq axis than runs: are its blocks long enough to hide their exchange?
std::optional<RefusedMove> short_blocks(const CaseMesh& mesh, const Case& asked,
                                        const MeshSlice& slice) {
  if (!asked.sequence_length) {
    return RefusedMove{
        .mesh = mesh,
        .rule = "hidden-ring",
        .why = "the seq axis is lengthened only where the sequence length is known",
        .unknown = "the sequence length: whether blocks are long enough to hide their exchange"};
  }
  const double block = block_of(*asked.sequence_length, mesh);
  if (block >= slice.hidden_block) {
    return std::nullopt;
  }
  return RefusedMove{.mesh = mesh,
                     .rule = "hidden-ring",
                     .why = fmt::format("blocks of {:.0f} tokens are too short to hide their "
                                        "exchange on {}: {:.0f} are needed",
                                        block, slice.device, slice.hidden_block)};
}

class MoveSearch {
 public:
  explicit MoveSearch(const MoveFacts& facts)
      : facts_(facts), is_same_size_(facts.from.chips() == facts.slice.chips) {}

  Moves moves() {
    Moves moves;
    moves.is_same_size = is_same_size_;
    for (const CaseMesh& mesh : candidates()) {
      auto [move, refused] = assess(mesh);
      if (is_idle(move)) {
        continue;
      }
      if (refused) {
        if (!refused->unknown.empty()) {
          moves.unknown.push_back(std::move(move));
        }
        moves.refused.push_back(std::move(*refused));
      } else {
        moves.ranked.push_back(std::move(move));
      }
    }
    std::ranges::stable_sort(moves.ranked, stands_first);
    std::ranges::stable_sort(moves.refused, std::greater<>(), &RefusedMove::relief);
    std::ranges::stable_sort(moves.unknown, stands_first);
    return moves;
  }

  [[nodiscard]] AssessedMesh assess(const CaseMesh& mesh) const {
    AssessedMesh found{.move = move_to(mesh, axis_change(facts_.from, mesh)), .refused = {}};
    found.refused = refusal(mesh, found.move.relief);
    if (found.refused) {
      found.move.unknown = found.refused->unknown;
    }
    return found;
  }

 private:
  // Near ones; of a given choice all that are another mesh.
  [[nodiscard]] std::vector<CaseMesh> candidates() const {
    const std::vector<CaseMesh>& among = facts_.wishes.among;
    std::vector<CaseMesh> meshes =
        among.empty() ? meshes_of(facts_.slice.chips, facts_.from[CaseAxis::kReplica]) : among;
    std::erase_if(meshes, [&](const CaseMesh& mesh) {
      return mesh.chips() != facts_.slice.chips || mesh == facts_.from ||
             !facts_.wishes.allows(mesh) ||
             (among.empty() && !is_near(axis_change(facts_.from, mesh)));
    });
    return meshes;
  }

  // A move that frees nothing is none; who gives the choice wants to see all of it.
  [[nodiscard]] bool is_idle(const MeshMove& move) const {
    return is_same_size_ && facts_.wishes.among.empty() && move.relief < kWorthwhile;
  }

  [[nodiscard]] bool is_near(const AxisChange& change) const {
    constexpr double kRounding = 1e-9;
    return is_same_size_ ? change.changed == 2 : change.doublings <= 1.0 + kRounding;
  }

  static bool stands_first(const MeshMove& one, const MeshMove& other) {
    constexpr double kEqual = 1e-9;
    if (std::abs(one.score - other.score) > kEqual) {
      return one.score > other.score;
    }
    if (one.busy_chips() != other.busy_chips()) {
      return one.busy_chips() < other.busy_chips();
    }
    return one.mesh.sizes > other.mesh.sizes;
  }

  [[nodiscard]] bool hides_sequence(const CaseMesh& mesh) const {
    const auto length = facts_.profiled.sequence_length;
    return length && facts_.bottleneck == diagnose::Bottleneck::kCompute &&
           block_of(*length, mesh) >= facts_.slice.hidden_block;
  }

  [[nodiscard]] MeshMove move_to(const CaseMesh& mesh, const AxisChange& change) const {
    MeshMove move{.mesh = mesh,
                  .rule = rule_of(change, is_same_size_),
                  .reliefs = {},
                  .tokens = token_ratio(facts_.from, mesh),
                  .whole_sides = takes_whole_sides(mesh, facts_.slice.topology),
                  .terms = {}};
    for (const Blame& blame : facts_.blames.by_share) {
      const bool hidden = blame.traffic == Traffic::kSequence && hides_sequence(mesh);
      const double ratio = hidden ? 0.0 : traffic_ratio(blame.traffic, facts_.from, mesh);
      move.reliefs.push_back({blame.traffic, ratio, blame.share * (1.0 - ratio)});
      move.relief += move.reliefs.back().points;
    }
    score(move, change);
    return move;
  }

  void score(MeshMove& move, const AxisChange& change) const {
    constexpr double kHalf = 0.5;
    // On another slice something must change: what is freed or added is weighed against a whole.
    const double relief = is_same_size_ ? move.relief : std::max(0.0, 1.0 + move.relief);
    move.terms.push_back({"relief", relief});
    const double further = is_same_size_ ? change.doublings - 1.0 : change.doublings;
    move.terms.push_back({"distance", std::pow(kHalf, std::max(0.0, further))});
    move.terms.push_back({"torus", move.whole_sides ? 1.0 : kHalf});
    move.terms.push_back({"memory", chance_of_fit(move.mesh)});
    if (is_filled_by_activations()) {
      move.terms.push_back({"tokens", 1.0 / std::max(1.0, move.tokens * facts_.memory_scale)});
    }
    move.score = 1.0;
    for (const ScoreTerm& term : move.terms) {
      move.score *= term.factor;
    }
  }

  [[nodiscard]] double chance_of_fit(const CaseMesh& mesh) const {
    double sum = 0.0;
    const std::vector<verify::Load> loads = mesh_loads(facts_.from, mesh, facts_.memory_scale);
    for (const verify::Load& load : loads) {
      sum += 1.0 / std::max(1.0, load.ratio);
    }
    return sum / static_cast<double>(loads.size());
  }

  // One sequence or less a part of the batch, and no axis longer than the one that splits it.
  [[nodiscard]] bool is_filled_by_activations() const {
    const std::int64_t seq = facts_.from[CaseAxis::kSeq];
    return facts_.profiled.batch && *facts_.profiled.batch <= facts_.from.batch_parts() &&
           seq > 1 && seq >= facts_.from[CaseAxis::kModel];
  }

  [[nodiscard]] std::optional<RefusedMove> refusal(const CaseMesh& mesh, double relief) const {
    if (auto illegal = illegal_mesh(mesh, facts_.profiled)) {
      illegal->relief = relief;
      return illegal;
    }
    const CaseMesh& from = facts_.from;
    if (mesh.batch_parts() > from.batch_parts() && !facts_.profiled.batch) {
      return RefusedMove{.mesh = mesh,
                         .rule = "batch-bounds-data",
                         .why = "the data axis is lengthened only where the batch is known",
                         .unknown = "the batch: whether data divides it",
                         .relief = relief};
    }
    std::optional<RefusedMove> refused;
    if (mesh[CaseAxis::kModel] > std::max(from[CaseAxis::kModel], facts_.slice.longest_model)) {
      refused = long_model(mesh, facts_.slice);
    } else if (mesh[CaseAxis::kSeq] > from[CaseAxis::kSeq]) {
      refused = short_blocks(mesh, facts_.profiled, facts_.slice);
    }
    if (refused) {
      refused->relief = relief;
    }
    return refused;
  }

  const MoveFacts& facts_;
  bool is_same_size_;
};

}  // namespace

std::vector<verify::Load> mesh_loads(const CaseMesh& from, const CaseMesh& mesh,
                                     double memory_scale) {
  std::vector<verify::Load> loads;
  for (const bool data_shards : {false, true}) {
    const verify::MeshFacts known{
        .chips = mesh.chips(), .runs = verify::RunningMesh{.axes = layout_axes(from, data_shards)}};
    for (verify::Load& load : verify::kinds_of_load(known, layout_axes(mesh, data_shards))) {
      if (load.what == verify::kPipelineLoad) {
        continue;  // a case has no stages
      }
      load.ratio *= memory_scale;
      loads.push_back(std::move(load));
    }
  }
  return loads;
}

Moves moves_of(const MoveFacts& facts) {
  return MoveSearch(facts).moves();
}

std::optional<RefusedMove> illegal_mesh(const CaseMesh& mesh, const Case& asked) {
  if (asked.batch && *asked.batch % mesh.batch_parts() != 0) {
    return RefusedMove{.mesh = mesh,
                       .rule = "batch-bounds-data",
                       .why = fmt::format("{} parts do not divide a batch of {} sequences",
                                          mesh.batch_parts(), *asked.batch)};
  }
  if (asked.sequence_length && *asked.sequence_length % mesh[CaseAxis::kSeq] != 0) {
    return RefusedMove{.mesh = mesh,
                       .rule = "hidden-ring",
                       .why = fmt::format("{} parts do not divide a sequence of {} tokens",
                                          mesh[CaseAxis::kSeq], *asked.sequence_length)};
  }
  return std::nullopt;
}

AssessedMesh assessed(const MoveFacts& facts, const CaseMesh& mesh) {
  return MoveSearch(facts).assess(mesh);
}

AssessedMesh assessed_first(const Case& asked, const MeshSlice& slice, const CaseMesh& mesh) {
  const std::int64_t seq = mesh[CaseAxis::kSeq];
  AssessedMesh found{.move = {.mesh = mesh,
                              .rule = "from-nothing",
                              .reliefs = {},
                              .whole_sides = takes_whole_sides(mesh, slice.topology),
                              .terms = {}},
                     .refused = illegal_mesh(mesh, asked)};
  // Each doubling of an axis that exchanges in every layer is one more to be paid for.
  constexpr double kHalf = 0.5;
  const double busy = std::log2(static_cast<double>(seq * mesh[CaseAxis::kModel]));
  found.move.terms = {{"axes that exchange in every layer", 1.0 / (1.0 + busy)},
                      {"torus", found.move.whole_sides ? 1.0 : kHalf}};
  found.move.score = found.move.terms[0].factor * found.move.terms[1].factor;
  if (!found.refused && mesh[CaseAxis::kModel] > slice.longest_model) {
    found.refused = long_model(mesh, slice);
  }
  if (!found.refused && seq > 1) {
    found.refused = short_blocks(mesh, asked, slice);
  }
  return found;
}

Moves first_meshes(const Case& asked, const MeshSlice& slice, const CaseWishes& wishes) {
  Moves moves;
  for (const CaseMesh& mesh : wishes.among.empty() ? meshes_of(slice.chips, 1) : wishes.among) {
    if (mesh.chips() != slice.chips || !wishes.allows(mesh)) {
      continue;
    }
    AssessedMesh found = assessed_first(asked, slice, mesh);
    if (found.refused) {
      moves.refused.push_back(std::move(*found.refused));
    } else {
      moves.ranked.push_back(std::move(found.move));
    }
  }
  std::ranges::stable_sort(moves.ranked, [](const MeshMove& one, const MeshMove& other) {
    return one.score > other.score;
  });
  return moves;
}

}  // namespace sextant::agents
