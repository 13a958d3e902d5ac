// Outputs of nccl-tests to read, and what a test looks for in the tables read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "measured/nccl_tests.h"

namespace sextant::measured {

// busbw = bytes / time · 2·7/8 for all-reduce among 8 ranks: 1 MiB in 40 µs is 26.21 GB/s, 45.88.
inline constexpr std::string_view kRow =
    "     1048576        262144     float     sum      -1    40.00   26.21   45.88      0"
    "    41.00   25.58   44.76      0\n";
inline constexpr std::string_view kColumns =
    "#                                      out-of-place                       in-place\n"
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    "#   (B)  (elements)                (us) (GB/s) (GB/s)         (us) (GB/s) (GB/s)\n";

inline std::string devices(int ranks, int per_host,
                           std::string_view name = "NVIDIA H100 80GB HBM3") {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on   node-{} device {:2} [0x{:02x}] {}\n",
                        rank, 900 + rank, rank / per_host, rank % per_host, 25 + rank, name);
  }
  return text;
}

inline std::vector<NcclTable> read(std::string_view text, std::optional<CollectiveOp> hint = {}) {
  auto tables = parse_nccl_tests(text, "nccl.txt", hint);
  EXPECT_TRUE(tables) << to_text(tables.error());
  return tables ? *tables : std::vector<NcclTable>();
}

inline NcclTable read_one(std::string_view text, std::optional<CollectiveOp> hint = {}) {
  std::vector<NcclTable> tables = read(text, hint);
  EXPECT_EQ(tables.size(), 1U) << text;
  return tables.empty() ? NcclTable{} : tables.front();
}

// A usable line to look at where the reading failed.
inline NcclLine first_line(const NcclTable& table) {
  EXPECT_FALSE(table.lines.empty());
  return table.lines.empty() ? NcclLine{} : table.lines.front();
}

inline NcclTiming timing(const std::optional<NcclTiming>& found) {
  EXPECT_TRUE(found);
  return found.value_or(NcclTiming{});
}

inline std::string said(const NcclTable& table) {
  return join(table.warnings, "; ") + " | " + describe::to_text(table.assumed);
}

inline void expect_row(const NcclTable& table, std::int64_t line) {
  const NcclLine found = first_line(table);
  EXPECT_EQ(found.line, line);
  EXPECT_EQ(found.bytes, 1_MiB);
  EXPECT_EQ(found.dtype, "float");
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).time / 1_us, 40.0);
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).algbw / 1_GBps, 26.21);
  EXPECT_DOUBLE_EQ(timing(found.out_of_place).busbw / 1_GBps, 45.88);
  EXPECT_DOUBLE_EQ(timing(found.in_place).time / 1_us, 41.0);
  EXPECT_TRUE(found.consistent) << said(table);
}

}  // namespace sextant::measured
