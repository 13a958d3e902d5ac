// Where in time the evidence of all findings lies, as a picture.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/diagnose_words.h"
#include "explain/html.h"
#include "explain/report_parts.h"

namespace sextant::explain {
namespace {

using metrics::Interval;

constexpr std::size_t kEvidenceRows = 24;  // of findings and ranks
constexpr double kWidth = 1000.0;
constexpr double kNameWidth = 230.0;
constexpr double kRow = 26.0;
constexpr double kTop = 22.0;

struct EvidenceRow {
  std::string rule;
  RankId rank;
  std::vector<Interval> steps;
  std::vector<const diagnose::Evidence*> seen;
};

std::vector<Interval> step_windows(const std::vector<DiagnosedRank>& ranks, RankId of) {
  std::vector<Interval> windows;
  for (const DiagnosedRank& rank : ranks) {
    if (rank.summary.rank == of) {
      for (const metrics::StepMeasures& step : rank.summary.steps) {
        windows.push_back(step.window);
      }
    }
  }
  return windows;
}

std::vector<EvidenceRow> evidence_rows(const std::vector<diagnose::Finding>& findings,
                                       const std::vector<DiagnosedRank>& ranks) {
  std::vector<EvidenceRow> rows;
  for (const diagnose::Finding& finding : findings) {
    std::map<RankId, EvidenceRow> by_rank;
    for (const diagnose::Evidence& one : finding.evidence) {
      EvidenceRow& row = by_rank[one.rank];
      row.rule = finding.rule;
      row.rank = one.rank;
      row.seen.push_back(&one);
    }
    for (auto& [rank, row] : by_rank) {
      if (rows.size() < kEvidenceRows) {
        rows.push_back(std::move(row));
      }
    }
  }
  for (EvidenceRow& row : rows) {
    row.steps = step_windows(ranks, row.rank);
  }
  return rows;
}

// Ranks' clocks may differ: each row counts from the start of its own first step.
std::int64_t row_start(const EvidenceRow& row) {
  std::int64_t start = row.seen.front()->time.start_ns;
  for (const diagnose::Evidence* one : row.seen) {
    start = std::min(start, one->time.start_ns);
  }
  return row.steps.empty() ? start : std::min(start, row.steps.front().start_ns);
}

std::int64_t row_length(const EvidenceRow& row) {
  std::int64_t end = row_start(row);
  for (const diagnose::Evidence* one : row.seen) {
    end = std::max(end, one->time.end_ns);
  }
  return (row.steps.empty() ? end : std::max(end, row.steps.back().end_ns)) - row_start(row);
}

class EvidencePicture {
 public:
  explicit EvidencePicture(std::int64_t length_ns)
      : length_(static_cast<double>(std::max<std::int64_t>(1, length_ns))) {}

  void add(const EvidenceRow& row) {
    const double y = kTop + kRow * static_cast<double>(rows_++);
    const std::int64_t start = row_start(row);
    text_ += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}, rank {}</text>\n", y + 16.0,
                         html_text(row.rule), row.rank.value);
    for (const Interval& step : row.steps) {
      text_ += rectangle("step", step, start, y, {});
    }
    for (const diagnose::Evidence* one : row.seen) {
      text_ +=
          rectangle("seen", one->time, start, y,
                    fmt::format("{} ({})", one->what, to_text(seconds_of(one->time.length_ns()))));
    }
  }

  [[nodiscard]] std::string html() const {
    const double height = kTop + kRow * static_cast<double>(rows_) + 4.0;
    std::string html = fmt::format(
        "<svg class=\"timeline\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
        "aria-label=\"Evidence of each finding over the steps of its rank\">\n",
        kWidth, height);
    html += fmt::format(
        "<text x=\"{:.0f}\" y=\"14\">0</text><text x=\"{:.0f}\" y=\"14\" "
        "text-anchor=\"end\">{}</text>\n",
        kNameWidth, kWidth, html_text(to_text(length_ * 1_ns)));
    return html + text_ + "</svg>\n";
  }

 private:
  [[nodiscard]] std::string rectangle(std::string_view style, const Interval& time,
                                      std::int64_t start, double y, std::string_view title) const {
    constexpr double kThinnest = 1.5;  // so that it is seen
    const double scale = (kWidth - kNameWidth) / length_;
    const double x = kNameWidth + static_cast<double>(time.start_ns - start) * scale;
    const double width = std::max(kThinnest, static_cast<double>(time.length_ns()) * scale);
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"20\">{}</rect>\n",
        style, std::min(x, kWidth - kThinnest), y + 2.0, std::min(width, kWidth - x),
        title.empty() ? std::string() : fmt::format("<title>{}</title>", html_text(title)));
  }

  double length_;
  std::size_t rows_ = 0;
  std::string text_;
};

}  // namespace

std::string report_evidence(const DiagnoseAnswer& answer) {
  if (!answer.findings) {
    return {};
  }
  const std::vector<EvidenceRow> rows =
      evidence_rows(answer.findings->diagnosis.findings, answer.ranks);
  if (rows.empty()) {
    return {};
  }
  std::int64_t length = 0;
  for (const EvidenceRow& row : rows) {
    length = std::max(length, row_length(row));
  }
  EvidencePicture picture(length);
  for (const EvidenceRow& row : rows) {
    picture.add(row);
  }
  return html_section("Where the evidence lies",
                      "<p class=\"soft\">Frames are steps of the rank, from its first one on; "
                      "filled is what a finding was seen by.</p>\n<div class=\"wide\">" +
                          picture.html() + "</div>\n");
}

std::string report_timeline_link(std::string_view trace) {
  if (trace.empty()) {
    return {};
  }
  return html_section(
      "Timeline",
      fmt::format("<p><a class=\"button\" download=\"sextant-timeline.json\" href=\"{}\">Save the "
                  "annotated timeline</a><a href=\"https://ui.perfetto.dev\" "
                  "rel=\"noreferrer\">ui.perfetto.dev</a></p>\n<p class=\"soft\">It lies in this "
                  "file: the longest spans of the steps measured, the steps, and the evidence of "
                  "each finding as tracks of their own. Save it and open it there, or drop it on "
                  "that page; it is read in the browser.</p>\n",
                  data_link(trace)));
}

}  // namespace sextant::explain
