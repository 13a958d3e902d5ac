#include "describe/layout/mesh.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/words.h"

namespace sextant::describe {
namespace {

struct AxisName {
  std::string_view name;
  std::int64_t MeshAxes::* member;
};
constexpr std::array kAxes{
    AxisName{"data", &MeshAxes::data},      AxisName{"fsdp", &MeshAxes::fsdp},
    AxisName{"tensor", &MeshAxes::tensor},  AxisName{"sequence", &MeshAxes::sequence},
    AxisName{"expert", &MeshAxes::expert},  AxisName{"pipeline", &MeshAxes::pipeline},
    AxisName{"replica", &MeshAxes::replica}};

Result<void> set_axis(MeshAxes& axes, std::string_view pair) {
  constexpr std::int64_t kLargestAxis = 1'000'000;
  const std::vector<std::string_view> parts = split(pair, '=');
  std::vector<std::string> known;
  for (const AxisName& axis : kAxes) {
    known.emplace_back(axis.name);
    if (axis.name != trimmed(parts[0])) {
      continue;
    }
    const auto size = parts.size() == 2 ? to_integer(trimmed(parts[1])) : std::nullopt;
    if (!size || *size < 1 || *size > kLargestAxis) {
      return invalid(fmt::format("'{}' is not AXIS=SIZE", printable(pair)), "mesh",
                     fmt::format("a size from 1 to {}", kLargestAxis));
    }
    axes.*axis.member = *size;
    return {};
  }
  return unknown_word(trimmed(parts[0]), std::move(known), "mesh axis", "mesh");
}

// "fsdp=64,tensor=4".
Result<void> set_axes(MeshAxes& axes, std::string_view text) {
  for (const std::string_view pair : split(text, ',')) {
    if (!trimmed(pair).empty()) {
      SEXTANT_CHECK_OK(set_axis(axes, pair));
    }
  }
  return {};
}

std::string axes_text(const MeshAxes& axes) {
  std::vector<std::string> parts;
  for (const AxisName& axis : kAxes) {
    if (axes.*axis.member != 1) {
      parts.push_back(fmt::format("{}={}", axis.name, axes.*axis.member));
    }
  }
  return join(parts, ",");
}

}  // namespace

Result<Mesh> parse_mesh(std::string_view text) {
  Mesh mesh;
  for (const std::string_view level : split(text, ';')) {
    const bool dcn = level.starts_with("dcn:");
    std::string_view axes = level;
    axes.remove_prefix(dcn || level.starts_with("ici:") ? 4 : 0);
    SEXTANT_CHECK_OK(set_axes(dcn ? mesh.dcn : mesh.ici, axes));
  }
  return mesh;
}

std::string to_text(const Mesh& mesh) {
  const std::string dcn = axes_text(mesh.dcn);
  return fmt::format("ici:{}{}{}", axes_text(mesh.ici), dcn.empty() ? "" : ";dcn:", dcn);
}

Layout with_mesh(Layout layout, const Mesh& mesh) {
  layout.tp = mesh.ici.tensor * mesh.dcn.tensor;
  layout.cp = mesh.ici.sequence * mesh.dcn.sequence;
  layout.ep = mesh.ici.expert * mesh.dcn.expert;
  layout.pp = mesh.ici.pipeline * mesh.dcn.pipeline;
  const std::int64_t fsdp = mesh.ici.fsdp * mesh.dcn.fsdp;
  const std::int64_t sharded = saturating_product({fsdp, layout.cp, layout.ep});
  const std::int64_t copies =
      saturating_product({mesh.ici.data, mesh.dcn.data, mesh.ici.replica, mesh.dcn.replica});
  layout.dp = saturating_product({fsdp, copies, layout.ep});
  layout.zero = sharded > 1 ? Zero::kParameters : Zero::kNone;
  layout.zero_group = sharded > 1 && copies > 1 ? sharded : 0;
  if (mesh.dcn.devices() > 1) {
    layout.order = order_of(mesh).order;
  }
  return layout;
}

}  // namespace sextant::describe
