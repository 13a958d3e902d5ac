#include "tune_page.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.h"

namespace sextant::tests {
namespace {

std::string percent_of(double part, std::int64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * part / static_cast<double>(whole));
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return percent_of(static_cast<double>(part), whole);
}

std::string score_row(const std::string& name, const TuneScore& score) {
  return fmt::format(
      "| {} | {} | {} | {} | {} | {} | {} | {} | {} of {} |\n", name, score.starts,
      percent_of(score.faster, score.starts), percent_of(score.random_faster, score.starts),
      percent_of(score.rule_faster, score.starts), percent_of(score.fastest, score.starts),
      percent_of(score.random_fastest, score.starts), percent_of(score.rule_fastest, score.starts),
      score.decided_faster, score.decided);
}

// What a source's proposals of a kind were said to be by all others, and what they were.
struct Calibrated {
  std::int64_t proposed = 0;
  double said = 0.0;
  std::int64_t faster = 0;
};

std::map<std::string, Calibrated> calibrated_kinds(const SourceKinds& sources) {
  std::map<std::string, Calibrated> kinds;
  for (const auto& [source, own] : sources) {
    const KindScores others = summed_kinds(sources, source);
    for (const auto& [kind, score] : own) {
      const auto said = others.find(kind);
      if (said == others.end()) {
        continue;
      }
      Calibrated& one = kinds[kind];
      one.proposed += score.proposed;
      one.faster += score.faster;
      one.said += said->second.share() * static_cast<double>(score.proposed);
    }
  }
  return kinds;
}

// Where a section stands, without the empty line that parts it from the next: its first byte, which
// is the page's end where there is none, and how many.
std::pair<std::size_t, std::size_t> section_place(const std::string& page,
                                                  const std::string& heading) {
  const std::size_t found =
      heading.empty() || page.starts_with(heading + "\n") ? 0 : page.find("\n" + heading + "\n");
  if (found == std::string::npos) {
    return {page.size(), 0};
  }
  const std::size_t from = found == 0 ? 0 : found + 1;
  const std::size_t next = page.find("\n## ", from);
  return {from, std::min(next, page.size()) - from};
}

}  // namespace

void TuneScore::add(const TuneOutcome& outcome, const std::optional<std::size_t>& rule) {
  const OtherChoices others = other_choices(outcome.from);
  starts += 1;
  faster += outcome.is_first_faster() ? 1 : 0;
  fastest += outcome.has_fastest() ? 1 : 0;
  decided += outcome.stands ? 1 : 0;
  decided_faster += outcome.stands && outcome.is_first_faster() ? 1 : 0;
  random_faster += others.random_faster;
  random_fastest += others.random_fastest;
  rule_faster += rule && *rule < outcome.from.start ? 1 : 0;
  rule_fastest += rule && *rule == 0 ? 1 : 0;
}

KindScores summed_kinds(const SourceKinds& sources, const std::string& left_out) {
  KindScores sums;
  for (const auto& [source, own] : sources) {
    for (const auto& [kind, score] : own) {
      if (source != left_out) {
        sums[kind].proposed += score.proposed;
        sums[kind].faster += score.faster;
      }
    }
  }
  return sums;
}

PageSection page_head() {
  return {"",
          "# Tuning: what the proposals are worth\n\n"
          "Written by tests (`TuneTruth.*` of `sextant_tune_test`, with `SEXTANT_UPDATE_PAGES=1`), "
          "which compare. How `tune` is used: [tune.md](tune.md).\n"};
}

PageSection among_section(const std::map<std::string, TuneScore>& sources, const TuneScore& all,
                          const TuneScore& large, std::int64_t groups) {
  PageSection section{"## Among measured layouts", ""};
  section.text = fmt::format(
      "{}\n\n"
      "{} groups of at least three layouts of one job (model, devices, batch, sequence, release) "
      "that somebody measured. Each layout but the fastest is a start, at most 15 of a source; the "
      "reasoner chooses among the group's layouts. The intervals of the judge have not seen the "
      "source; the constants of the step model were fitted on the same tables ([validation.md]"
      "(validation.md) says how it foretells systems left out). Groups of two are left out: from "
      "the slower one, any choice is faster. Random: a layout by chance that is not the start, and "
      "three of them. Rule: the layout nearest to what the habits of the Megatron papers pick "
      "(`megatron-rule` of a plan); it has one choice where the others have three.\n\n",
      section.heading, groups);
  section.text +=
      "| source | starts | first proposal faster | random | rule | fastest among three | random | "
      "rule's is the fastest | accepted firsts faster |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& [source, score] : sources) {
    section.text += score_row(source, score);
  }
  section.text += score_row("**all**", all);
  section.text += score_row("of groups of five and more", large);
  return section;
}

PageSection confidence_section(const SourceKinds& kinds) {
  PageSection section{"## Confidence", ""};
  section.text =
      section.heading +
      "\n\nHow often the first proposal of a kind was measured faster: every layout of every group "
      "is a start, the fastest too (there any proposal is wrong), at most 30 of a source. "
      "*Beyond*: the predicted gain is beyond the interval of the difference; *within*: the models "
      "cannot tell, and predict a gain. *Setting*: one thing but the mesh changes; *mesh*: the "
      "mesh, or several things. Said: (faster + 1) / (proposed + 2), "
      "`data/agents/confidence.toml`. Left out: what all other sources would have said of each "
      "source's proposals, and how often these were faster.\n\n"
      "| kind | first proposals | faster | said | said of sources left out | happened |\n"
      "|---|---:|---:|---:|---:|---:|\n";
  const std::map<std::string, Calibrated> left_out = calibrated_kinds(kinds);
  for (const auto& [kind, score] : summed_kinds(kinds)) {
    const auto found = left_out.find(kind);
    const Calibrated one = found == left_out.end() ? Calibrated() : found->second;
    section.text +=
        fmt::format("| {} | {} | {} | {:.0f} % | {} | {} |\n", kind, score.proposed, score.faster,
                    100.0 * score.share(), percent_of(one.said, one.proposed),
                    percent_of(one.faster, one.proposed));
  }
  return section;
}

PageSection parts_section(const std::vector<PartsScore>& parts) {
  PageSection section{"## What each part adds", ""};
  section.text =
      section.heading +
      "\n\nOne job of each source as it stands in the middle of its group, with every layout to "
      "choose from (tensor and pipeline parallelism, micro-batches and recomputation; other "
      "switches stay). Accepted: jobs with a first proposal whose gain is beyond the interval. "
      "Gain: of the first proposal, predicted, the median. Cited: proposals that rest on an entry "
      "that stands.\n\n"
      "| parts | jobs | accepted | gain of the first | proposals | cited |\n"
      "|---|---:|---:|---:|---:|---:|\n";
  for (const PartsScore& one : parts) {
    section.text +=
        fmt::format("| {} | {} | {} | {:.0f} % | {} | {} |\n", one.name, one.jobs, one.accepted,
                    100.0 * median(one.gains).value_or(0.0), one.proposals, one.cited);
  }
  return section;
}

PageSection runs_section(const std::vector<RunScore>& runs) {
  PageSection section{"## A profile alone", ""};
  const auto first = std::ranges::count_if(runs, &RunScore::is_first);
  const auto among = std::ranges::count_if(runs, &RunScore::is_among);
  section.text = fmt::format(
      "{}\n\n"
      "{} runs recorded on one H200 with one fault each, and no word about their job. The first "
      "proposal mends the fault in {}, one of the three in {}. Without the profile there is "
      "nothing to propose: no model is known. What mending is worth: [diagnosis_real.md]"
      "(diagnosis_real.md).\n\n"
      "| fault | mended by advice of | the first proposal mends | the fault is mended | why not |\n"
      "|---|---|---|---|---|\n",
      section.heading, runs.size(), first, among);
  for (const RunScore& run : runs) {
    section.text += fmt::format("| {} | {} | {} | {} | {} |\n", run.fault, run.mended_by,
                                run.proposed.empty() ? "–" : run.proposed,
                                run.is_among ? "yes" : "no", run.why_not);
  }
  return section;
}

std::string section_of(const std::string& page, const std::string& heading) {
  const auto [from, size] = section_place(page, heading);
  return page.substr(from, size);
}

std::string with_section(const std::string& page, const PageSection& section) {
  const auto [from, size] = section_place(page, section.heading);
  const std::string before = page.substr(0, from);
  const std::string gap = before.empty() || before.ends_with("\n\n") ? "" : "\n";
  const std::string after = page.substr(from + size);
  return before + gap + section.text + after;
}

std::string confidence_text(const SourceKinds& kinds) {
  std::string text =
      "# How often the first proposal of a kind was measured faster than the layout it was to "
      "replace\n# (src/agents/confidence.h). Written by the test that measures it.\n";
  for (const auto& [kind, score] : summed_kinds(kinds)) {
    text += fmt::format(
        "\n[{}]\nproposed = {}\n"
        "faster = {{ value = \"{:.2f} ratio\", kind = \"measured\", source = \"docs/tuning.md, "
        "Confidence: {} of {} were faster\" }}\n",
        kind, score.proposed, score.share(), score.faster, score.proposed);
  }
  return text;
}

}  // namespace sextant::tests
