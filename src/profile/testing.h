// The program's own tables of names and operators, for tests. Only tests include this.
#pragma once

#include <stdexcept>

#include "base/file.h"
#include "base/places_testing.h"
#include "profile/read.h"

namespace sextant::profile {

inline const RecognitionTable& table_of_names() {
  static const RecognitionTable kTable = [] {
    auto text = read_file(source_folder() / "data/profile/names.csv", 1_MiB);
    auto table = text ? RecognitionTable::parse(*std::move(text), "names.csv")
                      : tl::unexpected(std::move(text.error()));
    if (!table) {
      throw std::runtime_error(to_text(table.error()));
    }
    return *std::move(table);
  }();
  return kTable;
}

inline const OperatorTable& table_of_operators() {
  static const OperatorTable kTable = [] {
    auto text = read_file(source_folder() / "data/profile/operators.csv", 1_MiB);
    auto table = text ? OperatorTable::parse(*std::move(text), "operators.csv")
                      : tl::unexpected(std::move(text.error()));
    if (!table) {
      throw std::runtime_error(to_text(table.error()));
    }
    return *std::move(table);
  }();
  return kTable;
}

inline ReadOptions options_of_tests() {
  return {.names = table_of_names(), .operators = table_of_operators()};
}

}  // namespace sextant::profile
