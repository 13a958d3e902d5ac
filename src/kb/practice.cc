#include "kb/practice.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/job.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"
#include "describe/layout/rules.h"
#include "describe/toml_table.h"

namespace sextant::kb {
namespace {

using describe::TomlTable;

constexpr std::string_view kFolder = "practices";
constexpr std::string_view kSourcesStem = "sources";
constexpr std::size_t kMostPractices = 10'000;
constexpr std::size_t kLongestText = 1'000;
constexpr std::size_t kLongestWord = 80;
constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr std::array<std::string_view, 3> kJobNames{"job1", "job2", "job3"};

// Ids are lower-case words joined by '-'.
bool is_practice_id(std::string_view id) {
  const bool letters = std::all_of(id.begin(), id.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-';
  });
  return letters && !id.empty() && id.size() <= kLongestWord && id.front() != '-' &&
         id.back() != '-';
}

Result<std::string> prose(const TomlTable& table, std::string_view key) {
  SEXTANT_TRY(std::string text, table.text(key));
  if (text.empty() || text.size() > kLongestText) {
    return invalid(fmt::format("{} has {} characters", key, text.size()), table.where(key),
                   fmt::format("1 to {} characters", kLongestText));
  }
  return text;
}

Result<std::string> optional_prose(const TomlTable& table, std::string_view key) {
  return table.has(key) ? prose(table, key) : Result<std::string>(std::string());
}

template <typename E>
Result<E> word(const TomlTable& table, std::span<const describe::Word<E>> words,
               std::string_view key) {
  SEXTANT_TRY(const std::string text, table.text(key));
  return describe::parse_word<E>(words, text, key, table.where(key));
}

template <typename E>
Result<std::vector<E>> word_list(const TomlTable& table, std::span<const describe::Word<E>> words,
                                 std::string_view key) {
  SEXTANT_TRY(const std::vector<std::string> texts, table.texts(key));
  std::vector<E> found;
  for (const std::string& text : texts) {
    SEXTANT_TRY(const E one, describe::parse_word<E>(words, text, key, table.where(key)));
    if (std::find(found.begin(), found.end(), one) != found.end()) {
      return invalid(fmt::format("{} names '{}' twice", key, text), table.where(key),
                     "each word once");
    }
    found.push_back(one);
  }
  return found;
}

// A layout that nothing can be wrong with but its fit to a job.
Result<void> check_layout(const TomlTable& table, std::string_view key, std::string_view text) {
  const describe::LayoutWords words = describe::split_layout(text);
  describe::Layout layout;
  auto keys = describe::set_keys(words.keys, layout);
  if (!keys) {
    keys.error().where = table.where(key);
    return tl::unexpected(std::move(keys.error()));
  }
  if (words.mesh.empty()) {
    return {};
  }
  auto mesh = describe::parse_mesh(words.mesh);
  if (!mesh) {
    mesh.error().where = table.where(key);
    return tl::unexpected(std::move(mesh.error()));
  }
  return {};
}

Result<std::string> layout_text(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) {
    return std::string();
  }
  SEXTANT_TRY(std::string text, table.text(key));
  SEXTANT_CHECK_OK(check_layout(table, key, text));
  return text;
}

// "0.7 to 0.85".
Result<std::optional<RatioRange>> read_ratio(const TomlTable& table) {
  if (!table.has("ratio")) {
    return std::optional<RatioRange>();
  }
  SEXTANT_TRY(const std::string text, table.text("ratio"));
  constexpr std::string_view kTo = " to ";
  const std::size_t to = text.find(kTo);
  const auto low = to_double(std::string_view(text).substr(0, to));
  const auto high = to == std::string::npos
                        ? std::nullopt
                        : to_double(std::string_view(text).substr(to + kTo.size()));
  if (!low || !high || !(*low >= 0.0) || !(*high >= *low)) {
    return invalid(fmt::format("ratio is '{}'", printable(text)), table.where("ratio"),
                   "after over before: LOW to HIGH, such as 0.7 to 0.85");
  }
  return std::optional<RatioRange>(RatioRange{*low, *high});
}

// A ratio on the wrong side of 1 says the opposite of the direction.
Result<Expects> read_expects(const TomlTable& table) {
  Expects expects;
  SEXTANT_TRY(expects.quantity, word<Quantity>(table, kQuantityWords, "quantity"));
  SEXTANT_TRY(expects.direction, word<Direction>(table, kDirectionWords, "direction"));
  SEXTANT_TRY(expects.ratio, read_ratio(table));
  const bool fits = expects.quantity == Quantity::kFits;
  if (fits && (expects.ratio || expects.direction == Direction::kSame)) {
    return invalid("fits is no number", table.where("quantity"),
                   "direction higher (it fits after) or lower (it no longer fits), without ratio");
  }
  if (expects.ratio && ((expects.direction == Direction::kLower && expects.ratio->high >= 1.0) ||
                        (expects.direction == Direction::kHigher && expects.ratio->low <= 1.0))) {
    return invalid("the ratio says another direction", table.where("ratio"),
                   "lower: below 1; higher: above 1");
  }
  return expects;
}

Result<Applies> read_applies(const TomlTable& table) {
  Applies applies;
  SEXTANT_TRY(applies.bottlenecks, word_list<Bottleneck>(table, kBottleneckWords, "bottlenecks"));
  SEXTANT_TRY(applies.axes, word_list<Theme>(table, kThemeWords, "axes"));
  SEXTANT_TRY(applies.devices, table.texts("devices"));
  SEXTANT_TRY(applies.topology, table.texts("topology"));
  SEXTANT_TRY(applies.frameworks,
              word_list<describe::Framework>(table, describe::kFrameworkWords, "frameworks"));
  SEXTANT_TRY(applies.models, word_list<ModelClass>(table, kModelClassWords, "models"));
  SEXTANT_TRY(applies.versions, optional_prose(table, "versions"));
  SEXTANT_TRY(applies.conditions, optional_prose(table, "conditions"));
  if (applies.bottlenecks.empty() || applies.axes.empty()) {
    return invalid("bottlenecks and axes name nothing", table.where(),
                   "bottlenecks = [\"communication\"], axes = [\"tp\"]");
  }
  return applies;
}

Result<Change> read_change(const TomlTable& table) {
  Change change;
  SEXTANT_TRY(change.before, layout_text(table, "before"));
  SEXTANT_TRY(change.after, layout_text(table, "after"));
  SEXTANT_TRY(change.setting, optional_prose(table, "setting"));
  if (change.after.empty() && change.setting.empty()) {
    return invalid("nothing says what to change", table.where(),
                   "after = \"tp=8\", or setting = what to set in the framework's words");
  }
  return change;
}

// "seq" or, where it differs afterwards, "seq_after".
Result<std::string> sequence_text(const TomlTable& table, std::string_view key) {
  SEXTANT_TRY(std::string text, table.text(key));
  auto read = describe::parse_sequences(text);
  if (!read) {
    read.error().where = table.where(key);
    return tl::unexpected(std::move(read.error()));
  }
  return text;
}

Result<PracticeJob> read_job(const TomlTable& practice, std::string_view name) {
  SEXTANT_TRY(const TomlTable table, practice.table(name));
  PracticeJob job;
  job.name = std::string(name);
  job.where = practice.where(name);
  SEXTANT_TRY(job.model, table.text("model"));
  SEXTANT_TRY(job.cluster, table.text("on"));
  job.cluster_after = job.cluster;
  if (table.has("on_after")) {
    SEXTANT_TRY(job.cluster_after, table.text("on_after"));
  }
  SEXTANT_TRY(job.sequences, sequence_text(table, "seq"));
  job.sequences_after = job.sequences;
  if (table.has("seq_after")) {
    SEXTANT_TRY(job.sequences_after, sequence_text(table, "seq_after"));
  }
  SEXTANT_TRY(job.global_batch, table.integer("gbs", 1, kMostBatch));
  job.global_batch_after = job.global_batch;
  if (table.has("gbs_after")) {
    SEXTANT_TRY(job.global_batch_after, table.integer("gbs_after", 1, kMostBatch));
  }
  SEXTANT_TRY(job.framework,
              word<describe::Framework>(table, describe::kFrameworkWords, "framework"));
  SEXTANT_TRY(job.before, layout_text(table, "before"));
  SEXTANT_TRY(job.after, layout_text(table, "after"));
  constexpr std::array<std::string_view, 10> kKeys{"model",     "on",   "on_after",  "seq",
                                                   "seq_after", "gbs",  "gbs_after", "framework",
                                                   "before",    "after"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  return job;
}

Result<std::vector<PracticeJob>> read_jobs(const TomlTable& table) {
  std::vector<PracticeJob> jobs;
  for (const std::string_view name : kJobNames) {
    if (table.has(name)) {
      SEXTANT_TRY(PracticeJob job, read_job(table, name));
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

Result<PracticeCheck> read_check(const TomlTable& table) {
  SEXTANT_TRY(std::vector<PracticeJob> jobs, read_jobs(table));
  if (table.has("uncheckable")) {
    SEXTANT_TRY(std::string reason, prose(table, "uncheckable"));
    if (!jobs.empty() || table.has("rule")) {
      return invalid("an uncheckable practice has a check", table.where("uncheckable"),
                     "uncheckable alone, or job1 … job3");
    }
    return PracticeCheck(Uncheckable{std::move(reason)});
  }
  if (jobs.empty()) {
    return invalid("nothing checks it", table.where(),
                   "job1 … job3, with rule = \"RULE-ID\" where they break one; or uncheckable");
  }
  if (!table.has("rule")) {
    return PracticeCheck(JobsCheck{std::move(jobs)});
  }
  SEXTANT_TRY(const std::string id, table.text("rule"));
  auto rule = describe::find_rule(id);
  if (!rule) {
    rule.error().where = table.where("rule");
    return tl::unexpected(std::move(rule.error()));
  }
  return PracticeCheck(RuleCheck{std::string(rule->id), std::move(jobs)});
}

Result<std::optional<Verdict>> read_verdict(const TomlTable& table) {
  if (table.has("verdict") != table.has("reason")) {
    return invalid("verdict and reason stand together", table.where(),
                   "verdict = \"source\" or \"model\", reason = why");
  }
  if (!table.has("verdict")) {
    return std::optional<Verdict>();
  }
  Verdict verdict;
  SEXTANT_TRY(verdict.right, word<Right>(table, kRightWords, "verdict"));
  SEXTANT_TRY(verdict.reason, prose(table, "reason"));
  return std::optional<Verdict>(std::move(verdict));
}

Result<Practice> read_practice(const TomlTable& file, const std::string& id) {
  SEXTANT_TRY(const TomlTable table, file.table(id));
  Practice practice;
  practice.id = id;
  practice.where = table.where();
  if (!is_practice_id(id)) {
    return invalid(fmt::format("'{}' is no id", printable(id)), practice.where,
                   "lower-case words joined by '-'");
  }
  SEXTANT_TRY(practice.title, prose(table, "title"));
  SEXTANT_TRY(practice.advice, prose(table, "advice"));
  SEXTANT_TRY(practice.why, prose(table, "why"));
  SEXTANT_TRY(practice.source, prose(table, "source"));
  SEXTANT_TRY(practice.section, prose(table, "section"));
  if (table.has("do_not")) {
    SEXTANT_TRY(practice.do_not, table.boolean("do_not"));
  }
  SEXTANT_TRY(practice.applies, read_applies(table));
  SEXTANT_TRY(practice.change, read_change(table));
  SEXTANT_TRY(practice.expects, read_expects(table));
  SEXTANT_TRY(practice.check, read_check(table));
  SEXTANT_TRY(practice.verdict, read_verdict(table));
  if (practice.verdict && !practice.checkable()) {
    return invalid("a verdict on what nothing checks", table.where("verdict"));
  }
  constexpr std::array<std::string_view, 27> kKeys{
      "title",   "advice",   "why",        "source",     "section",     "do_not",     "axes",
      "devices", "topology", "frameworks", "models",     "versions",    "before",     "after",
      "setting", "quantity", "direction",  "ratio",      "job1",        "job2",       "job3",
      "rule",    "verdict",  "reason",     "conditions", "bottlenecks", "uncheckable"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  return practice;
}

std::string practice_path(std::string_view stem) {
  return fmt::format("{}/{}.toml", kFolder, stem);
}

Result<TomlTable> read_sources(const describe::DataStore& data) {
  const std::string path = practice_path(kSourcesStem);
  SEXTANT_TRY(const std::string text, data.read(path));
  return TomlTable::parse(text, data.where(path));
}

Result<PracticeSource> read_source(const TomlTable& file, const std::string& id) {
  SEXTANT_TRY(const TomlTable table, file.table(id));
  PracticeSource source;
  source.id = id;
  SEXTANT_TRY(source.title, prose(table, "title"));
  SEXTANT_TRY(source.url, prose(table, "url"));
  SEXTANT_TRY(source.version, prose(table, "version"));
  SEXTANT_TRY(source.read, prose(table, "read"));
  constexpr std::array<std::string_view, 4> kKeys{"title", "url", "version", "read"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  return source;
}

// Ids stand once, sources are described, described sources are used.
Result<void> check_book(const PracticeBook& book, std::string_view sources_where) {
  std::map<std::string_view, std::string_view> seen;  // id → where
  std::set<std::string_view> used;
  for (const Practice& practice : book.practices) {
    const auto [found, is_new] = seen.emplace(practice.id, practice.where);
    if (!is_new) {
      return invalid(fmt::format("'{}' stands twice", practice.id), practice.where,
                     fmt::format("an id that is not at {}", found->second));
    }
    if (!book.sources.contains(practice.source)) {
      std::vector<std::string> known;
      for (const auto& [id, source] : book.sources) {
        known.push_back(id);
      }
      return describe::unknown_word(practice.source, std::move(known), "source", practice.where);
    }
    used.insert(practice.source);
  }
  for (const auto& [id, source] : book.sources) {
    if (!used.contains(id)) {
      return invalid(fmt::format("no practice names the source '{}'", id),
                     std::string(sources_where), "sources that a practice names");
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Practice>> parse_practices(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, where));
  std::vector<Practice> practices;
  for (const std::string& id : file.keys()) {
    if (practices.size() == kMostPractices) {
      return invalid(fmt::format("more than {} practices", kMostPractices), file.where(id));
    }
    SEXTANT_TRY(Practice practice, read_practice(file, id));
    practices.push_back(std::move(practice));
  }
  return practices;
}

Result<PracticeBook> load_practices(const describe::DataStore& data) {
  PracticeBook book;
  SEXTANT_TRY(const TomlTable sources, read_sources(data));
  for (const std::string& id : sources.keys()) {
    SEXTANT_TRY(PracticeSource source, read_source(sources, id));
    book.sources.emplace(id, std::move(source));
  }
  for (const std::string& stem : data.list(kFolder, "toml")) {
    if (stem == kSourcesStem) {
      continue;
    }
    const std::string path = practice_path(stem);
    SEXTANT_TRY(const std::string text, data.read(path));
    SEXTANT_TRY(std::vector<Practice> practices, parse_practices(text, data.where(path)));
    std::move(practices.begin(), practices.end(), std::back_inserter(book.practices));
  }
  SEXTANT_CHECK_OK(check_book(book, sources.where()));
  return book;
}

}  // namespace sextant::kb
