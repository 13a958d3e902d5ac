// Steps: where the file marks them, else the runs of the module that takes most time.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "profile/xplane_parts.h"

namespace sextant::profile {

void XplaneReading::take_step(RankId rank, const XEventKind& kind, const XEvent& event) {
  std::vector<StepMark>& steps = device_steps_[rank];
  const XStat* stated = find_stat(event.stats, XStatKind::kStepNum);
  const auto named = to_integer(kind.name);
  const std::int64_t number = stated != nullptr ? stated->integer
                              : named           ? *named
                                                : static_cast<std::int64_t>(steps.size());
  steps.push_back({number, event.start_ns, event.end_ns});
}

// Of the module that takes most time, by name without its program's number.
std::vector<XRun> XplaneReading::main_runs(RankId rank) const {
  const auto found = runs_.find(rank);
  if (found == runs_.end()) {
    return {};
  }
  const auto name = [&](const XRun& run) -> const std::string& {
    return run_names_[static_cast<std::size_t>(run.module)];
  };
  std::map<std::string_view, std::int64_t> busy;
  for (const XRun& run : found->second) {
    busy[name(run)] += run.end_ns - run.start_ns;
  }
  const auto main = std::max_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<XRun> runs;
  for (const XRun& run : found->second) {
    if (main != busy.end() && name(run) == main->first) {
      runs.push_back(run);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const XRun& a, const XRun& b) {
    return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
  });
  return runs;
}

void XplaneReading::add_steps(RankId rank, const std::vector<StepMark>& marks) {
  for (std::size_t i = 0; i < marks.size(); ++i) {
    // Steps do not overlap: one that reaches into the next ends there.
    const std::int64_t end =
        i + 1 < marks.size() ? std::min(marks[i].end_ns, marks[i + 1].start_ns) : marks[i].end_ns;
    if (end > marks[i].start_ns) {
      out_.steps.push_back({rank, marks[i].number, marks[i].start_ns, end});
    }
  }
}

void XplaneReading::choose_steps() {
  const auto by_start = [](const StepMark& a, const StepMark& b) {
    return std::tie(a.start_ns, a.end_ns, a.number) < std::tie(b.start_ns, b.end_ns, b.number);
  };
  std::sort(host_steps_.begin(), host_steps_.end(), by_start);
  for (const RankId rank : ranks_) {
    std::vector<StepMark>& line = device_steps_[rank];
    std::sort(line.begin(), line.end(), by_start);
    if (!line.empty()) {
      add_steps(rank, line);
      continue;
    }
    const std::vector<XRun> runs = main_runs(rank);
    bool within = !host_steps_.empty();
    for (const XRun& run : runs) {
      auto after = std::upper_bound(
          host_steps_.begin(), host_steps_.end(), run.start_ns,
          [](std::int64_t at, const StepMark& mark) { return at < mark.start_ns; });
      within = within && after != host_steps_.begin() && run.end_ns <= (--after)->end_ns;
    }
    if (within) {
      add_steps(rank, host_steps_);
      continue;
    }
    std::vector<StepMark> marks;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      marks.push_back({static_cast<std::int64_t>(i), runs[i].start_ns,
                       i + 1 < runs.size() ? runs[i + 1].start_ns : runs[i].end_ns});
    }
    add_steps(rank, marks);
  }
  std::sort(out_.steps.begin(), out_.steps.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.start_ns) < std::tie(b.rank, b.start_ns);
  });
}

}  // namespace sextant::profile
