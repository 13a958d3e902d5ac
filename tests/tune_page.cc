#include "tune_page.h"

#include <fmt/format.h>

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

std::string tune_page(const TunePage& page) {
  std::string text =
      "# Tuning: what the proposals are worth\n\n"
      "Written by a test (`TuneTruth.FirstProposalsAreFaster`, with `SEXTANT_UPDATE_PAGES=1`), "
      "which compares.\n\n"
      "## Among measured layouts\n\n";
  text += fmt::format(
      "{} groups of at least three layouts of one job (model, devices, batch, sequence, release) "
      "that somebody measured. Each layout but the fastest is a start, at most 15 of a source; the "
      "reasoner chooses among the group's layouts. The intervals of the judge have not seen the "
      "source; the constants of the step model were fitted on the same tables ([validation.md]"
      "(validation.md) says how it foretells systems left out). Groups of two are left out: from "
      "the slower one, any choice is faster. Random: a "
      "layout by chance that is not the start, and three of them. Rule: the layout nearest to what "
      "the habits of the Megatron papers pick (`megatron-rule` of a plan); it has one choice where "
      "the others have three.\n\n",
      page.groups);
  text +=
      "| source | starts | first proposal faster | random | rule | fastest among three | random | "
      "rule's is the fastest | accepted firsts faster |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& [source, score] : page.sources) {
    text += score_row(source, score);
  }
  text += score_row("**all**", page.all);
  text += score_row("of groups of five and more", page.large);
  text +=
      "\n## Confidence\n\n"
      "How often the first proposal of a kind was measured faster: every layout of every group is "
      "a "
      "start, the fastest too (there any proposal is wrong), at most 30 of a source. *Beyond*: the "
      "predicted gain is beyond the interval of the difference; *within*: the models cannot tell, "
      "and predict a gain. *Setting*: one thing but the mesh changes; *mesh*: the mesh, or several "
      "things. Said: (faster + 1) / (proposed + 2), `data/agents/confidence.toml`. Left out: what "
      "all other sources would have said of each source's proposals, and how often these were "
      "faster.\n\n"
      "| kind | first proposals | faster | said | said of sources left out | happened |\n"
      "|---|---:|---:|---:|---:|---:|\n";
  const std::map<std::string, Calibrated> left_out = calibrated_kinds(page.kinds);
  for (const auto& [kind, score] : summed_kinds(page.kinds)) {
    const auto found = left_out.find(kind);
    const Calibrated one = found == left_out.end() ? Calibrated() : found->second;
    text += fmt::format("| {} | {} | {} | {:.0f} % | {} | {} |\n", kind, score.proposed,
                        score.faster, 100.0 * score.share(), percent_of(one.said, one.proposed),
                        percent_of(one.faster, one.proposed));
  }
  if (!page.parts.empty()) {
    text +=
        "\n## What each part adds\n\n"
        "One job of each source as it stands in the middle of its group, with every layout to "
        "choose from (tensor and pipeline parallelism, micro-batches and recomputation; other "
        "switches "
        "stay). Accepted: "
        "jobs "
        "with a proposal whose gain is beyond the interval. Gain: of the first proposal, "
        "predicted, "
        "the median. Cited: proposals that rest on an entry that stands.\n\n"
        "| parts | jobs | accepted | gain of the first | proposals | cited |\n"
        "|---|---:|---:|---:|---:|---:|\n";
    for (const std::string& row : page.parts) {
      text += row;
    }
    text += fmt::format(
        "\nA profile: of {} runs recorded on one H200 with one fault each and no word about their "
        "job, the first proposal mends the fault in {}, one of the three in {}. Without the "
        "profile "
        "there is nothing to propose: no model is known.\n",
        page.runs.runs, page.runs.first, page.runs.among);
  }
  return text;
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
