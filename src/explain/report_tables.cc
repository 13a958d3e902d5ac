#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_tables.h"
#include "explain/diagnose_words.h"
#include "explain/finding_words.h"
#include "explain/html.h"
#include "explain/percent.h"
#include "explain/report_parts.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kReportRows = 15;
constexpr std::size_t kHeatRanks = 64;
constexpr std::size_t kReportLosses = 40;
constexpr std::size_t kReportWidth = 110;

// A cell shaded by its share of the darkest.
std::string heat_cell(std::string_view text, double share) {
  return fmt::format("<td class=\"heat\" style=\"background: rgba(var(--heat), {:.3f})\">{}</td>",
                     0.7 * std::clamp(share, 0.0, 1.0), html_text(text));
}

Seconds time_of_part(const DiagnosedRank& rank, std::int64_t part_ns) {
  return mean_of(part_ns, rank.totals);
}

// Parts of a rank's step, as the columns of the heat map.
std::array<TimePart, 5> heat_parts(const DiagnosedRank& rank) {
  const metrics::Breakdown& time = rank.totals.time;
  const metrics::IdleCauses& idle = rank.totals.idle;
  return {{{"", "compute", time.compute_ns},
           {"", "exposed communication", time.exposed_communication_ns},
           {"", "exposed copies", time.exposed_copy_ns},
           {"", "idle by the host", idle.host_late_ns + idle.host_blocked_ns + idle.launching_ns},
           {"", "other idle",
            time.idle_ns - idle.host_late_ns - idle.host_blocked_ns - idle.launching_ns}}};
}

// Own time, all but exposed communication, longest first.
std::vector<const DiagnosedRank*> slowest_ranks(const DiagnoseAnswer& answer) {
  std::vector<const DiagnosedRank*> order;
  for (const DiagnosedRank& rank : answer.ranks) {
    order.push_back(&rank);
  }
  if (order.size() > kHeatRanks) {
    std::ranges::stable_sort(order, std::greater<>(), [](const DiagnosedRank* rank) {
      const metrics::Breakdown& time = rank->totals.time;
      return time_of_part(*rank, time.total_ns() - time.exposed_communication_ns) / 1_s;
    });
    order.resize(kHeatRanks);
  }
  return order;
}

// What shades are of: the least of each column, and how much more than that is darkest.
struct HeatScale {
  std::array<Seconds, 5> least{};
  Seconds darkest;
};

HeatScale heat_scale(const std::vector<const DiagnosedRank*>& ranks) {
  // Below that ranks are alike.
  constexpr double kAlike = 0.01;
  HeatScale scale;
  std::array<Seconds, 5> most{};
  for (const DiagnosedRank* rank : ranks) {
    const auto parts = heat_parts(*rank);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Seconds time = time_of_part(*rank, parts[i].time_ns);
      scale.least[i] = rank == ranks.front() ? time : std::min(scale.least[i], time);
      most[i] = std::max(most[i], time);
    }
    scale.darkest = std::max(scale.darkest, kAlike * mean_step(rank->totals));
  }
  for (std::size_t i = 0; i < most.size(); ++i) {
    scale.darkest = std::max(scale.darkest, most[i] - scale.least[i]);
  }
  return scale;
}

std::string heat_row(const DiagnosedRank& rank, const HeatScale& scale) {
  std::string html =
      fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>",
                  rank.summary.rank.value, html_text(to_text(mean_step(rank.totals))));
  const auto parts = heat_parts(rank);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Seconds time = time_of_part(rank, parts[i].time_ns);
    html += heat_cell(to_text(time),
                      scale.darkest > 0_s ? (time - scale.least[i]) / scale.darkest : 0.0);
  }
  return html + "</tr>\n";
}

std::string list_html(const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return {};
  }
  std::string html = "<ul class=\"plain\">\n";
  for (const std::string& line : lines) {
    html += fmt::format("<li>{}</li>\n", html_text(line));
  }
  return html + "</ul>\n";
}

}  // namespace

std::string report_ranks(const DiagnoseAnswer& answer) {
  if (answer.ranks.size() < 2) {
    return {};
  }
  const std::vector<const DiagnosedRank*> ranks = slowest_ranks(answer);
  const HeatScale scale = heat_scale(ranks);
  std::string html =
      "<div class=\"wide\"><table>\n<caption>A mean step of each rank; the darker, "
      "the more above the least of its column.";
  if (ranks.size() < answer.ranks.size()) {
    html += fmt::format(
        " {} of {}: those whose own time, all but exposed communication, is "
        "longest.",
        ranks.size(), answer.ranks.size());
  }
  html +=
      "</caption>\n<thead><tr><th scope=\"col\">rank</th><th scope=\"col\" "
      "class=\"number\">step</th>";
  for (const TimePart& part : heat_parts(*ranks.front())) {
    html += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", html_text(part.word));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const DiagnosedRank* rank : ranks) {
    html += heat_row(*rank, scale);
  }
  return html_section("Ranks", html + "</tbody></table></div>\n");
}

std::string report_tables(const DiagnoseAnswer& answer) {
  const DiagnoseTableStyle style{.rows = kReportRows, .people = true, .width = kReportWidth};
  return html_section("Collectives", html_table(collectives_table(answer, style))) +
         html_section("Operators", html_table(top_operators_table(answer, style))) +
         html_section("Kernels", html_table(top_kernels_table(answer, style))) +
         html_section("Ranges of the host",
                      html_table(ranges_table(answer, style),
                                 "Work launched within, and how long the device stood idle before "
                                 "it; own: by no range inside."));
}

std::string report_limits(const DiagnoseAnswer& answer) {
  std::vector<std::string> lines;
  if (answer.findings) {
    for (const std::string& note : answer.findings->diagnosis.notes) {
      lines.push_back("Rests on: " + note);
    }
    for (const Unasked& kind : unasked_rules(*answer.findings)) {
      lines.push_back(fmt::format("Not asked: {}, for want of {}. {}", join(kind.rules, ", "),
                                  kind.missing, kind.record));
    }
  }
  for (std::size_t i = 0; i < std::min(kReportLosses, answer.unread.size()); ++i) {
    const DiagnosedLoss& loss = answer.unread[i];
    lines.push_back(
        fmt::format("Not read: {}{}{}", loss.file, loss.file.empty() ? "" : ": ",
                    loss.count > 1 ? with_thousands(loss.count) + " " + loss.what : loss.what));
  }
  if (answer.unread.size() > kReportLosses) {
    lines.push_back(fmt::format("Not read: {} more", answer.unread.size() - kReportLosses));
  }
  for (const describe::Assumption& one : answer.assumed) {
    lines.push_back("Assumed: " + describe::to_text(one));
  }
  return html_section("What this rests on, and does not say", list_html(lines));
}

}  // namespace sextant::explain
