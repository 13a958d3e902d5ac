#include "profile/hlo_sharding.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profile/wire.h"

namespace sextant::profile {
namespace {

// An array has few dimensions and a mesh few axes; more are not written out.
constexpr std::size_t kMostListed = 32;
constexpr std::size_t kLongestAxis = 64;

struct MeshAxis {
  std::string name;
  std::int64_t size = 0;
};

MeshAxis read_axis(Wire& proto) {
  MeshAxis axis;
  proto.each([&](Wire& fields) {
    if (fields.field() == 1) {
      axis.name = fields.text(kLongestAxis);
    } else if (fields.field() == 2) {
      axis.size = fields.integer();
    }
  });
  return axis;
}

std::vector<MeshAxis> read_axes(Wire& mesh) {
  std::vector<MeshAxis> axes;
  while (mesh.next()) {
    if (mesh.field() == 1 && axes.size() < kMostListed) {
      axes.push_back(read_axis(mesh));
    }
  }
  return axes;
}

std::string axis_name(Wire& reference, const std::vector<MeshAxis>& axes) {
  std::int64_t index = 0;
  reference.each([&](Wire& fields) {
    if (fields.field() == 1) {
      index = fields.integer();
    }
  });
  return index >= 0 && index < static_cast<std::int64_t>(axes.size())
             ? axes[static_cast<std::size_t>(index)].name
             : std::string("?");
}

// "{data,fsdp}"
std::string dimension_text(Wire& proto, const std::vector<MeshAxis>& axes) {
  std::vector<std::string> names;
  proto.each([&](Wire& dimension) {
    if (dimension.field() == 1 && names.size() < kMostListed) {
      names.push_back(axis_name(dimension, axes));
    }
  });
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

// Source: xla/xla_data.proto, NamedShardingProto: the mesh (2) comes before the dimensions (3).
HloSharding read_named(Wire& named) {
  std::vector<MeshAxis> axes;
  std::vector<std::string> dimensions;
  while (named.next()) {
    if (named.field() == 2) {
      named.message([&](Wire& mesh) { axes = read_axes(mesh); });
    } else if (named.field() == 3 && dimensions.size() < kMostListed) {
      dimensions.push_back(dimension_text(named, axes));
    }
  }
  std::vector<std::string> mesh;
  for (const MeshAxis& axis : axes) {
    mesh.push_back(fmt::format("{}={}", axis.name, axis.size));
  }
  return {fmt::format("[{}]", fmt::join(dimensions, ", ")),
          fmt::format("{}", fmt::join(mesh, ","))};
}

}  // namespace

// Source: xla/xla_data.proto, OpSharding; the words are those of HLO's text.
HloSharding read_sharding(Wire& sharding) {
  std::int64_t type = 0;
  std::vector<std::int64_t> tiles;
  std::vector<std::int64_t> devices;
  std::vector<std::int64_t> reshape;
  bool replicates_last = false;
  HloSharding named;
  const auto listed = [](std::vector<std::int64_t>& list) {
    return [&list](std::int64_t value) {
      if (list.size() < kMostListed) {
        list.push_back(value);
      }
    };
  };
  while (sharding.next()) {
    switch (sharding.field()) {
      case 1:
        type = sharding.integer();
        break;
      case 3:
        sharding.integers(listed(tiles));
        break;
      case 4:
        sharding.integers(listed(devices));
        break;
      case 6:
        replicates_last = sharding.flag();
        break;
      case 9:
        sharding.integers(listed(reshape));
        break;
      case 14:
        sharding.message([&](Wire& fields) { named = read_named(fields); });
        break;
      default:
        break;
    }
  }
  if (!named.text.empty()) {
    return named;
  }
  switch (type) {
    case 0:
      return {"{replicated}", {}};
    case 1:
      return {"{maximal}", {}};
    case 3: {
      const std::string order = reshape.empty() ? fmt::format("{}", fmt::join(devices, ","))
                                                : fmt::format("<=[{}]", fmt::join(reshape, ","));
      return {fmt::format("{{devices=[{}]{}{}}}", fmt::join(tiles, ","), order,
                          replicates_last ? " last_tile_dim_replicate" : ""),
              {}};
    }
    case 4:
      return {"{manual}", {}};
    default:
      return {};
  }
}

}  // namespace sextant::profile
