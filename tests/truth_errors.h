// How far a predictor is from the rows of a measured table.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "measured/table.h"
#include "measured/validate.h"

namespace sextant::tests {

// The measured tables beside the sources; they may not be there.
inline const std::filesystem::path& truth_dir() {
  static const std::filesystem::path kFolder = shared_folder() / "truth";
  return kFolder;
}

using Chosen = std::function<bool(const measured::Row&)>;

// Sizes of the errors of the rows of a table that are chosen; a refusal is a failure.
template <class Predictor>
std::vector<double> errors_of(const std::filesystem::path& path, const Chosen& chosen) {
  const describe::DataStore data;
  const auto rows = measured::read_table(path, data);
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
  std::vector<double> errors;
  Predictor predictor(data);
  for (const measured::Row& row : rows ? *rows : std::vector<measured::Row>()) {
    if (!chosen(row)) {
      continue;
    }
    const measured::Answer answer = predictor(row);
    const auto* prediction = std::get_if<measured::Prediction>(&answer);
    EXPECT_NE(prediction, nullptr) << row.id;
    if (prediction != nullptr) {
      errors.push_back(std::abs(prediction->value / row.measured - 1.0));
    }
  }
  EXPECT_FALSE(errors.empty());
  return errors;
}

}  // namespace sextant::tests
