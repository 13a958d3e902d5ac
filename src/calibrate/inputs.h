// What a calibration is given, read and told apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "measured/nccl_tests.h"
#include "measured/row.h"

namespace sextant::calibrate {

// Pasted output of nccl-tests.
struct NcclText {
  std::string name;  // of the file, without folders
  std::vector<measured::NcclTable> tables;
};

// Either rows or texts, never both.
struct Inputs {
  std::vector<measured::Row> rows;  // of CSV and JSON tables
  std::vector<NcclText> texts;
  std::vector<std::pair<std::string, std::string>> inputs;  // path and SHA-256
  std::string names;                                        // "kernels.csv, more.csv"
};

// Files, folders of tables, and "-" for standard input; at most 64 MiB each. A file is a table
// where one can read it as such, else nccl-tests output; names that end in neither .csv nor .json
// are tried the other way round. An Error where a file is neither, or both kinds are there. Tables
// of nccl-tests that name no operation have that of their file's name (measured::nccl_op_in).
Result<Inputs> read_inputs(const std::vector<std::string>& given, const describe::DataStore& data);

}  // namespace sextant::calibrate
