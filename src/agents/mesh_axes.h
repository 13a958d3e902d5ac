// The mesh of a job whose model is confidential: four named axes over the chips of one slice.
//
// What the names mean, as far as anything rests on it: replica and data split the batch, seq splits
// each sequence, model splits every matrix. Whether data (or seq) shards weights too is not known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/integers.h"
#include "describe/layout/mesh.h"
#include "describe/words.h"

namespace sextant::agents {

enum class CaseAxis : std::uint8_t { kReplica, kData, kSeq, kModel };
inline constexpr std::array<describe::Word<CaseAxis>, 4> kCaseAxisWords{
    {{CaseAxis::kReplica, "replica"},
     {CaseAxis::kData, "data"},
     {CaseAxis::kSeq, "seq"},
     {CaseAxis::kModel, "model"}}};

struct CaseMesh {
  std::array<std::int64_t, kCaseAxisWords.size()> sizes{1, 1, 1, 1};

  [[nodiscard]] std::int64_t operator[](CaseAxis axis) const {
    return sizes[static_cast<std::size_t>(axis)];
  }
  std::int64_t& operator[](CaseAxis axis) { return sizes[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t chips() const {
    return saturating_product({sizes[0], sizes[1], sizes[2], sizes[3]});
  }
  // Parts that a batch is split into.
  [[nodiscard]] std::int64_t batch_parts() const {
    return saturating_product({sizes[0], sizes[1]});
  }
  bool operator==(const CaseMesh&) const = default;
};

// "data=16,seq=4,model=8": axes longer than one, "data=1" where none is.
std::string to_text(const CaseMesh& mesh);

// In the words of a layout: model is tensor, seq is sequence. `data_shards`: the data axis shards
// weights (fsdp); else it holds copies of them.
describe::MeshAxes layout_axes(const CaseMesh& mesh, bool data_shards);
// "ici:data=16,tensor=8,sequence=4": data as it is called.
std::string layout_words(const CaseMesh& mesh);

// Every mesh of these chips with sizes that are powers of two; C(k + 3, 3) of 2^k chips. Empty
// where the chips are no power of two.
std::vector<CaseMesh> power_of_two_meshes(std::int64_t chips);

}  // namespace sextant::agents
