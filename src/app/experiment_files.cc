#include "app/experiment_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "app/trace_files.h"
#include "base/file.h"
#include "base/read_fence.h"
#include "base/text.h"
#include "emit/capture_file.h"

namespace sextant::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostExperimentFiles = 4'096;
constexpr Bytes kMostJsonHead = 64_MiB;

// Of what describes a job; .json is looked into.
constexpr std::array<std::string_view, 11> kJobEndings{
    ".sh", ".bash", ".sbatch", ".slurm", ".yaml", ".yml", ".hjson", ".toml", ".py", ".log", ".out"};
// What only profiles are called.
constexpr std::array<std::string_view, 10> kRecordedEndings{
    ".sxs",     ".sqlite",   ".xplane.pb",    ".trace.json", ".trace.json.gz",
    ".json.gz", ".json.zst", ".xplane.pb.gz", ".nsys-rep",   ".sqlite.zst"};

template <typename Endings>
bool ends_with_any(std::string_view name, const Endings& endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr std::size_t kCaptureHead = 256;  // bytes that tell a captured job

enum class JsonFile : std::uint8_t { kTrace, kModel, kSettings };

// By what is in it: a trace has events, a model's configuration its architecture.
JsonFile json_kind(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > static_cast<std::uintmax_t>(kMostJsonHead.base()) || error) {
    return JsonFile::kTrace;
  }
  const auto text = read_file(path, kMostJsonHead);
  if (text && text->substr(0, kCaptureHead).find(emit::kCaptureSchema) != std::string::npos) {
    return JsonFile::kSettings;  // of a captured job, whatever files it holds
  }
  if (!text || text->find("\"traceEvents\"") != std::string::npos) {
    return JsonFile::kTrace;
  }
  return text->find("\"model_type\"") != std::string::npos ? JsonFile::kModel : JsonFile::kSettings;
}

void take_file(const fs::path& path, ExperimentFiles& files) {
  const std::string name = to_lower(path.filename().string());
  if (ends_with_any(name, kRecordedEndings)) {
    files.traces.push_back(path.string());
  } else if (ends_with_any(name, kJobEndings)) {
    files.job.push_back(path.string());
  } else if (name.ends_with(".json")) {
    switch (json_kind(path)) {
      case JsonFile::kTrace:
        files.traces.push_back(path.string());
        break;
      case JsonFile::kModel:
        files.model = path.string();
        break;
      case JsonFile::kSettings:
        files.job.push_back(path.string());
        break;
    }
  } else {
    files.notes.push_back(fmt::format("left out: {}", printable(path.filename().string())));
  }
}

}  // namespace

Result<ExperimentFiles> experiment_files(const std::vector<std::string>& words) {
  ExperimentFiles files;
  std::error_code error;
  if (words.size() != 1 || !fs::is_directory(words.front(), error)) {
    files.job = words;
    return files;
  }
  SEXTANT_TRY(const std::vector<fs::path> entries,
              list_folder(words.front(), kMostExperimentFiles + 1));
  if (entries.size() > kMostExperimentFiles) {
    return invalid(fmt::format("more than {} files", kMostExperimentFiles), words.front(),
                   "the folder of one experiment");
  }
  for (const fs::path& entry : entries) {
    if (fs::is_regular_file(entry, error)) {
      take_file(entry, files);
    } else if (fs::is_directory(entry, error)) {
      const std::string below = entry.string();
      if (trace_files(std::span(&below, 1))) {
        files.traces.push_back(below);
      }
    }
  }
  if (files.job.empty() && files.traces.empty()) {
    return not_found("holds no file of a job and no profile", words.front(),
                     "launch scripts, configuration files, logs, profiles");
  }
  return files;
}

}  // namespace sextant::app
