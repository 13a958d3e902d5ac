#include "explain/fit_section.h"

#include <fmt/format.h>

#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {

std::string fit_section(const measured::FitScores& scores) {
  if (scores.bins.empty()) {
    return {};
  }
  Table table{{{"odds said"}, {"jobs", true}, {"mean of the odds", true}, {"ran", true}}, {}};
  for (const measured::FitBin& bin : scores.bins) {
    table.rows.push_back({fmt::format("{:.0f}-{:.0f} %", bin.low * 100.0, bin.high * 100.0),
                          std::to_string(bin.jobs), percent(bin.said), percent(bin.ran)});
  }
  return fmt::format(
             "## Will it fit\n\nOdds that a job fits, against whether it ran: {} jobs, most of "
             "them grown until they failed. What the allocator reserves was fitted on what other "
             "jobs that ran took (`data/memory.toml`), never on an outcome. Said to fit with odds "
             "above 80 %: {} of {} jobs that ran out of memory; with odds below 20 %: {} of {} "
             "that ran.\n\n",
             scores.ran + scores.failed, scores.failed_said_to_fit, scores.failed,
             scores.ran_said_to_fail, scores.ran) +
         to_text(table, Style{Format::kMarkdown, false});
}

}  // namespace sextant::explain
