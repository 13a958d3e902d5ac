// The columns of an nccl-tests table: from its header, or from how many numbers a line has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measured/nccl_lines.h"

namespace sextant::measured {

// Places among the numbers that follow the type and reduction words.
struct NcclLayout {
  struct Group {
    std::size_t time = 0;
    std::size_t algbw = 0;
    std::size_t busbw = 0;
    std::optional<std::size_t> wrong;
    std::size_t end = 0;  // one past the group's last number
  };
  std::optional<std::size_t> root;
  std::vector<Group> groups;  // one or two
  std::size_t most = 0;       // numbers a line may have
};

// The header of a table, gathered from its lines; a narrow terminal may have broken them.
class NcclHeader {
 public:
  // Takes the line if it is part of a header; whether it is the "size count type …" line.
  bool take(const NcclLines& line);

  [[nodiscard]] const std::optional<NcclLayout>& layout() const { return layout_; }
  [[nodiscard]] bool in_place_first() const { return in_place_first_; }
  [[nodiscard]] bool cpu_time() const { return cpu_time_; }

 private:
  void take_places(const NcclLines& line);
  void take_columns(const NcclLines& line, std::size_t first);

  std::vector<std::string> columns_;  // from "size" on
  std::int64_t last_columns_line_ = 0;
  std::int64_t places_line_ = 0;  // of the last "out-of-place in-place" line
  bool places_in_first_ = false;
  std::optional<NcclLayout> layout_;
  bool in_place_first_ = false;
  bool cpu_time_ = false;  // the time is what the CPU spent (-C 1), not what the collective took
};

// The layout of a line without a header: see nccl_tests.h.
std::optional<NcclLayout> layout_of_count(std::size_t numbers, bool begins_with_minus);

}  // namespace sextant::measured
