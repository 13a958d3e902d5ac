#include "describe/layout/job_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"

namespace sextant::describe {
namespace {

Result<void> set_mesh(std::string_view mesh, Layout& layout) {
  if (mesh.empty()) {
    return {};
  }
  SEXTANT_TRY(const Mesh read, parse_mesh(mesh));
  layout = with_mesh(std::move(layout), read);
  return {};
}

}  // namespace

LayoutWords split_layout(std::string_view text) {
  LayoutWords words;
  for (const std::string_view part : split(text, ';')) {
    const bool level = part.starts_with("ici:") || part.starts_with("dcn:");
    std::string& into = level ? words.mesh : words.keys;
    into += into.empty() ? "" : (level ? ";" : ",");
    into += part;
  }
  return words;
}

Result<void> set_layout(std::string_view text, Job& job) {
  const LayoutWords words = split_layout(text);
  SEXTANT_TRY(LayoutReading reading, parse_layout(words.keys, job.framework));
  job.layout = std::move(reading.layout);
  job.stated.insert(reading.given.begin(), reading.given.end());
  job.assumed.insert(job.assumed.end(), reading.defaulted.begin(), reading.defaulted.end());
  const Assumptions decided = fill_device_defaults(job.layout, reading.given, job.cluster.device);
  job.assumed.insert(job.assumed.end(), decided.begin(), decided.end());
  return set_mesh(words.mesh, job.layout);
}

Result<void> lay_over(std::string_view text, Job& job) {
  const LayoutWords words = split_layout(text);
  Layout layout = job.layout;
  SEXTANT_CHECK_OK(set_mesh(words.mesh, layout));
  SEXTANT_TRY(const std::vector<std::string> given, set_keys(words.keys, layout));
  const auto names = [&given](std::string_view key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  const bool moved =
      layout.tp != job.layout.tp || layout.cp != job.layout.cp || layout.pp != job.layout.pp;
  if (moved && words.mesh.empty() && !names("dp")) {
    layout.dp = 0;
  }
  if (!names("schedule") && layout.schedule == default_schedule(job.layout.vpp)) {
    layout.schedule = default_schedule(layout.vpp);
  }
  job.layout = std::move(layout);
  job.stated.insert(given.begin(), given.end());
  return {};
}

}  // namespace sextant::describe
