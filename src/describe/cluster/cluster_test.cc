#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"

namespace sextant::describe {
namespace {

const DataStore kClusterData;

TEST(Hardware, EveryFileReadsAndRefersToFilesThatExist) {
  for (const std::string& id : kClusterData.list("devices", "toml")) {
    const auto device = load_device(id, kClusterData);
    ASSERT_TRUE(device) << to_text(device.error());
    const auto system = load_system(device->reference_system, kClusterData);
    ASSERT_TRUE(system) << id << ": " << to_text(system.error());
    EXPECT_EQ(system->device, id) << "the reference system of " << id << " holds another device";
  }
  for (const std::string& id : kClusterData.list("systems", "toml")) {
    const auto system = load_system(id, kClusterData);
    ASSERT_TRUE(system) << to_text(system.error());
    EXPECT_TRUE(load_device(system->device, kClusterData)) << id;
    EXPECT_TRUE(load_fabric(system->fabric, kClusterData)) << id;
  }
  for (const std::string& id : kClusterData.list("fabrics", "toml")) {
    EXPECT_TRUE(load_fabric(id, kClusterData)) << id;
  }
}

TEST(Hardware, NamesAreUniqueAcrossIdsAndAliases) {
  std::set<std::string> seen;
  for (const std::string& id : kClusterData.list("devices", "toml")) {
    EXPECT_TRUE(seen.insert(id).second) << id;
    const auto device = load_device(id, kClusterData);
    ASSERT_TRUE(device) << id;
    for (const std::string& alias : device->aliases) {
      EXPECT_TRUE(seen.insert(alias).second) << alias;
    }
  }
}

TEST(Hardware, TheDevicesUsersTrainOnAreKnown) {
  for (const char* word : {"v100-sxm-16g",
                           "v100-sxm-32g",
                           "a100-sxm-40g",
                           "a100-sxm-80g",
                           "a100-pcie-40g",
                           "a100-pcie-80g",
                           "a800-sxm-80g",
                           "h100-sxm",
                           "h100-pcie",
                           "h100-nvl",
                           "h100-sxm-hbm2e-500w",
                           "h200-sxm",
                           "h200-nvl",
                           "h800-sxm",
                           "gh200",
                           "b200-sxm",
                           "b300",
                           "gb200",
                           "gb300",
                           "mi250x",
                           "mi300x",
                           "mi325x",
                           "mi350x",
                           "mi355x",
                           "l40s",
                           "rtx-pro-6000",
                           "rtx-4090",
                           "cpu-host",
                           "tpu-v3",
                           "tpu-v4",
                           "tpu-v5e",
                           "tpu-v5p",
                           "tpu-v6e",
                           "tpu-7x"}) {
    EXPECT_TRUE(load_device(word, kClusterData)) << word;
  }
}

// The published dense peaks of three generations, from the vendors' datasheets.
TEST(Hardware, PeaksAreDenseNotSparse) {
  EXPECT_DOUBLE_EQ(load_device("a100-sxm-80g", kClusterData)->peak(DType::kBf16)->value / 1_TFLOPps,
                   312.0);
  EXPECT_NEAR(load_device("h100-sxm", kClusterData)->peak(DType::kBf16)->value / 1_TFLOPps, 989.0,
              1.0);
  EXPECT_FALSE(load_device("a100-sxm-80g", kClusterData)->peak(DType::kFp8));
}

TEST(Hardware, DeviceAndFabricWordsOfTheMeasuredRunsAreKnown) {
  const std::filesystem::path runs = shared_folder() / "truth" / "runs";
  if (!std::filesystem::is_directory(runs)) {
    GTEST_SKIP() << "the measured runs are not beside the checkout";
  }
  std::set<std::string> devices;
  std::set<std::string> fabrics;
  for (const auto& entry : std::filesystem::directory_iterator(runs)) {
    const auto table = CsvTable::parse(*read_file(entry.path(), 64_MiB), entry.path().string());
    ASSERT_TRUE(table) << to_text(table.error());
    for (std::size_t row = 0; row < table->rows(); ++row) {
      devices.emplace(table->field(row, "device"));
      fabrics.emplace(table->field(row, "fabric"));
    }
  }
  fabrics.erase("");
  EXPECT_GT(devices.size(), 20U);
  for (const std::string& word : devices) {
    EXPECT_TRUE(load_device(word, kClusterData)) << word;
  }
  for (const std::string& word : fabrics) {
    EXPECT_TRUE(load_fabric(word, kClusterData)) << word;
  }
}

TEST(Cluster, ADeviceAloneTakesItsReferenceSystemAndSaysSo) {
  const auto cluster = load_cluster("64xh100-sxm", kClusterData);
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->devices, 64);
  EXPECT_EQ(cluster->nodes(), 8);
  EXPECT_EQ(cluster->domains(), 8);
  EXPECT_EQ(*cluster->network_per_device(), 400_Gbitps);
  ASSERT_FALSE(cluster->assumed.empty());
  EXPECT_NE(cluster->assumed[0].why.find("DGX H100"), std::string::npos);
}

TEST(Cluster, TheFabricsWordCarriesTheRateOfANic) {
  const auto cluster = load_cluster("2048xA100-SXM-80G@ib-200", kClusterData);
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->fabric.id, "ib-hdr");
  EXPECT_EQ(cluster->system.nic_rate->value, 200_Gbitps);
  const auto odd = load_cluster("16xh100-sxm@roce-333", kClusterData);
  ASSERT_TRUE(odd) << to_text(odd.error());
  EXPECT_EQ(odd->fabric.family, FabricFamily::kRoce);
  EXPECT_DOUBLE_EQ(odd->system.nic_rate->value / 1_Gbitps, 333.0);
}

TEST(Cluster, Nvl72IsOneDomainOfEighteenTrays) {
  const auto cluster = load_cluster("72xgb200", kClusterData);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nodes(), 18);
  EXPECT_EQ(cluster->domains(), 1);
}

TEST(Cluster, ASystemCountsNodes) {
  const auto cluster = load_cluster("4xdgx-h100", kClusterData);
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->devices, 32);
  EXPECT_TRUE(cluster->assumed.empty());
}

struct SliceCase {
  const char* word;
  std::int64_t chips;
  std::array<std::int64_t, 3> torus;
};

// Cloud TPU names: v4 and v5p count cores (two a chip), v5e and v6e chips.
TEST(Cluster, TpuSlicesAreNamedAsGoogleNamesThem) {
  for (const SliceCase& c :
       {SliceCase{"v5p-512", 256, {4, 8, 8}}, SliceCase{"v4-128", 64, {4, 4, 4}},
        SliceCase{"v5e-256", 256, {1, 16, 16}}, SliceCase{"v6e-64", 64, {1, 8, 8}},
        SliceCase{"2xv5e-256", 512, {1, 16, 16}}}) {
    const auto cluster = load_cluster(c.word, kClusterData);
    ASSERT_TRUE(cluster) << c.word << to_text(cluster.error());
    EXPECT_EQ(cluster->devices, c.chips) << c.word;
    EXPECT_EQ(cluster->torus, c.torus) << c.word;
  }
  EXPECT_FALSE(load_cluster("v5p-511", kClusterData));
}

TEST(Cluster, AFileOverridesWhatItNames) {
  const auto cluster = parse_cluster_toml(
      "name = \"our pod\"\ndevice = \"h100-sxm\"\ndevices = 128\nfabric = \"roce\"\n"
      "[nics_per_node]\nvalue = \"4 count\"\nkind = \"measured\"\nsource = \"lspci\"\n"
      "[price]\nvalue = \"2.5 USD/h\"\nkind = \"assumed\"\nsource = \"contract\"\n",
      "c.toml", kClusterData);
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->name, "our pod");
  EXPECT_EQ(cluster->fabric.family, FabricFamily::kRoce);
  EXPECT_EQ(*cluster->network_per_device(), 200_Gbitps);  // 4 NICs of 400 over 8 devices
  EXPECT_DOUBLE_EQ((cluster->price->value * 1_hours).base(), 2.5);
}

TEST(Cluster, AUsersOwnDeviceIsWrittenInline) {
  const auto cluster = parse_cluster_toml(
      "devices = 16\nsystem = \"dgx-h100\"\n[device]\nname = \"X1\"\nvendor = \"nvidia\"\n"
      "generation = \"x\"\nreference_system = \"dgx-h100\"\n"
      "[device.peak.bf16]\nvalue = \"500 TFLOP/s\"\nkind = \"assumed\"\nsource = \"roadmap\"\n"
      "[device.memory_capacity]\nvalue = \"96 GB\"\nkind = \"assumed\"\nsource = \"roadmap\"\n"
      "[device.memory_bandwidth]\nvalue = \"4 TB/s\"\nkind = \"assumed\"\nsource = \"roadmap\"\n"
      "[device.power_limit]\nvalue = \"500 W\"\nkind = \"assumed\"\nsource = \"roadmap\"\n",
      "c.toml", kClusterData);
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->device.name, "X1");
}

TEST(Cluster, AValueWithoutUnitSourceOrKindIsRefusedWithItsPlace) {
  const auto error_of = [](const char* table) {
    return parse_cluster_toml(
               std::string("device = \"h100-sxm\"\ndevices = 8\n[nic_rate]\n") + table, "c.toml",
               kClusterData)
        .error();
  };
  EXPECT_NE(error_of("value = \"400\"\nkind = \"measured\"\nsource = \"x\"\n").what.find("no unit"),
            std::string::npos);
  EXPECT_EQ(error_of("value = \"400\"\nkind = \"measured\"\nsource = \"x\"\n").where, "c.toml:4:9");
  EXPECT_EQ(error_of("value = \"400 Gbit/s\"\nsource = \"x\"\n").what, "kind is missing");
  EXPECT_EQ(error_of("value = \"400 Gbit/s\"\nkind = \"measured\"\n").what, "source is missing");
  EXPECT_NE(error_of("value = \"1 Gbit/s\"\nkind = \"hearsay\"\nsource = \"x\"\n")
                .allowed.find("datasheet"),
            std::string::npos);
  EXPECT_NE(
      error_of("value = \"1 Gbit/s\"\nkind = \"measured\"\nsource = \" \"\n").what.find("empty"),
      std::string::npos);
}

TEST(Torus, ShapesAreAsCubicAsThePodAllows) {
  System cube;
  cube.scale_up = ScaleUp::kIci3d;
  cube.torus = {Sourced<std::int64_t>{16, SourceKind::kPaper, "t"},
                Sourced<std::int64_t>{16, SourceKind::kPaper, "t"},
                Sourced<std::int64_t>{16, SourceKind::kPaper, "t"}};
  EXPECT_EQ(*torus_shape(512, cube), (std::array<std::int64_t, 3>{8, 8, 8}));
  EXPECT_FALSE(torus_shape(17, cube));  // 17 is longer than the pod
  cube.scale_up = ScaleUp::kNvSwitch;
  EXPECT_FALSE(torus_shape(8, cube));
  EXPECT_FALSE(parse_torus("4x", "t"));
  EXPECT_FALSE(parse_torus("4", "t"));
  EXPECT_EQ(*parse_torus("4x4x8", "t"), (std::array<std::int64_t, 3>{4, 4, 8}));
}

}  // namespace
}  // namespace sextant::describe
