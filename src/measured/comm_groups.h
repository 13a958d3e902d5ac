// How rows of the communication tables are grouped when they are scored: by size, by class of
// system, and by system.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/units.h"
#include "describe/comm_spread.h"
#include "describe/words.h"
#include "measured/row.h"

namespace sextant::measured {

// Of the bytes as the row counts them (row.h says which bytes these are for each operation).
// KB and MB are powers of two here: sizes of such tables double, and 1 MB is 2^20 bytes. A bucket
// holds its lower end and not its upper one.
// In the order of describe::size_class.
enum class SizeBucket { kBelow32KB, kBelow1MB, kBelow16MB, kBelow256MB, kFrom256MB };
inline constexpr std::size_t kSizeBuckets = describe::kSizeClasses;
inline constexpr std::array<describe::Word<SizeBucket>, kSizeBuckets> kSizeBucketWords{
    {{SizeBucket::kBelow32KB, "below 32 KB"},
     {SizeBucket::kBelow1MB, "32 KB to 1 MB"},
     {SizeBucket::kBelow16MB, "1 to 16 MB"},
     {SizeBucket::kBelow256MB, "16 to 256 MB"},
     {SizeBucket::kFrom256MB, "256 MB and more"}}};

SizeBucket size_bucket(Bytes bytes);

// What decides how a collective behaves, as far as the row says it. The first that fits:
// a TPU; TCP (sockets, IPoIB, gloo; TCPX and TCPXO bypass the host and are no TCP here); one device
// in each of several nodes; AMD's and PCIe's own links, in one node or over a network; then NVLink
// by domains: an NVLink domain of more than 8 devices (NVL72) is one node however many trays it
// has. One node whose links the row leaves open has a class of its own.
enum class CommClass {
  kNvlinkNode,
  kNvlinkRack,
  kTwoNodes,
  kMoreNodes,
  kOneDeviceANode,
  kPcieNode,
  kPcieNodes,
  kXgmiNode,
  kXgmiNodes,
  kTcp,
  kTpu,
  kUnknownLinks,
};
// At most 18 letters: legends of plots have room for no more.
inline constexpr std::array<describe::Word<CommClass>, 12> kCommClassWords{
    {{CommClass::kNvlinkNode, "one NVLink domain"},
     {CommClass::kNvlinkRack, "NVLink rack of 72"},
     {CommClass::kTwoNodes, "two nodes"},
     {CommClass::kMoreNodes, "3 nodes and more"},
     {CommClass::kOneDeviceANode, "one device a node"},
     {CommClass::kPcieNode, "PCIe, one node"},
     {CommClass::kPcieNodes, "PCIe, more nodes"},
     {CommClass::kXgmiNode, "xGMI, one node"},
     {CommClass::kXgmiNodes, "xGMI, more nodes"},
     {CommClass::kTcp, "TCP and gloo"},
     {CommClass::kTpu, "TPU"},
     {CommClass::kUnknownLinks, "links not stated"}}};

CommClass comm_class(const CollectiveSubject& subject);

// The system a row was measured on: "AWS p5.48xlarge (H100), efa 400 Gbit/s".
//
// It is the hardware's text without how much of it was used ("1 GPU per node", "20 racks", a TPU
// slice's shape), and the network where the row names one (family, rate of a device) or crosses
// one. So ranks, nodes used and operations make no new system; the same machine on TCP and on
// InfiniBand is two; inside one node a machine is a system of its own, because such rows do not say
// which network is behind it. TCP has no rate here: a test bed whose link was shaped nine ways is
// one system. Machines of NVLink domains beyond 8 devices are one system within a rack and over
// racks. Expert tables write their network into the hardware's text, which is then all of it. "" of
// rows of other tables.
std::string system_of(const Row& row);

}  // namespace sextant::measured
