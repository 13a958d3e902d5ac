// nccl-tests output that a model would give, pasted back: constants are found, files load.

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/calibrate_command.h"
#include "app/testing.h"
#include "base/scratch_folder_testing.h"
#include "calibrate/nccl_calibration.h"
#include "describe/cluster/load_cluster.h"
#include "describe/comm_facts.h"
#include "machine/comm_models.h"
#include "workload/wire.h"

namespace sextant::app {
namespace {

using describe::CollectiveOp;
using describe::LinkKey;
using describe::NetworkKey;

describe::Cluster cluster_of(const std::string& word) {
  auto cluster = describe::load_cluster(word, built_in_data());
  EXPECT_TRUE(cluster) << to_text(cluster.error());
  return *cluster;
}

cost::CommModel model_of(const std::string& cluster) {
  const auto known = machine::CommModels(built_in_data()).of(cluster_of(cluster));
  EXPECT_TRUE(known) << to_text(known.error());
  return known->model;
}

void multiply(cost::CommModel& model, NetworkKey key, double factor) {
  model.network[static_cast<std::size_t>(key)] *= factor;
}

// What nccl-tests prints for one operation on ranks of hosts with eight devices.
struct Printed {
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::int64_t ranks = 16;
  std::int64_t hosts = 2;
  std::int64_t first = 1024;
  std::int64_t last = std::int64_t{8} << 30U;
};

std::string devices_text(const Printed& printed) {
  std::string text;
  const std::int64_t a_host = printed.ranks / printed.hosts;
  for (std::int64_t rank = 0; rank < printed.ranks; ++rank) {
    text += fmt::format(
        "#  Rank {:2} Group  0 Pid {} on  node-{} device {:2} [0x{:02x}] NVIDIA H100 80GB HBM3\n",
        rank, 900 + rank, rank / a_host, rank % a_host, 16 + rank % a_host);
  }
  return text;
}

std::string text_of(const Printed& printed, const cost::CommModel& model) {
  const bool reduce = printed.op == CollectiveOp::kAllReduce;
  std::string text =
      fmt::format("# Collective test starting: {}_perf\n", reduce ? "all_reduce" : "all_gather") +
      devices_text(printed) +
      "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  "
      "busbw #wrong\n";
  const cost::GroupShape group{printed.ranks, printed.hosts, printed.ranks / printed.hosts, 1};
  for (std::int64_t size = printed.first; size <= printed.last; size *= 4) {
    const auto bytes = static_cast<double>(size);
    const double us = cost::collective_time(printed.op, Bytes(bytes), group, model) / 1_us;
    const double algbw = bytes / us * 1e-3;
    const std::string cells = fmt::format("{:.2f} {:.2f} {:.2f} 0", us, algbw,
                                          algbw * workload::wire_share(printed.op, printed.ranks));
    text += fmt::format("{:.0f} {:.0f} float {} -1 {} {}\n", bytes, bytes / 4.0,
                        reduce ? "sum" : "none", cells, cells);
  }
  return text + "# Avg bus bandwidth    : 100\n";
}

calibrate::Inputs pasted(const std::string& text, const std::string& name = "nccl.txt") {
  auto tables = measured::parse_nccl_tests(text, name, measured::nccl_op_in(name));
  EXPECT_TRUE(tables) << to_text(tables.error());
  calibrate::Inputs files;
  files.texts.push_back({name, *tables});
  files.names = name;
  return files;
}

const calibrate::CommKeyChange& key_of(const calibrate::CommClassChange& of, std::string_view key) {
  const auto found = std::ranges::find(of.keys, key, &calibrate::CommKeyChange::key);
  EXPECT_NE(found, of.keys.end()) << key;
  return *found;
}

class CalibrateComm : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  [[nodiscard]] std::string mine() const { return (folder_.path() / "mine").string(); }

  void write_below_mine(const calibrate::CommCalibration& made) const {
    const std::filesystem::path file = std::filesystem::path(mine()) / made.files[0].path;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(write_file(file, made.files[0].text));
  }

  // The error of a call that must fail.
  static Error refused(const CalibrateRequest& request) {
    const auto made = calibrate(request, {.data = built_in_data(), .settings = {}});
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  }

 private:
  ScratchFolder folder_;
};

TEST_F(CalibrateComm, ASlowerNetworkIsFoundAndItsFileLoads) {
  cost::CommModel slower = model_of("2xdgx-h100");
  multiply(slower, NetworkKey::kRingShare, 0.6);
  multiply(slower, NetworkKey::kTreeShare, 0.6);
  multiply(slower, NetworkKey::kHop, 2.0);
  const std::string file =
      write("nccl.txt", text_of({}, slower) + text_of({.op = CollectiveOp::kAllGather}, slower));
  const auto made = told(
      calibrate({.tables = {file}, .device = {}, .write_file = mine(), .cluster = "2xdgx-h100"},
                {.data = built_in_data(), .settings = {}}),
      explain::Format::kCsv);
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_NE(made->text.find("comm/networks/ib.toml,all sizes,48"), std::string::npos) << made->text;
  EXPECT_EQ(made->text.find("comm/links"), std::string::npos) << "no timing within a domain";

  const auto store = describe::DataStore::with_override(mine());
  ASSERT_TRUE(store);
  const auto facts = describe::load_network_facts("ib", *store);
  ASSERT_TRUE(facts) << to_text(facts.error());
  const auto ring = static_cast<std::size_t>(NetworkKey::kRingShare);
  EXPECT_NEAR(facts->values[ring].value / slower.network[ring], 1.0, 0.06);
  EXPECT_EQ(facts->values[ring].kind, describe::SourceKind::kFitted);
  EXPECT_TRUE(facts->values[ring].source.starts_with(
      "sextant calibrate: fitted on 48 timings of nccl.txt, "))
      << facts->values[ring].source;
  // Nothing speaks of messages: value and source stay.
  const auto message = static_cast<std::size_t>(NetworkKey::kMessageShare);
  EXPECT_NE(facts->values[message].source.find("truth/comm"), std::string::npos);
}

TEST_F(CalibrateComm, TheErrorsSaidAreThoseOfTheWrittenFile) {
  cost::CommModel slower = model_of("2xdgx-h100");
  multiply(slower, NetworkKey::kRingShare, 0.5);
  const calibrate::Inputs files = pasted(text_of({.op = CollectiveOp::kAllGather}, slower));
  const auto made = calibrate::nccl_calibration(files, "2xdgx-h100", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  const calibrate::CommClassChange& change = made->classes.front();
  EXPECT_GT(change.before, 0.1);
  EXPECT_LT(change.after, 0.05);
  write_below_mine(*made);
  const auto store = describe::DataStore::with_override(mine());
  ASSERT_TRUE(store);
  // What is after now is before where the file is in use.
  const auto again = calibrate::nccl_calibration(files, "2xdgx-h100", *store);
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_DOUBLE_EQ(again->classes.front().before, change.after);
  // The comment says what was done last, once.
  const std::string& text = again->files[0].text;
  EXPECT_TRUE(text.starts_with("# Made by sextant calibrate from 24 timings of nccl.txt on "))
      << text.substr(0, 200);
  EXPECT_EQ(text.find("# Made by", 1), std::string::npos);
}

TEST_F(CalibrateComm, TimingsThatAgreeChangeNothing) {
  const auto made = calibrate::nccl_calibration(pasted(text_of({}, model_of("2xdgx-h100"))),
                                                "2xdgx-h100", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  const calibrate::CommClassChange& change = made->classes.front();
  // Times are printed with two decimals.
  EXPECT_LT(change.before, 1e-3);
  EXPECT_LE(change.after, change.before + 1e-4);
  for (const char* key : {"simple.ring", "simple.tree"}) {
    EXPECT_FALSE(key_of(change, key).fitted) << key << " " << key_of(change, key).after;
  }
}

TEST_F(CalibrateComm, LinksAreFittedBeforeTheNetwork) {
  cost::CommModel truth = model_of("2xdgx-h100");
  truth.link[static_cast<std::size_t>(LinkKey::kSwitchRate)] *= 0.8;
  truth.link[static_cast<std::size_t>(LinkKey::kLlBase)] *= 2.0;
  multiply(truth, NetworkKey::kTreeShare, 0.6);
  const std::string text = text_of({.ranks = 8, .hosts = 1}, truth) + text_of({}, truth);
  const auto made = calibrate::nccl_calibration(pasted(text), "2xdgx-h100", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  ASSERT_EQ(made->classes.size(), 2U);
  EXPECT_EQ(made->classes[0].file, "comm/links/nvlink4.toml");
  EXPECT_EQ(made->classes[1].file, "comm/networks/ib.toml");
  for (const calibrate::CommClassChange& change : made->classes) {
    EXPECT_EQ(change.timings, 24);
    EXPECT_GT(change.before, 0.05) << change.file;
    EXPECT_LT(change.after, 0.05) << change.file;
  }
  EXPECT_TRUE(key_of(made->classes[0], "nvls.rate").fitted);
  EXPECT_EQ(key_of(made->classes[0], "all_gather.eight").timings, 0);
  std::int64_t timings = 0;
  for (const calibrate::CommSizeChange& size : made->classes[0].sizes) {
    timings += size.timings;
  }
  EXPECT_EQ(timings, 24);
}

// The share of the file, not of the device: h800 links run at 200 GB/s, the file is of 450.
TEST_F(CalibrateComm, ADeviceWithOtherRatesKeepsTheFilesScale) {
  const std::string text =
      text_of({.op = CollectiveOp::kAllGather, .ranks = 8, .hosts = 1}, model_of("8xh800-sxm"));
  const auto made = calibrate::nccl_calibration(pasted(text), "8xh800-sxm", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_LT(made->classes.front().before, 1e-3);
  EXPECT_FALSE(key_of(made->classes.front(), "all_gather.eight").fitted);
  EXPECT_NE(made->warnings.back().find("but 8xh800-sxm has h800-sxm"), std::string::npos);
}

// Times of NVSwitch said to be of PCIe.
TEST_F(CalibrateComm, TimingsOfOtherHardwareAreWarnedOf) {
  const std::string cluster =
      write("box.toml",
            "name = \"box\"\ndevice = \"l40s\"\ndevices = 8\n[domain_size]\nvalue = \"8 count\"\n"
            "kind = \"measured\"\nsource = \"one host\"\n");
  const auto made = calibrate::nccl_calibration(
      pasted(text_of({.ranks = 8, .hosts = 1}, model_of("2xdgx-h100"))), cluster, built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_EQ(made->classes[0].file, "comm/links/pcie4-l40s.toml");
  ASSERT_EQ(made->warnings.size(), 2U);
  EXPECT_NE(made->warnings[0].find("(h100-sxm), but box has l40s"), std::string::npos);
  EXPECT_NE(made->warnings[1].find("is box where they were measured"), std::string::npos);
}

// Names with quotes must not end up as broken TOML.
TEST_F(CalibrateComm, AnyFileNameGivesAFileThatLoads) {
  const auto made = calibrate::nccl_calibration(
      pasted(text_of({.ranks = 8, .hosts = 1}, model_of("2xdgx-h100")) +
                 text_of({.op = CollectiveOp::kAllGather, .ranks = 8, .hosts = 1},
                         [] {
                           cost::CommModel model = model_of("2xdgx-h100");
                           model.link[static_cast<std::size_t>(LinkKey::kAllGather8)] *= 0.5;
                           return model;
                         }()),
             "my \"best\\\n.txt"),
      "1xdgx-h100", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  write_below_mine(*made);
  const auto store = describe::DataStore::with_override(mine());
  ASSERT_TRUE(store);
  const auto facts = describe::load_link_facts("nvlink4", *store);
  ASSERT_TRUE(facts) << to_text(facts.error());
  EXPECT_NE((*facts).values[static_cast<std::size_t>(LinkKey::kAllGather8)].source.find("my 'best"),
            std::string::npos);
}

TEST_F(CalibrateComm, WrongAndContradictingLinesAreLeftOut) {
  std::string text = text_of({}, model_of("2xdgx-h100"));
  // 1 MiB in 40 µs is 26.21 GB/s; with 16 ranks busbw is 26.21 · 30/16 = 49.15.
  text.insert(text.find("# Avg"),
              "1048576 262144 float sum -1 40.00 26.21 49.15 7\n"
              "1048576 262144 float sum -1 40.00 99.99 49.15 0\n");
  const auto made = calibrate::nccl_calibration(pasted(text), "2xdgx-h100", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_EQ(made->classes.front().timings, 24);
  ASSERT_EQ(made->unused.size(), 2U);
  EXPECT_EQ(made->unused[0].first, "bytes, time and bandwidth contradict each other");
  EXPECT_EQ(made->unused[1].first, "the result was wrong");
  EXPECT_EQ(made->unused[1].second, 1);
  EXPECT_GE(made->warnings.size(), 2U);
}

TEST_F(CalibrateComm, TooFewTimingsSayWhatIsNeeded) {
  const std::string file =
      write("nccl.txt", text_of({.first = 1024, .last = 1024}, model_of("2xdgx-h100")));
  const Error error =
      refused({.tables = {file}, .device = {}, .write_file = {}, .cluster = "2xdgx-h100"});
  EXPECT_EQ(error.what, "0 usable timings within a scale-up domain and 2 over several");
  EXPECT_NE(error.allowed.find("at least 3 of one kind"), std::string::npos);
}

TEST_F(CalibrateComm, AnUnknownOperationSaysHowToNameIt) {
  const std::string lines =
      "1048576 262144 float none -1 40.00 26.21 26.21 0 41.00 25.58 25.58 0\n"
      "2097152 524288 float none -1 60.00 34.95 34.95 0 61.00 34.38 34.38 0\n";
  const std::string file = write("nccl.txt", lines);
  const Error error =
      refused({.tables = {file}, .device = {}, .write_file = {}, .cluster = "2xdgx-h100"});
  EXPECT_NE(error.what.find("4 left out: "), std::string::npos) << error.what;
  EXPECT_NE(error.what.find("all_reduce.txt"), std::string::npos) << error.what;
  const std::string reduce = write("more.txt", "# Collective test starting: reduce_perf\n" + lines);
  EXPECT_NE(refused({.tables = {reduce}, .device = {}, .write_file = {}, .cluster = "2xdgx-h100"})
                .what.find("reduce_perf is not modelled"),
            std::string::npos);
}

// Finding 8: cards whose links nobody measured, and one step that learns them.
TEST_F(CalibrateComm, LinksThatNobodyMeasuredAreLearnedInOneStep) {
  const calibrate::Inputs files = pasted(text_of({.ranks = 4, .hosts = 1}, model_of("8xl40s")));
  const auto made = calibrate::nccl_calibration(files, "8xrtx-4090", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  ASSERT_EQ(made->files.size(), 1U);
  const auto& [path, text] = made->files.front();
  EXPECT_EQ(path, "comm/links/assumed-pcie4.toml");
  EXPECT_NE(text.find("devices = [\"rtx-4090\"]"), std::string::npos) << text.substr(0, 400);
  EXPECT_EQ(text.find("nobody measured"), std::string::npos);
  EXPECT_LT(made->classes.front().after, made->classes.front().before);
}

// Eight cards without NVLink are joined by their host, not by the network.
TEST_F(CalibrateComm, ServersWithoutLinksAreNotTakenForNetworks) {
  const calibrate::Inputs files = pasted(text_of({.ranks = 8, .hosts = 1}, model_of("8xl40s")));
  const auto made = calibrate::nccl_calibration(files, "8xl40s", built_in_data());
  ASSERT_TRUE(made) << to_text(made.error());
  ASSERT_EQ(made->files.size(), 1U);
  EXPECT_EQ(made->files.front().path, "comm/links/pcie4-l40s.toml");
}

TEST_F(CalibrateComm, OptionsMustBeThoseOfTheInput) {
  const std::string nccl = write("nccl.txt", text_of({}, model_of("2xdgx-h100")));
  const std::string kernels = write("h100-sxm.csv",
                                    "kind,variant,dtype,a,b,c,d,e,f,time_us\n"
                                    "gemm,fprop,bf16,8192,8192,8192,,,,1000\n");
  EXPECT_EQ(refused({.tables = {nccl}, .device = {}, .write_file = {}}).what,
            "it is not said where nccl-tests ran");
  EXPECT_EQ(
      refused({.tables = {nccl}, .device = "h100-sxm", .write_file = {}, .cluster = "2xdgx-h100"})
          .what,
      "‹device› is for tables of kernels, this is nccl-tests output");
  EXPECT_EQ(
      refused({.tables = {kernels}, .device = {}, .write_file = {}, .cluster = "8xh100-sxm"}).what,
      "‹on› is for nccl-tests output, this is no such");
  EXPECT_EQ(refused({.tables = {nccl, kernels}, .device = {}, .write_file = {}}).what,
            "nccl.txt is nccl-tests output and others are tables");
  EXPECT_NE(
      refused(
          {.tables = {nccl}, .device = {}, .write_file = "mine/ib.toml", .cluster = "2xdgx-h100"})
          .what.find("written to a folder"),
      std::string::npos);
  const std::string words = write("notes.txt", "nothing here\n");
  const Error neither = refused({.tables = {words}, .device = {}, .write_file = {}});
  EXPECT_NE(neither.what.find("no usable nccl-tests result line"), std::string::npos);
  EXPECT_NE(neither.allowed.find("CSV table"), std::string::npos);
}

std::string collectives_csv(double factor) {
  const cost::CommModel model = model_of("1xdgx-h100");
  std::string text =
      "id,source,hardware,gpus_per_node,nodes,ranks,intra_link,inter_link,collective,bytes,time_us,"
      "algbw_GBps,busbw_GBps,in_place,nccl_version,notes\n";
  int row = 0;
  for (std::int64_t size = 1024; size <= std::int64_t{4} << 30U; size *= 4) {
    const auto bytes = static_cast<double>(size);
    const double us =
        factor *
        (cost::collective_time(CollectiveOp::kAllGather, Bytes(bytes), {8, 1, 8, 1}, model) / 1_us);
    text += fmt::format(
        "mine#{},here,HGX H100 8-GPU,8,1,8,NVLink4+NVSwitch 450GB/s/GPU "
        "uni,,all_gather,{:.0f},{},,,"
        "0,,\n",
        row++, bytes, us);
  }
  return text;
}

TEST_F(CalibrateComm, ATableOfCollectivesRefitsEveryClassItSpeaksOf) {
  const std::string file = write("collectives.csv", collectives_csv(1.5));
  const auto made = told(calibrate({.tables = {file}, .device = {}, .write_file = mine()},
                                   {.data = built_in_data(), .settings = {}}),
                         explain::Format::kCsv);
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_NE(made->text.find("comm/links/nvlink4.toml,all sizes,12"), std::string::npos)
      << made->text;
  const auto store = describe::DataStore::with_override(mine());
  ASSERT_TRUE(store);
  const auto facts = describe::load_link_facts("nvlink4", *store);
  ASSERT_TRUE(facts) << to_text(facts.error());
  EXPECT_NE(made->notes.back().find("replace the built-in ones for every device"),
            std::string::npos);
  EXPECT_EQ(refused({.tables = {file}, .device = "h100-sxm", .write_file = {}}).what,
            "‹device› is for tables of kernels, this is one of collectives");
  EXPECT_EQ(
      refused({.tables = {file}, .device = {}, .write_file = {}, .cluster = "8xh100-sxm"}).what,
      "‹on› is for nccl-tests output, this is a table of collectives");
}

TEST_F(CalibrateComm, ATableOfUnknownSystemsIsAnError) {
  std::string text = collectives_csv(1.0);
  for (std::size_t at = text.find("HGX H100"); at != std::string::npos;
       at = text.find("HGX H100", at)) {
    text.replace(at, 8, "Abacus 9");
  }
  const Error error =
      refused({.tables = {write("collectives.csv", text)}, .device = {}, .write_file = {}});
  EXPECT_NE(error.what.find("12 left out"), std::string::npos) << error.what;
}

}  // namespace
}  // namespace sextant::app
