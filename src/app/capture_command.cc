#include "app/capture_command.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "capture/capture.h"
#include "capture/stand_in.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::app {
namespace {

constexpr std::int64_t kMostSeconds = 600;

Result<capture::CaptureRequest> capture_request(const CaptureWords& words, const Context& context) {
  if (words.command.empty()) {
    return invalid("no command is given", "capture", "-- bash train.sh ARGUMENTS…");
  }
  capture::CaptureRequest request{.command = words.command,
                                  .folder = words.folder,
                                  .environment = words.environment,
                                  .cluster = words.cluster,
                                  .answers = {.device_name = "NVIDIA H100 80GB HBM3"},
                                  .limits = {}};
  if (!words.seconds.empty()) {
    const auto seconds = to_integer(words.seconds);
    if (!seconds || *seconds < 1 || *seconds > kMostSeconds) {
      return invalid(fmt::format("'{}' is no time limit", printable(words.seconds)), "seconds",
                     fmt::format("whole seconds from 1 to {}", kMostSeconds));
    }
    request.limits.seconds = static_cast<int>(*seconds);
  }
  if (!words.cluster.empty()) {
    SEXTANT_TRY(const describe::Cluster cluster,
                describe::load_cluster(words.cluster, context.data));
    request.answers.device_name = cluster.device.name;
    request.answers.nodes = static_cast<int>(cluster.nodes());
    request.answers.devices_per_node =
        static_cast<int>(std::min(cluster.devices, cluster.devices_per_node()));
  }
  return request;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 40;
  std::vector<std::string> few(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  names.size(), kMostNames)));
  if (few.size() < names.size()) {
    few.push_back(fmt::format("and {} more", names.size() - kMostNames));
  }
  return join(few, ", ");
}

}  // namespace

Result<std::vector<std::string>> capture_notice(const CaptureWords& words, const Context& context) {
  SEXTANT_TRY(const capture::CaptureRequest request, capture_request(words, context));
  const capture::WouldRun would = capture::would_run(request);
  std::vector<std::string> lines{
      fmt::format("this runs: {}", printable(join(words.command, " "), 200))};
  lines.push_back(would.own.empty()
                      ? std::string("which programs it starts itself cannot be read beforehand")
                      : "it starts, as far as its text can be read: " + listed(would.own));
  if (!would.stand_ins.empty()) {
    lines.push_back("stand-ins answer for: " + listed(would.stand_ins));
  }
  lines.push_back(fmt::format(
      "it sees your files and keeps nothing it writes; no network, no devices, at most {} s, {} "
      "processes, {} MiB",
      request.limits.seconds, request.limits.processes, request.limits.memory_mib));
  return lines;
}

Result<Answered<explain::CaptureAnswer>> capture(const CaptureWords& words,
                                                 const Context& context) {
  SEXTANT_TRY(const capture::CaptureRequest request, capture_request(words, context));
  SEXTANT_TRY(capture::CaptureRun run, capture::capture_job(request));
  Answered<explain::CaptureAnswer> answered;
  answered.outcome = run.record.calls.empty() ? Outcome::kNo : Outcome::kFine;
  if (!run.record.calls.empty()) {
    answered.artifacts.push_back(
        {.path = words.file, .bytes = explain::capture_file_text(run.record)});
  }
  answered.answer = {.provenance = {std::string(explain::tool_version()), {}},
                     .record = std::move(run.record),
                     .file = words.file,
                     .script_ended_with = run.ended_with,
                     .output = std::move(run.output)};
  return answered;
}

bool is_stand_in_call(const std::string& program) {
  return capture::is_stand_in_call(program);
}

int stand_in_call(const std::vector<std::string>& words) {
  return capture::stand_in_call(words);
}

}  // namespace sextant::app
