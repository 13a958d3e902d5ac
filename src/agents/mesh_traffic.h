// What a mesh makes a chip exchange and stream, as far as that follows from its axes alone, and
// which of it the told operators of a run wait for.
//
// Of each kind only the ratio between two meshes of one job is used: batch, lengths and widths
// cancel. With R, D, Q, M chips in replica, data, seq and model, a chip and a step:
//   tensor      activations summed or gathered in every layer   tokens × (M − 1) / M, over R D Q
//   sequence    keys and values of the other blocks             tokens × (Q − 1) / Q / M, over R D
//   gradients   gradient sums, and gathers of sharded weights   weights / M × (g − 1) / g, g = R D
//   Q weights     weights streamed from memory                    weights / M
// Sources: Megatron-LM (arXiv:1909.08053) and the scaling book's chapter on training for the first
// and third; MaxText's sharding guide, context parallelism, for the second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/case_file.h"
#include "agents/mesh_axes.h"
#include "agents/mesh_slice.h"
#include "describe/words.h"
#include "diagnose/finding.h"

namespace sextant::agents {

enum class Traffic : std::uint8_t { kTensor, kSequence, kGradients, kWeights };
inline constexpr std::array<describe::Word<Traffic>, 4> kTrafficWords{
    {{Traffic::kTensor, "activations of the model axis"},
     {Traffic::kSequence, "exchange of the seq axis"},
     {Traffic::kGradients, "gradients and gathered weights"},
     {Traffic::kWeights, "weights that every chip streams whole"}}};

// After over before; 1 where there was none before. REQUIRES: sizes are at least 1.
double traffic_ratio(Traffic traffic, const CaseMesh& before, const CaseMesh& after);
// Tokens a chip, after over before.
double token_ratio(const CaseMesh& before, const CaseMesh& after);

// What of the told operators' time waits for one kind of traffic.
struct Blame {
  Traffic traffic = Traffic::kTensor;
  double share = 0.0;  // of the told operators' time
  std::vector<std::string> operators;
};

struct BlameFacts {
  const Case& profiled;
  CaseMesh mesh;  // that it was recorded on
  diagnose::Bottleneck bottleneck = diagnose::Bottleneck::kCompute;
  double hidden_block = 0.0;  // mesh_slice.h, of the device it was recorded on
};

struct Blames {
  std::vector<Blame> by_share;       // the most first; none of no time
  std::vector<std::string> remarks;  // what was not blamed, and why
  // The seq axis passes blocks long enough to hide it; nothing: the sequence length is not known.
  std::optional<bool> is_sequence_hidden;
  // Gradients are summed whole (all-reduce): every part of the batch has a copy of the weights.
  bool are_weights_copied = false;
};
Blames blames_of(const BlameFacts& facts);

}  // namespace sextant::agents
