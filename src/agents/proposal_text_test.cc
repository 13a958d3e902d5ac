// A proposal written and read back is the same; what is none is refused with its place.
#include "agents/proposal_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::agents {
namespace {

using verify::Claim;
using verify::Proposal;

TEST(ProposalText, AnEmptyProposalComesBack) {
  const auto read = parse_proposal(proposal_text({}), "the log");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(*read, Proposal());
}

std::string any_text() {
  // Quotes, controls, brackets and letters beyond ASCII are what a format trips over.
  static const std::vector<std::string> kParts{"a", "tp=8", "\"",     "\\", "\n", "\t",
                                               "]", "[x]",  "= ",     "#",  "'",  "é",
                                               "→", "\x7F", "\"\"\"", " "};
  std::string text;
  for (const std::string& part :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kParts))) {
    text += part;
  }
  return text;
}

Claim any_claim() {
  Claim claim;
  claim.quantity = (*rc::gen::elementOf(std::vector<describe::Word<step::Quantity>>(
                        step::kQuantityWords.begin(), step::kQuantityWords.end())))
                       .first;
  claim.direction = (*rc::gen::elementOf(std::vector<describe::Word<step::Direction>>(
                         step::kDirectionWords.begin(), step::kDirectionWords.end())))
                        .first;
  if (*rc::gen::arbitrary<bool>()) {
    const double low = static_cast<double>(*rc::gen::inRange(0, 100000)) / 7e3;
    claim.ratio = step::RatioRange{low, low + static_cast<double>(*rc::gen::inRange(0, 9)) / 3.0};
  }
  return claim;
}

Proposal any_proposal() {
  Proposal proposal{.title = any_text(),
                    .change = {any_text(), any_text(), any_text()},
                    .reasoning = {any_text(), any_text(), any_text()},
                    .author = any_text()};
  if (*rc::gen::arbitrary<bool>()) {
    proposal.devices = *rc::gen::arbitrary<std::int64_t>();
  }
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    proposal.claims.push_back(any_claim());
    proposal.trade_offs.push_back(any_text());
  }
  // More than nine: by number, not by spelling.
  for (int i = *rc::gen::inRange(0, 13); i > 0; --i) {
    verify::Citation& citation = proposal.citations.emplace_back();
    citation.kind = static_cast<verify::Cited>(*rc::gen::inRange(0, 4));
    citation.id = any_text();
    if (*rc::gen::arbitrary<bool>()) {
      citation.supports = any_claim();
    }
  }
  return proposal;
}

RC_GTEST_PROP(ProposalText, EveryProposalComesBack, ()) {
  const Proposal proposal = any_proposal();
  const auto read = parse_proposal(proposal_text(proposal), "the log");
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == proposal);
}

TEST(ProposalText, BytesThatAreNoTextAreWrittenAsText) {
  const Proposal proposal{.title = "a\xFF"};
  const auto read = parse_proposal(proposal_text(proposal), "the log");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->title, "a\\xff");
}

TEST(ProposalText, WhatIsNoProposalIsRefusedWithItsPlace) {
  for (const char* text :
       {"titel = \"x\"", "claims = [\"step sideways\"]", "claims = [\"step lower, x2 to x1\"]",
        "devices = \"eight\"", "[change]\nlayout = 8", "[change]\nlayouts = \"tp=8\"",
        "[citations.2]\nkind = \"kb\"", "[citations.1]\nkind = \"gossip\"",
        "[citations.1]\nid = \"x\"", "[reasoning]\nmood = \"x\"", "title = \"x", "\"\"\"x\"\"\""}) {
    const auto read = parse_proposal(text, "the log");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(to_text(read.error()).find(text[0] == 'c' ? "expects" : "the log"), std::string::npos)
        << to_text(read.error());
  }
}

TEST(ProposalText, LongTextsAndLongListsAreRefused) {
  EXPECT_FALSE(parse_proposal(std::string(kLongestProposal + 1, ' '), "the log"));
  Proposal proposal;
  proposal.claims.resize(kMostListed);
  EXPECT_TRUE(parse_proposal(proposal_text(proposal), "the log"));
  proposal.claims.resize(kMostListed + 1);
  EXPECT_FALSE(parse_proposal(proposal_text(proposal), "the log"));
  Proposal cited;
  cited.citations.resize(kMostListed + 1);
  EXPECT_FALSE(parse_proposal(proposal_text(cited), "the log"));
}

TEST(VerdictText, ARulingComesBack) {
  for (const auto& [ruling, word] : verify::kRulingWords) {
    const verify::Verdict verdict{.ruling = ruling, .reason = "it \"is\" so\n"};
    const auto read = parse_ruling(verdict_text(verdict), "the log");
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(*read, ruling);
  }
  EXPECT_FALSE(parse_ruling("ruling = \"perhaps\"", "the log"));
}

}  // namespace
}  // namespace sextant::agents
