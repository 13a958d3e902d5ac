#include "kb/search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "kb/vocabulary.h"

namespace sextant::kb {
namespace {

// Of the entry that the question's own words fit best, and of the one that words fit best which
// mean the same.
constexpr double kWordPoints = 4.5;
constexpr double kOtherWordPoints = 1.5;
// Of features that words were taken for, beside those that were stated.
constexpr double kTakenWeight = 0.6;
// Of an entry whose source has another one of the same change in the answer already: a table of
// twenty rows says one thing twenty times.
constexpr double kRepeated = 0.8;
constexpr double kTrustPoints = 0.1;
// Of the fusion of two ranks: the constant of its authors, and how far each is looked at.
constexpr double kFusion = 60.0;
constexpr std::size_t kFused = 60;

std::string words_of_features(const Features& about) {
  std::vector<std::string> words(about.changes);
  for (const Bottleneck one : about.bottlenecks) {
    words.emplace_back(describe::word_of<Bottleneck>(kBottleneckWords, one));
  }
  for (const Theme one : about.axes) {
    words.emplace_back(describe::word_of<Theme>(kThemeWords, one));
  }
  words.insert(words.end(), about.devices.begin(), about.devices.end());
  for (const ModelClass one : about.models) {
    words.emplace_back(describe::word_of<ModelClass>(kModelClassWords, one));
  }
  words.push_back(about.model);
  return join(words, " ");
}

// Each word as it stands, of which any may be there.
std::string full_text_query(std::span<const std::string> words) {
  std::string query;
  for (const std::string& word : words) {
    std::string quoted;
    for (const char c : word) {
      quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    query += fmt::format("{}\"{}\"", query.empty() ? "" : " OR ", quoted);
  }
  return query;
}

double total(std::span<const RankTerm> terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [](double sum, const RankTerm& term) { return sum + term.points; });
}

// What a table of rows has in common.
std::string group_of(const Entry& entry) {
  return entry.kind == EntryKind::kWin ? entry.source + "\n" + join(entry.about.changes, ",")
                                       : entry.id;
}

bool is_note(const Entry& entry) {
  return entry.origin == Origin::kOwn && !is_measured(entry);
}

// The best `limit`, one after the other: what repeats an earlier one counts for less.
std::vector<Ranked> chosen(std::vector<Ranked> all, std::span<const Entry> entries,
                           std::size_t limit) {
  std::vector<Ranked> best;
  std::map<std::string, int> repeats;
  const auto worth = [&](const Ranked& one) {
    const auto found = repeats.find(group_of(entries[one.entry]));
    double points = one.score;
    for (int i = found == repeats.end() ? 0 : found->second; i > 0; --i) {
      points *= kRepeated;
    }
    return points;
  };
  while (best.size() < limit && !all.empty()) {
    // The first of equals, in the order of the entries.
    const auto next =
        std::max_element(all.begin(), all.end(),
                         [&](const Ranked& a, const Ranked& b) { return worth(a) < worth(b); });
    const double points = worth(*next);
    if (points < next->score) {
      next->terms.push_back({"another of its source is above", points - next->score});
      next->score = points;
    }
    repeats[group_of(entries[next->entry])] += 1;
    best.push_back(std::move(*next));
    all.erase(next);
  }
  return best;
}

// Notes of the user's own stand behind the last measured entry.
void put_notes_last(std::vector<Ranked>& ranked, std::span<const Entry> entries) {
  const auto last = std::find_if(ranked.rbegin(), ranked.rend(), [&](const Ranked& one) {
    return is_measured(entries[one.entry]);
  });
  std::stable_partition(ranked.begin(), last.base(),
                        [&](const Ranked& one) { return !is_note(entries[one.entry]); });
}

// Entries in the order of their nearness, of a table's rows the nearest alone.
std::vector<std::size_t> nearest(std::span<const double> nearness, std::span<const Entry> entries,
                                 const std::optional<EntryKind>& kind) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return nearness[a] > nearness[b]; });
  std::vector<std::size_t> near;
  std::set<std::string> groups;
  for (const std::size_t one : order) {
    if (near.size() == kFused || nearness[one] <= 0.0) {
      break;
    }
    if ((!kind || entries[one].kind == *kind) && groups.insert(group_of(entries[one])).second) {
      near.push_back(one);
    }
  }
  return near;
}

RankTerm place_term(std::string_view what, std::size_t place) {
  return {fmt::format("place {} {}", place + 1, what),
          1.0 / (kFusion + static_cast<double>(place) + 1.0)};
}

}  // namespace

Result<std::vector<Ranked>> Index::search_with(const Question& question,
                                               std::span<const double> nearness) {
  Question wide = question;
  wide.limit = std::max(question.limit, kFused);
  SEXTANT_TRY(const std::vector<Ranked> by_words, search(wide));
  const std::vector<std::size_t> by_meaning = nearest(nearness, entries_, question.kind);
  std::map<std::size_t, Ranked> fused;
  for (std::size_t place = 0; place < by_words.size(); ++place) {
    fused[by_words[place].entry].terms.push_back(place_term("by words", place));
  }
  for (std::size_t place = 0; place < by_meaning.size(); ++place) {
    fused[by_meaning[place]].terms.push_back(place_term("by meaning", place));
  }
  std::vector<Ranked> best;
  for (auto& [entry, ranked] : fused) {
    ranked.entry = entry;
    ranked.score = total(ranked.terms);
    best.push_back(std::move(ranked));
  }
  std::ranges::stable_sort(best, std::ranges::greater(), &Ranked::score);
  put_notes_last(best, entries_);
  best.resize(std::min(best.size(), question.limit));
  return best;
}

Result<Index> Index::of(std::span<const Entry> entries) {
  SEXTANT_TRY(Database database, Database::in_memory());
  Index index(std::move(database));
  index.entries_.assign(entries.begin(), entries.end());
  SEXTANT_CHECK_OK(index.database_.run(
      "CREATE VIRTUAL TABLE words USING fts5(title, body, change, about, tokenize='porter "
      "unicode61')"));
  const auto filled = index.database_.whole([&]() -> Result<void> {
    std::int64_t row = 0;
    for (const Entry& entry : index.entries_) {
      const std::string body = entry.advice + "\n" + entry.why + "\n" + entry.conditions;
      const std::string change =
          entry.before + "\n" + entry.after + "\n" + entry.setting + "\n" + entry.expects;
      const std::string about = words_of_features(entry.about) + "\n" + entry.software + "\n" +
                                entry.network + "\n" + entry.source;
      row += 1;
      SEXTANT_CHECK_OK(index.database_.run(
          "INSERT INTO words(rowid, title, body, change, about) VALUES(?1, ?2, ?3, ?4, ?5)",
          {row, std::string_view(entry.title), std::string_view(body), std::string_view(change),
           std::string_view(about)}));
    }
    return {};
  });
  SEXTANT_CHECK_OK(filled);
  return index;
}

Result<std::vector<double>> Index::word_scores(std::span<const std::string> words) {
  std::vector<double> scores(entries_.size(), 0.0);
  const std::string query = full_text_query(words);
  if (query.empty()) {
    return scores;
  }
  double best = 0.0;
  // SQLite's BM25 is below zero, the better the lower. Titles count most.
  SEXTANT_CHECK_OK(database_.run(
      "SELECT rowid, -bm25(words, 4.0, 2.0, 1.5, 1.0) FROM words WHERE words MATCH ?1",
      {std::string_view(query)}, [&](const Row& row) {
        const double score = std::max(0.0, row.real(1));
        scores[static_cast<std::size_t>(row.integer(0) - 1)] = score;
        best = std::max(best, score);
      }));
  for (double& score : scores) {
    score = best > 0.0 ? score / best : 0.0;
  }
  return scores;
}

Result<std::vector<Ranked>> Index::search(const Question& question) {
  const Understood taken = understood(question.words);
  SEXTANT_TRY(const std::vector<double> words, word_scores(taken.words));
  SEXTANT_TRY(const std::vector<double> others, word_scores(taken.others));
  std::vector<Ranked> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (question.kind && entry.kind != *question.kind) {
      continue;
    }
    Ranked ranked{.entry = i, .terms = similarity(question.about, entry.about, 1.0)};
    const std::vector<RankTerm> more = similarity(taken.about, entry.about, kTakenWeight);
    ranked.terms.insert(ranked.terms.end(), more.begin(), more.end());
    if (words[i] > 0.0) {
      ranked.terms.push_back({"words", kWordPoints * words[i]});
    }
    if (others[i] > 0.0) {
      ranked.terms.push_back({"words that mean the same", kOtherWordPoints * others[i]});
    }
    const bool speaks = std::any_of(ranked.terms.begin(), ranked.terms.end(),
                                    [](const RankTerm& term) { return term.points > 0.0; });
    if (speaks && (entry.trust == Trust::kA || entry.trust == Trust::kB)) {
      ranked.terms.push_back({"trust", entry.trust == Trust::kA ? kTrustPoints : kTrustPoints / 2});
    }
    ranked.score = total(ranked.terms);
    if (speaks && ranked.score > 0.0) {
      all.push_back(std::move(ranked));
    }
  }
  std::vector<Ranked> best = chosen(std::move(all), entries_, question.limit);
  put_notes_last(best, entries_);
  return best;
}

}  // namespace sextant::kb
