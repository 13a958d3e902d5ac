// One table of axes: what each means for a layout. Sizes inside and between slices multiply; who
// crosses slices is the layout's order of ranks (describe/layout/mesh.h).
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/cluster/torus.h"
#include "describe/layout/mesh.h"
#include "emit/maxtext_parts.h"

namespace sextant::emit::maxtext {
namespace {

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kMost = 10'000'000;
constexpr std::string_view kStrategy = "context_parallel_strategy";
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
constexpr std::array kAxes{
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

constexpr std::array<Word<CpMethod>, 4> kStrategyWords{{{CpMethod::kAllGather, "all_gather"},
                                                        {CpMethod::kP2pRing, "ring"},
                                                        {CpMethod::kAllToAll, "ulysses"},
                                                        {CpMethod::kAllToAllP2p, "usp"}}};

using Sizes = std::array<std::int64_t, kRoles>;

std::int64_t& of(Sizes& sizes, Role role) {
  return sizes[static_cast<std::size_t>(role)];
}

std::string axis_key(bool inside, std::string_view name) {
  return fmt::format("{}_{}_parallelism", inside ? "ici" : "dcn", name);
}

// The size of a mesh that a role is a part of; nothing where it is none.
std::int64_t MeshAxes::* member_of(Role role) {
  switch (role) {
    case Role::kPipeline:
      return &MeshAxes::pipeline;
    case Role::kData:
      return &MeshAxes::data;
    case Role::kFsdp:
      return &MeshAxes::fsdp;
    case Role::kExpert:
      return &MeshAxes::expert;
    case Role::kContext:
    case Role::kUlysses:
      return &MeshAxes::sequence;
    case Role::kTensor:
    case Role::kTensorSequence:
      return &MeshAxes::tensor;
    case Role::kIgnored:
      break;
  }
  return nullptr;
}

// Sizes over the whole job.
Sizes sizes_of(const Layout& at, const Mesh& mesh) {
  Sizes sizes;
  sizes.fill(1);
  of(sizes, Role::kPipeline) = mesh.ici.pipeline * mesh.dcn.pipeline;
  of(sizes, Role::kData) = mesh.ici.data * mesh.dcn.data;
  of(sizes, Role::kFsdp) = mesh.ici.fsdp * mesh.dcn.fsdp;
  of(sizes, Role::kExpert) = mesh.ici.expert * mesh.dcn.expert;
  of(sizes, at.sp ? Role::kTensorSequence : Role::kTensor) = at.tp;
  of(sizes, Role::kContext) = at.cp;
  if (at.cp > 1 && at.cp_method == CpMethod::kAllToAllP2p) {
    const std::int64_t inner = std::gcd(at.cp, at.cp_inner > 0 ? at.cp_inner : at.cp);
    of(sizes, Role::kUlysses) = inner;
    of(sizes, Role::kContext) = at.cp / inner;
  }
  return sizes;
}

// The mesh as the file has it.
struct Level {
  std::array<std::int64_t, kAxes.size()> sizes{};
  std::optional<std::size_t> open;  // the axis that takes what is left (-1)
  [[nodiscard]] std::int64_t product() const {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
      product = saturating_product({product, size});
    }
    return product;
  }
};

Level read_level(SettingReader& reader, bool inside) {
  Level level;
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const std::string key = axis_key(inside, kAxes[i].name);
    const std::int64_t silent = kAxes[i].name == (inside ? "fsdp" : "data") ? -1 : 1;
    std::int64_t size = reader.whole(key, -1, kMost).value_or(silent);
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
  if (!count || *count < 1 || *count > kMost) {
    return std::nullopt;
  }
  return kind == "v4" || kind == "v5p" ? *count / 2 : *count;
}

void fill(SettingReader& reader, Level& level, bool inside, std::int64_t total) {
  const std::int64_t rest = level.product();
  const std::size_t at = level.open.value_or(0);
  if (rest < 1 || total % rest != 0) {
    reader.unresolved(axis_key(inside, kAxes[at].name),
                      fmt::format("the other axes take {}, which does not divide {}", rest, total));
    return;
  }
  level.sizes[at] = total / rest;
  level.open.reset();
}

// Both levels with their -1 filled as far as the devices are known.
struct FilledMesh {
  Level ici;
  Level dcn;
};

FilledMesh read_mesh(SettingReader& reader, Reading& reading) {
  FilledMesh mesh{read_level(reader, true), read_level(reader, false)};
  auto slices = reader.whole("num_slices", -1, kMost);
  if (!slices || *slices < 1) {
    slices = reader.whole("compile_topology_num_slices", -1, kMost);
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
  if (!mesh.ici.open) {
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

void say(SettingReader& reader, const FilledMesh& mesh) {
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    for (const bool inside : {true, false}) {
      const std::string key = axis_key(inside, kAxes[i].name);
      const std::int64_t size = (inside ? mesh.ici : mesh.dcn).sizes[i];
      if (kAxes[i].role == Role::kIgnored && size > 1) {
        reader.unresolved(key, "an axis for inference; left out");
      } else if (kAxes[i].role != Role::kIgnored) {
        reader.fact(kAxes[i].field, std::to_string(size), key);
      }
    }
  }
}

void read_context(SettingReader& reader, Layout& at, std::int64_t ulysses) {
  const auto strategy =
      reader.word<CpMethod>(kStrategy, kStrategyWords).value_or(CpMethod::kAllGather);
  if (at.cp == 1) {
    return;
  }
  at.cp_method = strategy;
  at.cp_inner = strategy == CpMethod::kAllToAllP2p ? ulysses : 0;
  reader.fact("cp_method", std::string(word_of<CpMethod>(kCpMethodWords, strategy)), kStrategy);
}

Mesh as_mesh(const FilledMesh& filled) {
  Mesh mesh;
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    if (const auto member = member_of(kAxes[i].role)) {
      mesh.ici.*member = saturating_product({mesh.ici.*member, filled.ici.sizes[i]});
      mesh.dcn.*member = saturating_product({mesh.dcn.*member, filled.dcn.sizes[i]});
    }
  }
  return mesh;
}

// Who crosses slices.
void read_order(SettingReader& reader, Reading& reading, const Mesh& mesh) {
  if (mesh.dcn.devices() == 1) {
    return;
  }
  const MeshOrder read = order_of(mesh);
  reading.layout.order = read.order;
  std::vector<std::string> words;
  for (const Axis axis : read.order) {
    words.emplace_back(word_of<Axis>(kAxisWords, axis));
  }
  const std::string order = join(words, "-");
  for (const MeshAxis& axis : kAxes) {
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
void read_sharding(SettingReader& reader, Layout& at, Sizes sizes, bool known) {
  const std::int64_t copies = of(sizes, Role::kData);
  const std::int64_t shard = saturating_product({of(sizes, Role::kFsdp), at.cp, at.ep});
  const bool over_data = reader.flag(kShardOptimizer).value_or(false);
  if (shard > 1 || !known) {
    at.zero = Zero::kParameters;
    at.zero_group = copies > 1 && known ? shard : 0;
  } else if (over_data && copies > 1) {
    at.zero = Zero::kOptimizer;
    reader.fact("zero", "1", kShardOptimizer);
  }
  if (at.zero == Zero::kParameters && at.pp > 1 && reader.flag(kGatherOnce).value_or(false)) {
    at.reshard_after_forward = false;
    reader.fact("reshard", "0", kGatherOnce);
  }
}

}  // namespace

bool is_axis(std::string_view key) {
  return std::any_of(kAxes.begin(), kAxes.end(), [&](const MeshAxis& axis) {
    return key == axis_key(true, axis.name) || key == axis_key(false, axis.name);
  });
}

KnownKeys axis_keys() {
  KnownKeys known;
  for (const MeshAxis& axis : kAxes) {
    known.keys.push_back(axis_key(true, axis.name));
    known.keys.push_back(axis_key(false, axis.name));
  }
  return known;
}

void write_axes(const Job& job, SettingWriter& out) {
  const Layout& at = job.layout;
  out.text("hardware", is_torus(job.cluster) ? "tpu" : "gpu");
  const Mesh mesh = mesh_of(job);
  Sizes sizes = sizes_of(at, mesh);
  MeshAxes left = mesh.dcn;  // of two axes that share a size the first crosses first
  std::vector<std::pair<std::string_view, std::int64_t>> crossing;
  for (const MeshAxis& axis : kAxes) {
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
    out.text(kStrategy, word_of<CpMethod>(kStrategyWords, at.cp_method));
  }
  out.flag(kShardOptimizer, at.zero == Zero::kOptimizer || at.zero == Zero::kGradients);
  if (at.pp > 1) {
    out.flag(kGatherOnce, at.zero == Zero::kParameters && !at.reshard_after_forward);
  }
}

void read_axes(SettingReader& reader, Reading& reading) {
  const FilledMesh mesh = read_mesh(reader, reading);
  say(reader, mesh);
  Sizes sizes;
  sizes.fill(1);
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    std::int64_t& size = of(sizes, kAxes[i].role);
    size = saturating_product({size, mesh.ici.sizes[i], mesh.dcn.sizes[i]});
  }
  Layout& at = reading.layout;
  at.tp = saturating_product({of(sizes, Role::kTensor), of(sizes, Role::kTensorSequence)});
  at.sp = of(sizes, Role::kTensorSequence) > 1;
  at.cp = saturating_product({of(sizes, Role::kContext), of(sizes, Role::kUlysses)});
  at.pp = of(sizes, Role::kPipeline);
  at.ep = of(sizes, Role::kExpert);
  const bool known = !mesh.ici.open;
  if (!known && kAxes[*mesh.ici.open].role != Role::kFsdp &&
      kAxes[*mesh.ici.open].role != Role::kData) {
    reader.unresolved(axis_key(true, kAxes[*mesh.ici.open].name),
                      "-1 takes what is left of the devices, which are not known; read as 1");
  }
  at.dp = known ? saturating_product({of(sizes, Role::kData), of(sizes, Role::kFsdp), at.ep}) : 0;
  read_order(reader, reading, as_mesh(mesh));
  read_context(reader, at, of(sizes, Role::kUlysses));
  read_sharding(reader, at, sizes, known);
}

}  // namespace sextant::emit::maxtext
