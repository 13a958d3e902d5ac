#include "measured/comm_groups.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

using describe::FabricFamily;
using describe::ScaleUp;

// Eight devices a node behind a switch, in as many nodes.
CollectiveSubject nvlink_nodes(std::int64_t nodes) {
  CollectiveSubject subject;
  subject.device = "h100-sxm";
  subject.hardware = "HGX H100";
  subject.links.scale_up = ScaleUp::kNvSwitch;
  subject.devices_per_node = 8;
  subject.nodes = nodes;
  subject.ranks = 8 * nodes;
  if (nodes > 1) {
    subject.links.fabric = FabricFamily::kInfiniband;
    subject.links.network_rate = 400_Gbitps;
  }
  return subject;
}

std::string system_of_subject(const CollectiveSubject& subject) {
  Row row;
  row.subject = subject;
  return system_of(row);
}

TEST(SizeBucket, LowerEndsAreInside) {
  EXPECT_EQ(size_bucket(0_B), SizeBucket::kBelow32KB);
  EXPECT_EQ(size_bucket(32_KiB - 1_B), SizeBucket::kBelow32KB);
  EXPECT_EQ(size_bucket(32_KiB), SizeBucket::kBelow1MB);
  EXPECT_EQ(size_bucket(1_MB), SizeBucket::kBelow1MB);  // a decimal MB is less than 2^20 bytes
  EXPECT_EQ(size_bucket(1_MiB), SizeBucket::kBelow16MB);
  EXPECT_EQ(size_bucket(16_MiB), SizeBucket::kBelow256MB);
  EXPECT_EQ(size_bucket(256_MiB), SizeBucket::kFrom256MB);
  EXPECT_EQ(size_bucket(32_GiB), SizeBucket::kFrom256MB);
}

TEST(CommClass, NvlinkIsByDomains) {
  EXPECT_EQ(comm_class(nvlink_nodes(1)), CommClass::kNvlinkNode);
  EXPECT_EQ(comm_class(nvlink_nodes(2)), CommClass::kTwoNodes);
  EXPECT_EQ(comm_class(nvlink_nodes(3)), CommClass::kMoreNodes);
  CollectiveSubject rack;
  rack.hardware = "GB200";
  rack.links.domain_size = 72;
  rack.devices_per_node = 4;
  rack.nodes = 18;
  rack.ranks = 72;
  EXPECT_EQ(comm_class(rack), CommClass::kNvlinkRack);
  rack.ranks = 144;
  EXPECT_EQ(comm_class(rack), CommClass::kTwoNodes);
  // Over racks the table names the network and not the domain; the hardware says it.
  rack.hardware = "GB200 NVL72, 20 racks";
  rack.links.domain_size.reset();
  rack.ranks = 1440;
  EXPECT_EQ(comm_class(rack), CommClass::kMoreNodes);
}

TEST(CommClass, ARateWithoutAKindIsNvlink) {
  CollectiveSubject subject = nvlink_nodes(1);
  subject.links.scale_up.reset();
  EXPECT_EQ(comm_class(subject), CommClass::kUnknownLinks);
  subject.links.scale_up_rate = 900_GBps;
  EXPECT_EQ(comm_class(subject), CommClass::kNvlinkNode);
}

TEST(CommClass, OtherLinksHaveTheirOwn) {
  CollectiveSubject subject = nvlink_nodes(1);
  subject.links.scale_up = ScaleUp::kPcie;
  EXPECT_EQ(comm_class(subject), CommClass::kPcieNode);
  subject.links.scale_up = ScaleUp::kXgmiMesh;
  EXPECT_EQ(comm_class(subject), CommClass::kXgmiNode);
  subject.nodes = 2;
  EXPECT_EQ(comm_class(subject), CommClass::kXgmiNodes);
  subject.links.scale_up = ScaleUp::kPcie;
  EXPECT_EQ(comm_class(subject), CommClass::kPcieNodes);
  subject.devices_per_node = 1;
  EXPECT_EQ(comm_class(subject), CommClass::kOneDeviceANode);
  subject.links.fabric = FabricFamily::kEthernet;
  EXPECT_EQ(comm_class(subject), CommClass::kTcp);
  subject.device = "tpu-v6e";
  EXPECT_EQ(comm_class(subject), CommClass::kTpu);
  CollectiveSubject host;
  host.library = CollectiveLibrary::kGloo;
  EXPECT_EQ(comm_class(host), CommClass::kTcp);
}

TEST(SystemOf, IsMachineAndNetwork) {
  EXPECT_EQ(system_of_subject(nvlink_nodes(1)), "HGX H100");
  EXPECT_EQ(system_of_subject(nvlink_nodes(2)), "HGX H100, ib 400 Gbit/s");
  EXPECT_EQ(system_of_subject(nvlink_nodes(12)), system_of_subject(nvlink_nodes(2)));
  CollectiveSubject slow = nvlink_nodes(2);
  slow.links.fabric = FabricFamily::kEthernet;
  EXPECT_EQ(system_of_subject(slow), "HGX H100, ethernet");
  slow.links.network_rate = 1_Gbitps;  // shaped by hand: the same test bed
  slow.links.added_delay = 5_ms;
  EXPECT_EQ(system_of_subject(slow), "HGX H100, ethernet");
  CollectiveSubject open = nvlink_nodes(2);
  open.links = {};
  EXPECT_EQ(system_of_subject(open), "HGX H100, network not stated");
}

TEST(SystemOf, WhatWasUsedOfItIsNoOtherSystem) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"CSCS Alps GH200, 1 GPU per node used", "CSCS Alps GH200"},
      {"CSCS Alps GH200, 4 per node", "CSCS Alps GH200"},
      {"GCP a4-highgpu-8g (B200), 2 GPUs", "GCP a4-highgpu-8g (B200)"},
      {"TPU7x Ironwood 2x2x1", "TPU7x Ironwood"},
      {"MI200-series node, 16 GCDs", "MI200-series node, 16 GCDs"},
      {"8x H100 SXM", "8x H100 SXM"},
      {"2x4", "2x4"},
      {"", ""}};
  for (const auto& [hardware, machine] : cases) {
    CollectiveSubject subject;
    subject.hardware = hardware;
    EXPECT_EQ(system_of_subject(subject), machine);
  }
}

TEST(SystemOf, RacksAreOneSystemAloneAndJoined) {
  CollectiveSubject rack;
  rack.hardware = "CoreWeave GB200 NVL72, 1 rack";
  rack.links.domain_size = 72;
  rack.ranks = 72;
  CollectiveSubject racks;
  racks.hardware = "CoreWeave GB200 NVL72, 20 racks";
  racks.links.fabric = FabricFamily::kInfiniband;
  racks.links.network_rate = 400_Gbitps;
  racks.ranks = 1440;
  EXPECT_EQ(system_of_subject(rack), "CoreWeave GB200 NVL72");
  EXPECT_EQ(system_of_subject(racks), "CoreWeave GB200 NVL72");
}

TEST(SystemOf, ExpertTablesSayItInTheirHardware) {
  Row row;
  EpAllToAllSubject subject;
  subject.hardware = "H800 + CX7 IB 400Gb/s";
  subject.nodes = 4;
  row.subject = subject;
  EXPECT_EQ(system_of(row), "H800 + CX7 IB 400Gb/s");
  EXPECT_EQ(system_of(Row{}), "");
}

}  // namespace
}  // namespace sextant::measured
