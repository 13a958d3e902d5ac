#include "measured/change_scores.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "base/statistics.h"

namespace sextant::measured {
namespace {

struct ScoreDraft {
  ChangeScore score;
  std::vector<double> differences;
  std::vector<double> half_widths;
};

void add_change(const ChangeRow& row, ScoreDraft& draft) {
  ChangeScore& score = draft.score;
  ++score.rows;
  if (!row.predicted || !row.interval || row.trust == Trust::kC) {
    return;
  }
  ++score.expressed;
  const double size = std::abs(row.effect);
  const int sign = row.effect > 0.0 ? 1 : -1;
  const int told = row.told();
  if (size >= kTellingEffect) {
    ++score.telling;
    score.direction += (*row.predicted > 0.0 ? 1 : -1) == sign ? 1 : 0;
    score.told += told != 0 ? 1 : 0;
    score.agreed += told == sign ? 1 : 0;
  }
  if (size >= kLargeEffect) {
    ++score.large;
    score.large_told += told != 0 ? 1 : 0;
  }
  const auto& [low, high] = *row.interval;
  score.inside += low <= row.effect && row.effect <= high ? 1 : 0;
  draft.differences.push_back(std::abs(*row.predicted - row.effect));
  draft.half_widths.push_back((high - low) / 2.0);
}

ChangeScore finished_score(ScoreDraft draft, std::string name) {
  draft.score.name = std::move(name);
  draft.score.difference = median(draft.differences);
  draft.score.half_width = median(draft.half_widths);
  return std::move(draft.score);
}

std::vector<ChangeScore> finished_scores(std::map<std::string, ScoreDraft> drafts) {
  std::vector<ChangeScore> scores;
  for (auto& [name, draft] : drafts) {
    scores.push_back(finished_score(std::move(draft), name));
  }
  return scores;
}

ChangeRow change_row_of(const Row& row, const ChangeSubject& subject, const ValidatedRow& answer) {
  ChangeRow out{.id = row.id,
                .source = subject.origin,
                .kind = subject.kind,
                .trust = row.trust,
                .effect = row.measured - 1.0,
                .predicted = {},
                .interval = {},
                .reason = answer.reason};
  if (answer.predicted_value && answer.interval) {
    out.predicted = *answer.predicted_value - 1.0;
    out.interval = {answer.interval->first - 1.0, answer.interval->second - 1.0};
  }
  return out;
}

}  // namespace

int sign_told(const std::pair<double, double>& interval) {
  return interval.first > 1.0 ? 1 : interval.second < 1.0 ? -1 : 0;
}

int ChangeRow::told() const {
  return interval ? sign_told({interval->first + 1.0, interval->second + 1.0}) : 0;
}

ChangeScores change_scores(const std::vector<Row>& rows, const ValidationReport& report) {
  ChangeScores scores;
  ScoreDraft all;
  std::map<std::string, ScoreDraft> kinds;
  std::map<std::string, ScoreDraft> sources;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto* subject = std::get_if<ChangeSubject>(&rows[i].subject);
    if (subject == nullptr || rows[i].quantity != kSpeedRatio) {
      continue;
    }
    const ChangeRow& row =
        scores.rows.emplace_back(change_row_of(rows[i], *subject, report.rows[i]));
    for (ScoreDraft* draft : {&all, &kinds[row.kind], &sources[row.source]}) {
      add_change(row, *draft);
    }
  }
  scores.all = finished_score(std::move(all), "all");
  scores.kinds = finished_scores(std::move(kinds));
  scores.sources = finished_scores(std::move(sources));
  return scores;
}

}  // namespace sextant::measured
