#include "calibrate/inputs.h"

#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "measured/table.h"

namespace sextant::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kMostFileBytes = 64_MiB;
constexpr std::string_view kStandardInput = "-";

Result<std::vector<fs::path>> expanded_files(const std::vector<std::string>& given) {
  std::vector<fs::path> files;
  for (const std::string& path : given) {
    if (path == kStandardInput) {
      files.emplace_back(path);
      continue;
    }
    const std::vector<fs::path> one{path};
    SEXTANT_TRY(const std::vector<fs::path> found, measured::expand_tables(one));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::string name_of(const fs::path& file) {
  return file == kStandardInput ? "standard input" : file.filename().string();
}

// Reads one text as the one kind; the rows or the text are added to `files`.
Result<void> add_rows(const std::string& text, const fs::path& file,
                      const describe::DataStore& data, Inputs& files) {
  SEXTANT_TRY(std::vector<measured::Row> rows, measured::parse_table(text, file, data));
  files.rows.insert(files.rows.end(), std::make_move_iterator(rows.begin()),
                    std::make_move_iterator(rows.end()));
  return {};
}

Result<void> add_text(const std::string& text, const fs::path& file, Inputs& files) {
  const std::string name = name_of(file);
  SEXTANT_TRY(std::vector<measured::NcclTable> tables,
              measured::parse_nccl_tests(text, name, measured::nccl_op_in(name)));
  files.texts.push_back({name, std::move(tables)});
  return {};
}

Result<void> add_file(const std::string& text, const fs::path& file,
                      const describe::DataStore& data, Inputs& files) {
  const std::string ending = to_lower(file.extension().string());
  if (ending == ".csv" || ending == ".json") {
    auto table = add_rows(text, file, data, files);
    return table || add_text(text, file, files) ? Result<void>() : table;
  }
  auto pasted = add_text(text, file, files);
  if (pasted || add_rows(text, file, data, files)) {
    return {};
  }
  pasted.error().allowed += "; or a CSV table of timed kernels or collectives";
  return pasted;
}

}  // namespace

Result<Inputs> read_inputs(const std::vector<std::string>& given, const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<fs::path> paths, expanded_files(given));
  Inputs files;
  std::vector<std::string> names;
  for (const fs::path& file : paths) {
    SEXTANT_TRY(const std::string text, read_text(file, kMostFileBytes));
    SEXTANT_CHECK_OK(add_file(text, file, data, files));
    files.inputs.emplace_back(file.string(), sha256_hex(text));
    names.push_back(name_of(file));
  }
  files.names = join(names, ", ");
  if (!files.texts.empty() && files.texts.size() < paths.size()) {
    return invalid(
        fmt::format("{} is nccl-tests output and others are tables", files.texts.front().name),
        files.names, "files of one kind in one call");
  }
  return files;
}

}  // namespace sextant::calibrate
