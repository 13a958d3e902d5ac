#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/calibrate_command.h"
#include "app/testing.h"
#include "app/validate_command.h"
#include "base/scratch_folder_testing.h"
#include "base/text.h"

namespace sextant::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "kind,variant,dtype,a,b,c,d,e,f,time_us\n";

class Command : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

// Times that no constants meet exactly, so that the errors say something.
std::string uneven_table() {
  std::string text(kHeader);
  int number = 0;
  for (const int m : {512, 2048, 8192}) {
    for (const int n : {1024, 4096, 8192}) {
      for (const char* variant : {"fprop", "dgrad", "wgrad"}) {
        number = (number * 31 + 7) % 40;
        const double time = 20.0 + 2.0 * m * n * 4096.0 / 6e8 * (1.0 + number / 100.0);
        text += fmt::format("gemm,{},bf16,{},{},4096,,,,{}\n", variant, m, n, time);
      }
    }
  }
  return text;
}

TEST_F(Command, TheWrittenFileScoresAsPrinted) {
  const std::string table = write("h100-sxm.csv", uneven_table());
  const std::string file = (folder() / "mine" / "kernels" / "h100-sxm.toml").string();
  const auto made = told(calibrate({.tables = {table}, .device = "h100-sxm", .write_file = file},
                                   {.data = built_in_data(), .settings = {}}),
                         explain::Format::kCsv);
  ASSERT_TRUE(made) << to_text(made.error());
  const auto store = describe::DataStore::with_override(folder() / "mine");
  ASSERT_TRUE(store);
  const auto scored = told(
      validate_tables({.tables = {table}, .rows_file = {}, .ledger_file = {}, .check_file = {}},
                      {.data = *store, .settings = {}}),
      explain::Format::kCsv);
  ASSERT_TRUE(scored) << to_text(scored.error());
  // Last row of the one: all,rows,before,after,…; second of the other: source,quantity,rows,
  // predicted,refused,mean error,…
  const auto printed = split(trimmed(made->text), '\n').back();
  const auto again = split(trimmed(scored->text), '\n').back();
  EXPECT_EQ(split(printed, ',')[3], split(again, ',')[5]) << made->text << scored->text;
  EXPECT_NE(split(printed, ',')[3], split(printed, ',')[2]) << made->text;
}

TEST_F(Command, NoKnownKernelIsAnError) {
  const std::string table =
      write("h100-sxm.csv", std::string(kHeader) + "gemm,sideways,bf16,1,2,3,,,,10\n");
  const auto made = calibrate({.tables = {table}, .device = "h100-sxm", .write_file = {}},
                              {.data = built_in_data(), .settings = {}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(made.error().what.find("none of 1 rows"), std::string::npos);
  EXPECT_NE(made.error().allowed.find("gemm, bmm"), std::string::npos);
}

TEST_F(Command, TheDeviceMustBeNamed) {
  const std::string table = write("h100-sxm.csv", uneven_table());
  const auto made = calibrate({.tables = {table}, .device = {}, .write_file = {}},
                              {.data = built_in_data(), .settings = {}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().allowed.find("‹device› NAME"), std::string::npos);
}

TEST_F(Command, ATableOfSomethingElseIsAnError) {
  const std::string table =
      write("bench.csv", "world,threads,kind,group,a,b,c,time_us\n8,2,matmul,1,64,64,64,10\n");
  const auto made = calibrate({.tables = {table}, .device = "h100-sxm", .write_file = {}},
                              {.data = built_in_data(), .settings = {}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(made.error().what.find("no table of timed kernels"), std::string::npos);
}

}  // namespace
}  // namespace sextant::app
