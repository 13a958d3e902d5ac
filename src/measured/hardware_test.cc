#include "measured/hardware.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

using describe::FabricFamily;
using describe::ScaleUp;

std::string device_id_in(std::string_view text) {
  static const describe::DataStore kData;
  static Hardware hardware(kData);
  const auto device = hardware.device_in_text(text);
  EXPECT_TRUE(device) << (device ? "" : to_text(device.error()));
  return device ? device->value_or("") : "";
}

TEST(HardwareText, NamesAreFoundInsideTheText) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"8x A100-SXM4-80GB", "a100-sxm-80g"},
      {"8x A100-SXM4-40GB", "a100-sxm-40g"},
      {"Azure NDv4 (A100-40GB)", "a100-sxm-40g"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"H100 PCIe pair with NVLink bridge", "h100-pcie"},
      {"GCP a3-ultragpu-8g (H200), 1 GPU per node", "h200-sxm"},
      {"CoreWeave GB200 NVL72, 20 racks", "gb200"},
      {"8x RTX PRO 6000 Blackwell Server", "rtx-pro-6000"},
      {"2x RTX 2080 Ti PCIe3", "rtx-2080ti"},
      {"AWS p3.2xlarge (V100), 1 GPU per node", "v100-sxm-16g"},
      {"LUMI EAP, MI100 (device 738c)", "mi100"},
      {"MI200-series node, 16 GCDs", "mi250x-gcd"},
      {"SM90 + CX7", "h100-sxm"},
      {"TPU7x Ironwood 2x2x1", "tpu-7x"},
      {"simumax_kernel_efficiency_a100_pcie", "a100-pcie-80g"}};
  for (const auto& [text, device] : cases) {
    EXPECT_EQ(device_id_in(text), device) << text;
  }
}

TEST(HardwareText, WhatIsNotNamedStaysUnknown) {
  EXPECT_EQ(device_id_in("unknown GPU, 8 per node"), "");
  EXPECT_EQ(device_id_in("Azure ND-series 8-GPU VM (model not stated)"), "");
  EXPECT_EQ(device_id_in(""), "");
  EXPECT_EQ(device_id_in("XH100Y"), "");  // whole words only
}

TEST(HardwareVariant, MemorySelectsTheProduct) {
  const describe::DataStore data;
  Hardware hardware(data);
  const auto device = hardware.device("a100-sxm");
  ASSERT_TRUE(device);
  const auto small = hardware.variant(**device, 40_GB);
  ASSERT_TRUE(small);
  EXPECT_EQ((*small)->id, "a100-sxm-40g");
  const auto gb200 = hardware.device("gb200");
  ASSERT_TRUE(gb200);
  EXPECT_EQ((*hardware.variant(**gb200, 192_GB))->id, "gb200");  // rounding, not another product
}

TEST(Links, ScaleUpKindAndRate) {
  EXPECT_EQ(read_links("NVLink4+NVSwitch 450GB/s/GPU uni", "", 8).scale_up_rate, 450_GBps);
  EXPECT_EQ(read_links("NVLink4+NVSwitch 450GB/s/GPU uni", "", 8).scale_up, ScaleUp::kNvSwitch);
  EXPECT_EQ(read_links("xGMI/Infinity Fabric mesh (7x64GB/s)", "", 8).scale_up_rate, 448_GBps);
  EXPECT_EQ(read_links("NVLink2 hybrid cube mesh", "", 8).scale_up, ScaleUp::kHybridCubeMesh);
  EXPECT_FALSE(read_links("NVLink2 hybrid cube mesh", "", 8).scale_up_rate);
}

TEST(Links, NetworkRateIsADevicesWhereTheTextSaysSo) {
  struct Case {
    std::string text;
    FabricFamily family;
    double gbits;  // a device; 0: unknown
  };
  const std::vector<Case> cases{
      {"InfiniBand NDR 8xCX7, 400Gb/s per GPU", FabricFamily::kInfiniband, 400},
      {"EFA 4x100Gb/s, 50Gb/s per GPU", FabricFamily::kEfa, 50},
      {"4x100G HCA per node, 50Gb/s per GPU", FabricFamily::kRdma, 50},
      {"RoCE one 400Gb/s NIC per node (underperforming)", FabricFamily::kRoce, 200},
      {"TCP Ethernet up to 10Gb/s per node shaped by tc: delay 1ms bandwidth 5Gbps",
       FabricFamily::kEthernet, 2.5},
      {"IPoIB (TCP sockets over InfiniBand)", FabricFamily::kEthernet, 0},
      {"GPUDirect-TCPXO 200Gb/s per GPU", FabricFamily::kTcpxo, 200},
      {"HPE Slingshot", FabricFamily::kSlingshot, 0},
      {"AWS p5en (H200, 2x200Gb/s EFA per GPU)", FabricFamily::kEfa, 400}};
  for (const Case& one : cases) {
    const Links links = read_links("", one.text, 2);
    EXPECT_EQ(links.fabric, one.family) << one.text;
    EXPECT_EQ(links.network_rate.value_or(BytesPerSecond()), one.gbits * 1_Gbitps) << one.text;
  }
}

TEST(Links, ADomainAcrossNodesIsNoNetwork) {
  const Links links = read_links("NVLink5 900GB/s uni", "NVLink domain of 72", 4);
  EXPECT_EQ(links.domain_size, 72);
  EXPECT_FALSE(links.fabric);
}

TEST(Links, DelaysAndHostCopiesAreRead) {
  const Links links = read_links("", "TCP Ethernet shaped by tc: delay 10ms bandwidth 1Gbps", 1);
  EXPECT_EQ(links.added_delay, 10_ms);
  EXPECT_FALSE(links.gpu_direct);
  EXPECT_FALSE(read_links("", "EFA 100Gb/s, no GPUDirect", 1).gpu_direct);
  EXPECT_TRUE(read_links("", "EFA 400Gb/s per GPU", 8).gpu_direct);
}

}  // namespace
}  // namespace sextant::measured
