// JAX mesh form of a layout: sizes of named axes inside a slice (ICI) and between slices (DCN).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/integers.h"
#include "base/result.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

struct MeshAxes {
  std::int64_t data = 1;
  std::int64_t fsdp = 1;
  std::int64_t tensor = 1;
  std::int64_t sequence = 1;  // tensor-sequence: the context is split
  std::int64_t expert = 1;
  std::int64_t pipeline = 1;
  std::int64_t replica = 1;  // whole copies (HSDP's outer axis)
  bool operator==(const MeshAxes&) const = default;
  [[nodiscard]] std::int64_t devices() const {
    return saturating_product({data, fsdp, tensor, sequence, expert, pipeline, replica});
  }
};

struct Mesh {
  MeshAxes ici;
  MeshAxes dcn;
  bool operator==(const Mesh&) const = default;
};

// "fsdp=64,tensor=4" or "ici:fsdp=64,tensor=4;dcn:data=2".
Result<Mesh> parse_mesh(std::string_view text);
std::string to_text(const Mesh& mesh);

// The axes of a Layout: tensor → tp, sequence → cp, expert → ep, pipeline → pp; data, fsdp and
// replica (and expert, which is carved out of data parallelism) → dp, sharded (ZeRO-3) over fsdp.
Layout with_mesh(Layout layout, const Mesh& mesh);

}  // namespace sextant::describe
