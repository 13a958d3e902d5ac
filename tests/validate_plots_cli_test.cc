// `sextant validate --plots` as a user meets it: files, links, staleness, folders that cannot be.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

std::string kernel_table(const Folder& folder) {
  return folder.write("mine.csv",
                      "kind,variant,dtype,a,b,c,d,e,f,time_us\n"
                      "gemm,fprop,bf16,4096,4096,4096,,,,210.5\n"
                      "gemm,fprop,bf16,8192,4096,4096,,,,400\n"
                      "bmm,fprop,bf16,64,1024,1024,128,,,90\n");
}

TEST(ValidatePlots, ArePairsOfPicturesAndTheSameTwice) {
  const Folder folder;
  const std::string table = kernel_table(folder);
  const std::filesystem::path plots = folder.path() / "new" / "plots";
  const std::vector<std::string> words{"validate", table, "--json", "--plots", plots.string()};
  const Ran ran = run_sextant(words);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, run_sextant({"validate", table, "--json"}).out);
  EXPECT_NE(ran.err.find("2 plots written to " + plots.string()), std::string::npos) << ran.err;
  const std::string first = content(plots / "kernels.svg") + content(plots / "kernels-error.svg");
  EXPECT_NE(first.find(">gemm</text>"), std::string::npos);
  EXPECT_NE(first.find(">predicted time (µs)</text>"), std::string::npos);
  ASSERT_EQ(run_sextant(words).exit_code, 0);
  EXPECT_EQ(content(plots / "kernels.svg") + content(plots / "kernels-error.svg"), first);
}

TEST(ValidatePlots, AreLinkedFromTheLedgerAndCheckedWithIt) {
  const Folder folder;
  const std::string table = kernel_table(folder);
  const std::filesystem::path plots = folder.path() / "validation";
  const std::string ledger = (folder.path() / "docs.md").string();
  ASSERT_EQ(
      run_sextant({"validate", table, "--ledger", ledger, "--plots", plots.string()}).exit_code, 0);
  EXPECT_NE(content(ledger).find("](validation/kernels.svg)"), std::string::npos);
  EXPECT_NE(content(ledger).find("](validation/kernels-error.svg)"), std::string::npos);
  EXPECT_EQ(run_sextant({"validate", table, "--check", ledger}).exit_code, 0);
  (void)folder.write("validation/kernels-error.svg", "<svg/>");
  const Ran stale = run_sextant({"validate", table, "--check", ledger});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_NE(stale.err.find("kernels-error.svg is not current"), std::string::npos) << stale.err;
}

TEST(ValidatePlots, NothingPredictedIsNoPlot) {
  const Folder folder;
  const std::string bench = folder.write(
      "bench.csv", "world,threads,kind,group,a,b,c,time_us\n8,2,unheard_of,1,256,256,256,900\n");
  const std::string ledger = (folder.path() / "ledger.md").string();
  const Ran ran = run_sextant(
      {"validate", bench, "--ledger", ledger, "--plots", (folder.path() / "plots").string()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("0 plots written"), std::string::npos) << ran.err;
  EXPECT_EQ(content(ledger).find("## Plots"), std::string::npos);
}

// Whether or not a model answers for such rows, their scores have a place.
TEST(ValidateComm, CollectivesHaveTheirOwnScoresInJsonAndLedger) {
  const Folder folder;
  const std::string table = folder.write(
      "collectives.csv",
      "id,source,hardware,gpus_per_node,nodes,ranks,intra_link,inter_link,collective,bytes,time_us,"
      "algbw_GBps,busbw_GBps,in_place,nccl_version,notes\n"
      "a#1,s,DGX H100,8,1,8,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,1048576,46.24,22.677,"
      "39.684,0,2.19,\n"
      "a#2,s,DGX H100,8,1,8,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,2097152,50.1,41.9,"
      "73.3,0,2.19,NOISY: shared node\n");
  const std::string ledger = (folder.path() / "ledger.md").string();
  const Ran ran = run_sextant({"validate", table, "--json", "--ledger", ledger});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto comm = nlohmann::json::parse(ran.out).at("comm");
  EXPECT_EQ(comm.at("collectives").at("n"), 2);
  EXPECT_EQ(comm.at("collectives").at("unhealthy"), 1);
  EXPECT_EQ(comm.at("expert_all_to_all"), nullptr);
  EXPECT_NE(content(ledger).find("## Collectives\n\n2 rows: "), std::string::npos);
  EXPECT_EQ(run_sextant({"validate", table, "--check", ledger}).exit_code, 0);
}

TEST(ValidatePlots, AFolderThatCannotBeIsAnErrorOutside) {
  const Folder folder;
  const std::string table = kernel_table(folder);
  const Ran ran = run_sextant({"validate", table, "--plots", table});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.err.find(table + ": can't be made: Not a directory"), std::string::npos) << ran.err;
  EXPECT_EQ(run_sextant({"validate", table, "--plots", table + "/below"}).exit_code, 3);
}

}  // namespace
}  // namespace sextant::tests
