// One table of axes: what each means for a layout. Sizes inside and between slices multiply; who
// crosses slices is the layout's order of ranks (describe/layout/mesh.h).
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/cluster/torus.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"
#include "emit/maxtext_parts.h"

namespace sextant::emit::maxtext {
namespace {

constexpr std::string_view kContextStrategy = "context_parallel_strategy";
constexpr std::string_view kShardOptimizer = "shard_optimizer_over_data";
constexpr std::string_view kGatherOnce = "pipeline_fsdp_ag_once";

enum class Role {
  kPipeline,
  kData,
  kFsdp,
  kExpert,
  kContext,
  kUlysses,
  kTensor,
  kTensorSequence,
  kIgnored,
};
constexpr std::size_t kRoles = 9;

struct MeshAxis {
  std::string_view name;
  Role role;
  std::string_view field;
  bool written = true;  // others are older or rarer names of the same role
};
constexpr std::array kMeshAxes{
    MeshAxis{"pipeline", Role::kPipeline, "pp"},
    MeshAxis{"data", Role::kData, "dp"},
    MeshAxis{"fsdp", Role::kFsdp, "dp"},
    MeshAxis{"expert", Role::kExpert, "ep"},
    MeshAxis{"context", Role::kContext, "cp"},
    MeshAxis{"context_usp_ulysses", Role::kUlysses, "cp_inner"},
    MeshAxis{"tensor", Role::kTensor, "tp"},
    MeshAxis{"tensor_sequence", Role::kTensorSequence, "tp"},
    MeshAxis{"diloco", Role::kData, "dp", false},
    MeshAxis{"fsdp_transpose", Role::kFsdp, "dp", false},
    MeshAxis{"sequence", Role::kContext, "cp", false},
    MeshAxis{"tensor_transpose", Role::kTensor, "tp", false},
    MeshAxis{"context_autoregressive", Role::kIgnored, "", false},
    MeshAxis{"autoregressive", Role::kIgnored, "", false},
};

constexpr std::array<describe::Word<describe::CpMethod>, 4> kContextStrategyWords{
    {{describe::CpMethod::kAllGather, "all_gather"},
     {describe::CpMethod::kP2pRing, "ring"},
     {describe::CpMethod::kAllToAll, "ulysses"},
     {describe::CpMethod::kAllToAllP2p, "usp"}}};

using Sizes = std::array<std::int64_t, kRoles>;

std::int64_t& of(Sizes& sizes, Role role) {
  return sizes[static_cast<std::size_t>(role)];
}

std::string axis_key(bool inside, std::string_view name) {
  return fmt::format("{}_{}_parallelism", inside ? "ici" : "dcn", name);
}

// The size of a mesh that a role is a part of; nothing where it is none.
std::int64_t describe::MeshAxes::* member_of(Role role) {
  switch (role) {
    case Role::kPipeline:
      return &describe::MeshAxes::pipeline;
    case Role::kData:
      return &describe::MeshAxes::data;
    case Role::kFsdp:
      return &describe::MeshAxes::fsdp;
    case Role::kExpert:
      return &describe::MeshAxes::expert;
    case Role::kContext:
    case Role::kUlysses:
      return &describe::MeshAxes::sequence;
    case Role::kTensor:
    case Role::kTensorSequence:
      return &describe::MeshAxes::tensor;
    case Role::kIgnored:
      break;
  }
  return nullptr;
}

// Sizes over the whole job.
Sizes sizes_of(const describe::Layout& at, const describe::Mesh& mesh) {
  Sizes sizes;
  sizes.fill(1);
  of(sizes, Role::kPipeline) = mesh.ici.pipeline * mesh.dcn.pipeline;
  of(sizes, Role::kData) = mesh.ici.data * mesh.dcn.data;
  of(sizes, Role::kFsdp) = mesh.ici.fsdp * mesh.dcn.fsdp;
  of(sizes, Role::kExpert) = mesh.ici.expert * mesh.dcn.expert;
  of(sizes, at.sp ? Role::kTensorSequence : Role::kTensor) = at.tp;
  of(sizes, Role::kContext) = at.cp;
  if (at.cp > 1 && at.cp_method == describe::CpMethod::kAllToAllP2p) {
    const std::int64_t inner = std::gcd(at.cp, at.cp_inner > 0 ? at.cp_inner : at.cp);
    of(sizes, Role::kUlysses) = inner;
    of(sizes, Role::kContext) = at.cp / inner;
  }
  return sizes;
}

// The mesh as the file has it.
struct MeshLevel {
  std::array<std::int64_t, kMeshAxes.size()> sizes{};
  std::optional<std::size_t> open;  // the axis that takes what is left (-1)
  [[nodiscard]] std::int64_t product() const {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
      product = saturating_product({product, size});
    }
    return product;
  }
};

MeshLevel read_level(SettingReader& reader, bool inside) {
  MeshLevel level;
  for (std::size_t i = 0; i < kMeshAxes.size(); ++i) {
    const std::string key = axis_key(inside, kMeshAxes[i].name);
    const std::int64_t silent = kMeshAxes[i].name == (inside ? "fsdp" : "data") ? -1 : 1;
    std::int64_t size = reader.whole(key, -1, describe::kMostDevices).value_or(silent);
    if (size < 1 && level.open) {
      reader.unresolved(key, "a second axis of -1; read as 1");
    } else if (size < 1) {
      level.open = i;
    }
    level.sizes[i] = std::max<std::int64_t>(1, size);
  }
  return level;
}

// "v6e-256": chips of one slice. v4 and v5p are named for their cores, two a chip.
std::optional<std::int64_t> chips_of_topology(std::string_view topology) {
  const std::size_t dash = topology.find('-');
  const auto count =
      dash == std::string_view::npos ? std::nullopt : to_integer(topology.substr(dash + 1));
  const std::string_view kind = topology.substr(0, dash);
  if (!count || *count < 1 || *count > describe::kMostDevices) {
    return std::nullopt;
  }
  return kind == "v4" || kind == "v5p" ? *count / 2 : *count;
}

void fill(SettingReader& reader, MeshLevel& level, bool inside, std::int64_t total) {
  const std::int64_t rest = level.product();
  const std::size_t at = level.open.value_or(0);
  if (rest < 1 || total % rest != 0) {
    reader.unresolved(axis_key(inside, kMeshAxes[at].name),
                      fmt::format("the other axes take {}, which does not divide {}", rest, total));
    return;
  }
  level.sizes[at] = total / rest;
  level.open.reset();
}

// Both levels with their -1 filled as far as the devices are known.
struct FilledMesh {
  MeshLevel ici;
  MeshLevel dcn;
};

FilledMesh read_mesh(SettingReader& reader, Reading& reading) {
  FilledMesh mesh{read_level(reader, true), read_level(reader, false)};
  auto slices = reader.whole("num_slices", -1, describe::kMostDevices);
  if (!slices || *slices < 1) {
    slices = reader.whole("compile_topology_num_slices", -1, describe::kMostDevices);
  }
  if (mesh.dcn.open) {
    // Nothing said: one slice.
    fill(reader, mesh.dcn, false, slices && *slices > 0 ? *slices : mesh.dcn.product());
    mesh.dcn.open.reset();
  }
  reading.devices = reader.launched("devices");
  reading.devices_per_node = reader.launched("devices_per_node");
  const auto chips = chips_of_topology(reader.text("compile_topology").value_or(""));
  if (!reading.devices && chips) {
    reading.devices = saturating_product({*chips, mesh.dcn.product()});
    reader.fact("devices", std::to_string(*reading.devices), "compile_topology");
  }
  const std::int64_t outside = mesh.dcn.product();
  if (mesh.ici.open && reading.devices && *reading.devices % outside == 0) {
    fill(reader, mesh.ici, true, *reading.devices / outside);
  }
  if (mesh.ici.open) {
    reading.least_devices = saturating_product({mesh.ici.product(), outside});
  } else {
    const std::int64_t said = saturating_product({mesh.ici.product(), outside});
    if (reading.devices && *reading.devices != said) {
      reading.unresolved.push_back(
          {"the mesh",
           fmt::format("its axes take {} devices, the job has {}", said, *reading.devices),
           {}});
    }
    reading.devices = said;
  }
  return mesh;
}

using FieldValues = std::vector<std::pair<std::string_view, std::string>>;

// What the field of an axis comes to; dp only where the devices are known.
void say_axis(SettingReader& reader, const MeshAxis& axis, bool inside, const FieldValues& values,
              const describe::Layout& at) {
  if (axis.field == "dp" && at.dp == 0) {
    return;
  }
  const auto value =
      std::ranges::find(values, axis.field, [](const auto& pair) { return pair.first; });
  if (value != values.end()) {
    reader.fact(axis.field, value->second, axis_key(inside, axis.name));
  }
}

// Each axis is said with what its field comes to.
void say(SettingReader& reader, const FilledMesh& mesh, const describe::Layout& at) {
  const FieldValues values = describe::layout_values(at);
  for (std::size_t i = 0; i < kMeshAxes.size(); ++i) {
    for (const bool inside : {true, false}) {
      const MeshAxis& axis = kMeshAxes[i];
      const std::int64_t size = (inside ? mesh.ici : mesh.dcn).sizes[i];
      if (axis.role != Role::kIgnored) {
        say_axis(reader, axis, inside, values, at);
      } else if (size > 1) {
        reader.unresolved(axis_key(inside, axis.name), "an axis for inference; left out");
      }
    }
  }
}

void read_context_strategy(SettingReader& reader, describe::Layout& at, std::int64_t ulysses) {
  const auto strategy = reader.word<describe::CpMethod>(kContextStrategy, kContextStrategyWords)
                            .value_or(describe::CpMethod::kAllGather);
  if (at.cp == 1) {
    return;
  }
  at.cp_method = strategy;
  at.cp_inner = strategy == describe::CpMethod::kAllToAllP2p ? ulysses : 0;
  reader.fact(
      "cp_method",
      std::string(describe::word_of<describe::CpMethod>(describe::kCpMethodWords, strategy)),
      kContextStrategy);
}

describe::Mesh as_mesh(const FilledMesh& filled) {
  describe::Mesh mesh;
  for (std::size_t i = 0; i < kMeshAxes.size(); ++i) {
    if (const auto member = member_of(kMeshAxes[i].role)) {
      mesh.ici.*member = saturating_product({mesh.ici.*member, filled.ici.sizes[i]});
      mesh.dcn.*member = saturating_product({mesh.dcn.*member, filled.dcn.sizes[i]});
    }
  }
  return mesh;
}

// Who crosses slices.
void read_order(SettingReader& reader, Reading& reading, const describe::Mesh& mesh) {
  if (mesh.dcn.devices() == 1) {
    return;
  }
  const describe::MeshOrder read = describe::order_of(mesh);
  reading.layout.order = read.order;
  std::vector<std::string> words;
  for (const describe::Axis axis : read.order) {
    words.emplace_back(describe::word_of<describe::Axis>(describe::kAxisWords, axis));
  }
  const std::string order = join(words, "-");
  for (const MeshAxis& axis : kMeshAxes) {
    const auto member = member_of(axis.role);
    if (member != nullptr && mesh.dcn.*member > 1) {
      reader.fact("order", order, axis_key(false, axis.name));
    }
  }
  if (!read.exact) {
    reading.unresolved.push_back(
        {"the mesh",
         fmt::format("no order of ranks has just these axes cross slices; read as {}", order),
         {}});
  }
}

// `known`: no axis is still open.
void read_mesh_sharding(SettingReader& reader, describe::Layout& at, Sizes sizes, bool known) {
  const std::int64_t copies = of(sizes, Role::kData);
  const std::int64_t shard = saturating_product({of(sizes, Role::kFsdp), at.cp, at.ep});
  const bool over_data = reader.flag(kShardOptimizer).value_or(false);
  if (shard > 1 || !known) {
    at.zero = describe::Zero::kParameters;
    at.zero_group = copies > 1 && known ? shard : 0;
    for (const bool inside : {true, false}) {
      reader.fact("zero", "3", axis_key(inside, "fsdp"));
    }
  } else if (over_data && copies > 1) {
    at.zero = describe::Zero::kOptimizer;
    reader.fact("zero", "1", kShardOptimizer);
  }
  if (at.zero == describe::Zero::kParameters && at.pp > 1 &&
      reader.flag(kGatherOnce).value_or(false)) {
    at.reshard_after_forward = false;
    reader.fact("reshard", "0", kGatherOnce);
  }
}

}  // namespace

bool is_axis(std::string_view key) {
  return std::any_of(kMeshAxes.begin(), kMeshAxes.end(), [&](const MeshAxis& axis) {
    return key == axis_key(true, axis.name) || key == axis_key(false, axis.name);
  });
}

std::vector<std::string_view> axis_names() {
  std::vector<std::string_view> names;
  for (const MeshAxis& axis : kMeshAxes) {
    names.push_back(axis.name);
  }
  return names;
}

KnownKeys axis_keys() {
  KnownKeys known;
  for (const MeshAxis& axis : kMeshAxes) {
    known.keys.push_back(axis_key(true, axis.name));
    known.keys.push_back(axis_key(false, axis.name));
  }
  return known;
}

void write_axes(const describe::Job& job, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  out.text("hardware", describe::is_torus(job.cluster) ? "tpu" : "gpu");
  const describe::Mesh mesh = describe::mesh_of(job);
  Sizes sizes = sizes_of(at, mesh);
  describe::MeshAxes left = mesh.dcn;  // of two axes that share a size the first crosses first
  std::vector<std::pair<std::string_view, std::int64_t>> crossing;
  for (const MeshAxis& axis : kMeshAxes) {
    if (!axis.written) {
      continue;
    }
    std::int64_t& slices = left.*member_of(axis.role);
    const std::int64_t across = std::gcd(of(sizes, axis.role), slices);
    slices /= across;
    crossing.emplace_back(axis.name, across);
    out.whole(axis_key(true, axis.name), of(sizes, axis.role) / across);
  }
  for (const auto& [name, across] : crossing) {
    out.whole(axis_key(false, name), across);
  }
  if (at.cp > 1) {
    out.text(kContextStrategy,
             describe::word_of<describe::CpMethod>(kContextStrategyWords, at.cp_method));
  }
  out.flag(kShardOptimizer,
           at.zero == describe::Zero::kOptimizer || at.zero == describe::Zero::kGradients);
  if (at.pp > 1) {
    out.flag(kGatherOnce, at.zero == describe::Zero::kParameters && !at.reshard_after_forward);
  }
}

void read_axes(SettingReader& reader, Reading& reading) {
  const FilledMesh mesh = read_mesh(reader, reading);
  Sizes sizes;
  sizes.fill(1);
  for (std::size_t i = 0; i < kMeshAxes.size(); ++i) {
    std::int64_t& size = of(sizes, kMeshAxes[i].role);
    size = saturating_product({size, mesh.ici.sizes[i], mesh.dcn.sizes[i]});
  }
  describe::Layout& at = reading.layout;
  at.tp = saturating_product({of(sizes, Role::kTensor), of(sizes, Role::kTensorSequence)});
  at.sp = of(sizes, Role::kTensorSequence) > 1;
  at.cp = saturating_product({of(sizes, Role::kContext), of(sizes, Role::kUlysses)});
  at.pp = of(sizes, Role::kPipeline);
  at.ep = of(sizes, Role::kExpert);
  const bool known = !mesh.ici.open;
  if (!known && kMeshAxes[*mesh.ici.open].role != Role::kFsdp &&
      kMeshAxes[*mesh.ici.open].role != Role::kData) {
    reader.unresolved(axis_key(true, kMeshAxes[*mesh.ici.open].name),
                      "-1 takes what is left of the devices, which are not known; read as 1");
  }
  at.dp = known ? saturating_product({of(sizes, Role::kData), of(sizes, Role::kFsdp), at.ep}) : 0;
  say(reader, mesh, at);
  read_order(reader, reading, as_mesh(mesh));
  read_context_strategy(reader, at, of(sizes, Role::kUlysses));
  read_mesh_sharding(reader, at, sizes, known);
}

}  // namespace sextant::emit::maxtext
