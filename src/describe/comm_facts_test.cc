#include "describe/comm_facts.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "describe/cluster/load_cluster.h"
#include "describe/comm_spread.h"
#include "describe/torus_facts.h"

namespace sextant::describe {
namespace {

// Path of a file of an override folder that lives as long as the test.
class Folder {
 public:
  DataStore with(const std::string& file, const std::string& text) {
    EXPECT_TRUE(std::filesystem::exists(folder_.write(file, text)));
    return *DataStore::with_override(folder_.path());
  }

 private:
  ScratchFolder folder_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string links_of(const char* device) {
  const DataStore data;
  const auto known = load_device(device, data);
  EXPECT_TRUE(known) << device;
  const auto cluster = load_cluster(std::string("8x") + device, data);
  EXPECT_TRUE(cluster) << (cluster ? "" : to_text(cluster.error()));
  const auto facts = link_facts(*known, cluster->system.scale_up, data);
  EXPECT_TRUE(facts) << (facts ? "" : to_text(facts.error()));
  return facts ? facts->value_or(LinkFacts{}).id : "";
}

TEST(CommFacts, EveryFileIsWhole) {
  const DataStore data;
  for (const std::string& id : data.list("comm/links", "toml")) {
    const auto facts = load_link_facts(id, data);
    ASSERT_TRUE(facts) << to_text(facts.error());
    EXPECT_TRUE(load_link_facts(facts->start, data)) << id;
  }
  for (const std::string& id : data.list("comm/networks", "toml")) {
    const auto facts = load_network_facts(id, data);
    ASSERT_TRUE(facts) << to_text(facts.error());
    EXPECT_TRUE(load_network_facts(facts->start, data)) << id;
  }
  EXPECT_TRUE(torus_facts(data));
}

TEST(CommFacts, LinksFollowTheDevice) {
  EXPECT_EQ(links_of("h100-sxm"), "nvlink4");
  EXPECT_EQ(links_of("h800-sxm"), "nvlink4");
  EXPECT_EQ(links_of("a100-sxm-80g"), "nvlink3");
  EXPECT_EQ(links_of("b300"), "nvlink5");
  EXPECT_EQ(links_of("gb200"), "nvlink5");
  EXPECT_EQ(links_of("mi325x"), "xgmi3");
  EXPECT_EQ(links_of("l40s"), "pcie4-l40s");
  EXPECT_EQ(links_of("rtx-4090"), "") << "no host of these was measured";
}

TEST(CommFacts, NetworksFollowFamilyAndRate) {
  const DataStore data;
  const auto id_of = [&](FabricFamily family, BytesPerSecond rate) {
    const auto facts = network_facts(family, rate, data);
    return facts ? facts->value_or(NetworkFacts{}).id : "";
  };
  EXPECT_EQ(id_of(FabricFamily::kEfa, 6.25_GBps), "efa-v1");
  EXPECT_EQ(id_of(FabricFamily::kEfa, 50_GBps), "efa-v2");
  EXPECT_EQ(id_of(FabricFamily::kInfiniband, 50_GBps), "ib");
  EXPECT_EQ(id_of(FabricFamily::kIci, 50_GBps), "");
}

TEST(CommFacts, ValuesAreWrittenAsTheyAreRead) {
  const DataStore data;
  const std::string text = *data.read("comm/links/nvlink4.toml");
  const auto facts = load_link_facts("nvlink4", data);
  ASSERT_TRUE(facts);
  EXPECT_EQ(text.substr(text.find("\n[ll.base]")), link_values_text(*facts));
  const std::string network = *data.read("comm/networks/ib.toml");
  const auto ib = load_network_facts("ib", data);
  ASSERT_TRUE(ib);
  EXPECT_EQ(network.substr(network.find("\n[ll.hop]")), network_values_text(*ib));
}

TEST(CommFacts, BrokenFilesNameThePlace) {
  Folder folder;
  const std::string text = *DataStore().read("comm/links/nvlink4.toml");
  const auto error_of = [&](const std::string& from, const std::string& to) {
    const DataStore data = folder.with("comm/links/nvlink4.toml", replaced(text, from, to));
    const auto facts = load_link_facts("nvlink4", data);
    EXPECT_FALSE(facts) << to;
    return facts ? std::string() : to_text(facts.error());
  };
  EXPECT_NE(error_of("[ll.base]", "[ll.bass]").find("base"), std::string::npos);
  EXPECT_NE(error_of("[nvls.rate]\nvalue = \"", "[nvls.rate]\nvalue = \"x").find("nvlink4.toml:"),
            std::string::npos);
  EXPECT_NE(error_of("[rate]", "[extra]\nvalue = 1\n[rate]").find("extra"), std::string::npos);
}

TEST(CommSpread, GrowsWithWhatIsNotKnown) {
  const auto spread = comm_spread(DataStore());
  ASSERT_TRUE(spread) << to_text(spread.error());
  EXPECT_LT(spread->factor(CommRegime::kOneDomain, 1_GiB),
            spread->factor(CommRegime::kOneDomain, 1_MiB));
  EXPECT_LT(spread->factor(CommRegime::kOneDomain, 1_GiB),
            spread->factor(CommRegime::kTwoDomains, 1_GiB));
  EXPECT_GE(spread->factor(CommRegime::kOneHost, 1_GiB), 2.0);
  EXPECT_EQ(spread->factor(CommRegime::kOneDomain, 256_MiB),
            spread->factor(CommRegime::kOneDomain, 1_GiB));
}

TEST(CommSpread, AFactorBelowOneIsRefused) {
  Folder folder;
  const std::string text = *DataStore().read("comm/spread.toml");
  const std::size_t at = text.find("value = \"") + 9;
  const DataStore data = folder.with(
      "comm/spread.toml", std::string(text).replace(at, text.find('"', at) - at, "0.9 ratio"));
  const auto spread = comm_spread(data);
  ASSERT_FALSE(spread);
  EXPECT_NE(to_text(spread.error()).find("below 1"), std::string::npos);
}

}  // namespace
}  // namespace sextant::describe
