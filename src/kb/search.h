// What is known that helps: entries ranked by what they are about (similarity.h) and by the words
// they use (SQLite's FTS5, BM25), each with the terms of its rank. The same question to the same
// entries gives the same answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/database.h"
#include "kb/entry.h"
#include "kb/similarity.h"

namespace sextant::kb {

struct Question {
  std::string words = {};  // as a person asks; at most 2,000 bytes are read
  Features about = {};     // what was stated apart from words
  std::optional<EntryKind> kind = {};
  std::size_t limit = 10;
};

struct Ranked {
  std::size_t entry = 0;  // index among the index's entries
  double score = 0;       // sum of the terms
  std::vector<RankTerm> terms;
};

// An index of entries, in memory, that questions can be asked of.
class Index {
 public:
  // Some 600 entries take a few milliseconds.
  static Result<Index> of(std::span<const Entry> entries);

  // The best first, at most `limit` of those about which anything speaks for. An entry of the
  // user's own that was not measured stands behind all measured ones of the answer: what somebody
  // noted never outranks what was measured.
  [[nodiscard]] Result<std::vector<Ranked>> search(const Question& question);

  // The same together with a second opinion: how near in meaning each entry is to the question (by
  // somebody's vectors, in the order of entries(); above 0 is near). The two ranks are fused, each
  // by its places alone (reciprocal rank fusion, Cormack, Clarke and Büttcher 2009, k = 60): their
  // scales have nothing in common. REQUIRES: a number for each entry.
  [[nodiscard]] Result<std::vector<Ranked>> search_with(const Question& question,
                                                        std::span<const double> nearness);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  explicit Index(Database database) : database_(std::move(database)) {}
  // By entry: nothing where no word is in it, else above 0, 1 for the best.
  [[nodiscard]] Result<std::vector<double>> word_scores(std::span<const std::string> words);

  Database database_;
  std::vector<Entry> entries_;
};

}  // namespace sextant::kb
