#include "kb/practice_page.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace sextant::kb {
namespace {

constexpr std::string_view kPageHead =
    "# Best practices\n\n"
    "Written by `practices_page` of `kb/practice_page.h` from `data/practices/`; a test compares. "
    "Each practice is in our own words, from the source named; whole entries (advice, mechanism, "
    "where it applies, the jobs that check it) stand in the files.\n\n"
    "Checked: the model estimates the practice's jobs before and after the change; shown are the "
    "quantity, what the source expects and, for each job, after over before. A practice with a "
    "rule "
    "id is checked by jobs that break the rule before and hold it after. (warning) marks a "
    "change to stay away from: what is expected is its harm.\n";

// Cells hold no bar.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

std::string check_cell(const Practice& practice) {
  if (const auto* none = std::get_if<Uncheckable>(&practice.check)) {
    return "not checkable: " + none->reason;
  }
  if (const auto* rule = std::get_if<RuleCheck>(&practice.check)) {
    return "rule " + rule->rule;
  }
  const Expects& expects = practice.expects;
  std::string text =
      fmt::format("{} {}", describe::word_of<Quantity>(kQuantityWords, expects.quantity),
                  describe::word_of<Direction>(kDirectionWords, expects.direction));
  if (expects.ratio) {
    text += fmt::format(", x{} to x{}", expects.ratio->low, expects.ratio->high);
  }
  return text;
}

std::string agreement_cell(const Practice& practice, const Agreement& agreement) {
  if (!practice.checkable()) {
    return "";
  }
  std::string text(describe::word_of<Outcome>(kOutcomeWords, agreement.outcome));
  std::string ratios;
  for (const JobAgreement& job : agreement.jobs) {
    if (job.ratio) {
      ratios += fmt::format("{}x{:.2f}", ratios.empty() ? ": " : ", ", *job.ratio);
    }
  }
  text += ratios;
  if (practice.verdict) {
    text += fmt::format(" ({} is right)",
                        describe::word_of<Right>(kRightWords, practice.verdict->right));
  }
  return text;
}

std::string practice_row(const Practice& practice, const Agreement& agreement) {
  return fmt::format("| {} | {}{} | {} | {} | {} |\n", practice.id, cell(practice.title),
                     practice.do_not ? " (warning)" : "", practice.source,
                     cell(check_cell(practice)), cell(agreement_cell(practice, agreement)));
}

std::string sources_table(const PracticeBook& book) {
  std::string text =
      "\n## Sources\n\n| id | source | version | read | practices |\n|---|---|---|---|---|\n";
  for (const auto& [id, source] : book.sources) {
    const auto count = std::count_if(book.practices.begin(), book.practices.end(),
                                     [&](const Practice& one) { return one.source == id; });
    text += fmt::format("| {} | [{}]({}) | {} | {} | {} |\n", id, cell(source.title), source.url,
                        cell(source.version), cell(source.read), count);
  }
  return text;
}

std::string disagreements_of(const PracticeBook& book, std::span<const Agreement> checked) {
  std::string text = "\n## Where source and model disagree\n\n";
  for (std::size_t i = 0; i < book.practices.size(); ++i) {
    const Practice& practice = book.practices[i];
    if (practice.verdict) {
      text += fmt::format("- **{}**: {}. The {} is right: {}\n", practice.id, checked[i].why,
                          describe::word_of<Right>(kRightWords, practice.verdict->right),
                          practice.verdict->reason);
    }
  }
  return text;
}

std::string summary(const PracticeBook& book, std::span<const Agreement> checked) {
  const auto checkable = std::count_if(book.practices.begin(), book.practices.end(),
                                       [](const Practice& one) { return one.checkable(); });
  const auto agree = std::count_if(checked.begin(), checked.end(), [](const Agreement& one) {
    return one.outcome == Outcome::kAgrees;
  });
  return fmt::format(
      "\n{} practices of {} sources; {} are checked, and the model agrees with {} of them.\n",
      book.practices.size(), book.sources.size(), checkable, agree);
}

}  // namespace

std::string practices_page(const PracticeBook& book, std::span<const Agreement> checked) {
  assert(checked.size() == book.practices.size());
  std::string text(kPageHead);
  text += summary(book, checked);
  text += "\n| practice | what | source | check | model |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < book.practices.size(); ++i) {
    text += practice_row(book.practices[i], checked[i]);
  }
  return text + disagreements_of(book, checked) + sources_table(book);
}

}  // namespace sextant::kb
