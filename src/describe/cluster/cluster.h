// A cluster: how many of which device, in which nodes and scale-up domains, on which network.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "describe/assumption.h"
#include "describe/cluster/device.h"
#include "describe/sourced.h"

namespace sextant::describe {

enum class ScaleUp {
  kNvSwitch,
  kNvlinkMesh,
  kHybridCubeMesh,
  kNvlinkBridge,
  kXgmiMesh,
  kPcie,
  kIci2d,
  kIci3d,
  kNone,
};
inline constexpr std::array<Word<ScaleUp>, 9> kScaleUpWords{
    {{ScaleUp::kNvSwitch, "nvswitch"},
     {ScaleUp::kNvlinkMesh, "nvlink-mesh"},
     {ScaleUp::kHybridCubeMesh, "hybrid-cube-mesh"},
     {ScaleUp::kNvlinkBridge, "nvlink-bridge"},
     {ScaleUp::kXgmiMesh, "xgmi-mesh"},
     {ScaleUp::kPcie, "pcie"},
     {ScaleUp::kIci2d, "ici-2d"},
     {ScaleUp::kIci3d, "ici-3d"},
     {ScaleUp::kNone, "none"}}};

enum class FabricFamily {
  kInfiniband,
  kRoce,
  kOmnipath,
  kEfa,
  kTcpx,
  kTcpxo,
  kSlingshot,
  kEthernet,
  kIci,
  kDcn,
  kRdma,
  kNone,
};
inline constexpr std::array<Word<FabricFamily>, 12> kFabricFamilyWords{
    {{FabricFamily::kInfiniband, "ib"},
     {FabricFamily::kRoce, "roce"},
     {FabricFamily::kOmnipath, "omnipath"},
     {FabricFamily::kEfa, "efa"},
     {FabricFamily::kTcpx, "tcpx"},
     {FabricFamily::kTcpxo, "tcpxo"},
     {FabricFamily::kSlingshot, "slingshot"},
     {FabricFamily::kEthernet, "ethernet"},
     {FabricFamily::kIci, "ici"},
     {FabricFamily::kDcn, "dcn"},
     {FabricFamily::kRdma, "rdma"},
     {FabricFamily::kNone, "none"}}};

enum class Transport { kRdma, kTcp, kTorus, kNone };
inline constexpr std::array<Word<Transport>, 4> kTransportWords{{{Transport::kRdma, "rdma"},
                                                                 {Transport::kTcp, "tcp"},
                                                                 {Transport::kTorus, "torus"},
                                                                 {Transport::kNone, "none"}}};

// The network between scale-up domains.
struct Fabric {
  std::string id;
  std::string name;
  FabricFamily family = FabricFamily::kNone;
  Transport transport = Transport::kNone;
  std::vector<std::string> aliases;
  std::optional<Sourced<BytesPerSecond>>
      nic_rate;                             // per NIC and direction, where not said otherwise
  std::optional<Sourced<Seconds>> latency;  // one way, small message, between two hosts
};

// A node shape: what a host holds and how it reaches the others.
struct System {
  std::string id;
  std::string name;
  std::string device;
  std::string fabric;
  std::vector<std::string> aliases;
  ScaleUp scale_up = ScaleUp::kNone;
  Sourced<std::int64_t> devices_per_node;
  Sourced<std::int64_t> domain_size;  // devices in one scale-up domain; may span nodes (NVL72)
  std::optional<Sourced<std::int64_t>> nics_per_node;
  std::optional<Sourced<BytesPerSecond>> nic_rate;            // per NIC and direction
  std::array<std::optional<Sourced<std::int64_t>>, 3> torus;  // largest torus: x, y, z in chips
};

// The most that a cluster may have: more than any does.
inline constexpr std::int64_t kMostDevices = 10'000'000;

struct Cluster {
  std::string name;  // as the user wrote it
  std::int64_t devices = 0;
  Device device;
  System system;
  Fabric fabric;
  std::array<std::int64_t, 3> torus{1, 1, 1};      // the slice's own shape, TPUs only
  std::int64_t slices = 1;                         // TPU slices joined by DCN
  std::optional<Sourced<DollarsPerSecond>> price;  // per device, the user's own
  Assumptions assumed;                             // what was filled from the reference system

  [[nodiscard]] std::int64_t devices_per_node() const { return system.devices_per_node.value; }
  [[nodiscard]] std::int64_t nodes() const {
    return (devices + devices_per_node() - 1) / devices_per_node();
  }
  [[nodiscard]] std::int64_t domains() const {
    return (devices + system.domain_size.value - 1) / system.domain_size.value;
  }
  // Network bandwidth of one device and direction, its share of the node's NICs; nothing if
  // unknown.
  [[nodiscard]] std::optional<BytesPerSecond> network_per_device() const;
};

}  // namespace sextant::describe
