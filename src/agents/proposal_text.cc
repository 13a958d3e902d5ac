#include "agents/proposal_text.h"

#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/toml_table.h"
#include "kb/entry_says.h"

namespace sextant::agents {
namespace {

using describe::TomlTable;
using verify::Citation;
using verify::Cited;
using verify::Claim;
using verify::Proposal;

// A basic string of TOML; controls stand escaped, so that every value is one line.
std::string quoted_text(std::string_view given) {
  const bool is_text = !first_invalid_utf8(given);
  const std::string shown = is_text ? std::string() : printable(given, given.size());
  std::string quoted = "\"";
  for (const char c : is_text ? given : std::string_view(shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

void add_line(std::string& lines, std::string_view key, std::string_view value) {
  if (!value.empty()) {
    lines += fmt::format("{} = {}\n", key, quoted_text(value));
  }
}

void add_list(std::string& lines, std::string_view key, std::span<const std::string> values) {
  if (values.empty()) {
    return;
  }
  std::vector<std::string> quoted;
  for (const std::string& value : values) {
    quoted.push_back(quoted_text(value));
  }
  lines += fmt::format("{} = [{}]\n", key, join(quoted, ", "));
}

// A claim is worded as an expectation of the knowledge base is.
std::string claim_text(const Claim& claim) {
  return kb::expectation_text({claim.quantity, claim.direction, claim.ratio});
}

Result<Claim> parse_claim(std::string_view text) {
  SEXTANT_TRY(const kb::Expects read, kb::parse_expectation(text));
  return Claim{.quantity = read.quantity, .direction = read.direction, .ratio = read.ratio};
}

Result<std::string> text_or_none(const TomlTable& table, std::string_view key) {
  return table.has(key) ? table.text(key) : Result<std::string>(std::string());
}

Result<void> check_count(std::size_t count, const TomlTable& table, std::string_view key) {
  if (count > kMostListed) {
    return invalid(fmt::format("{} {}", count, key), table.where(key),
                   fmt::format("at most {}", kMostListed));
  }
  return {};
}

Result<std::vector<std::string>> listed_texts(const TomlTable& table, std::string_view key) {
  SEXTANT_TRY(std::vector<std::string> texts, table.texts(key));
  SEXTANT_CHECK_OK(check_count(texts.size(), table, key));
  return texts;
}

Result<void> read_change(const TomlTable& top, Proposal& proposal) {
  if (!top.has("change")) {
    return {};
  }
  static constexpr std::array<std::string_view, 3> kKeys{"layout", "setting", "mends"};
  SEXTANT_TRY(const TomlTable table, top.table("change"));
  SEXTANT_CHECK_OK(table.only(kKeys));
  SEXTANT_TRY(proposal.change.layout, text_or_none(table, "layout"));
  SEXTANT_TRY(proposal.change.setting, text_or_none(table, "setting"));
  SEXTANT_TRY(proposal.change.mends, text_or_none(table, "mends"));
  return {};
}

Result<void> read_reasoning(const TomlTable& top, Proposal& proposal) {
  if (!top.has("reasoning")) {
    return {};
  }
  static constexpr std::array<std::string_view, 3> kKeys{"bottleneck", "memory", "comparison"};
  SEXTANT_TRY(const TomlTable table, top.table("reasoning"));
  SEXTANT_CHECK_OK(table.only(kKeys));
  SEXTANT_TRY(proposal.reasoning.bottleneck, text_or_none(table, "bottleneck"));
  SEXTANT_TRY(proposal.reasoning.memory, text_or_none(table, "memory"));
  SEXTANT_TRY(proposal.reasoning.comparison, text_or_none(table, "comparison"));
  return {};
}

Result<Citation> read_citation(const TomlTable& table) {
  static constexpr std::array<std::string_view, 3> kKeys{"kind", "id", "supports"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  Citation citation;
  SEXTANT_TRY(const std::string kind, table.text("kind"));
  SEXTANT_TRY(citation.kind, describe::parse_word<Cited>(verify::kCitedWords, kind, "citation",
                                                         table.where("kind")));
  SEXTANT_TRY(citation.id, text_or_none(table, "id"));
  if (table.has("supports")) {
    SEXTANT_TRY(const std::string claim, table.text("supports"));
    SEXTANT_TRY(citation.supports, parse_claim(claim));
  }
  return citation;
}

// Numbered from 1, in order.
Result<void> read_citations(const TomlTable& top, Proposal& proposal) {
  if (!top.has("citations")) {
    return {};
  }
  SEXTANT_TRY(const TomlTable all, top.table("citations"));
  const std::size_t count = all.keys().size();
  SEXTANT_CHECK_OK(check_count(count, top, "citations"));
  for (std::size_t number = 1; number <= count; ++number) {
    SEXTANT_TRY(const TomlTable one, all.table(fmt::format("{}", number)));
    SEXTANT_TRY(Citation citation, read_citation(one));
    proposal.citations.push_back(std::move(citation));
  }
  return {};
}

// `text` is bounded before anything of it is looked at.
Result<TomlTable> bounded_table(std::string_view text, std::string_view where) {
  if (text.size() > kLongestProposal) {
    return invalid(fmt::format("{} bytes", text.size()), std::string(where),
                   fmt::format("at most {} bytes", kLongestProposal));
  }
  return TomlTable::parse(text, where);
}

}  // namespace

std::string proposal_text(const Proposal& proposal) {
  std::string lines;
  add_line(lines, "title", proposal.title);
  add_line(lines, "author", proposal.author);
  if (proposal.devices) {
    lines += fmt::format("devices = {}\n", *proposal.devices);
  }
  std::vector<std::string> claims;
  for (const Claim& claim : proposal.claims) {
    claims.push_back(claim_text(claim));
  }
  add_list(lines, "claims", claims);
  add_list(lines, "trade_offs", proposal.trade_offs);
  lines += "[change]\n";
  add_line(lines, "layout", proposal.change.layout);
  add_line(lines, "setting", proposal.change.setting);
  add_line(lines, "mends", proposal.change.mends);
  lines += "[reasoning]\n";
  add_line(lines, "bottleneck", proposal.reasoning.bottleneck);
  add_line(lines, "memory", proposal.reasoning.memory);
  add_line(lines, "comparison", proposal.reasoning.comparison);
  std::size_t number = 0;
  for (const Citation& citation : proposal.citations) {
    number += 1;
    lines += fmt::format("[citations.{}]\n", number);
    add_line(lines, "kind", describe::word_of<Cited>(verify::kCitedWords, citation.kind));
    add_line(lines, "id", citation.id);
    add_line(lines, "supports", citation.supports ? claim_text(*citation.supports) : "");
  }
  return lines;
}

Result<Proposal> parse_proposal(std::string_view text, std::string_view where) {
  static constexpr std::array<std::string_view, 8> kKeys{
      "title", "author", "devices", "claims", "trade_offs", "change", "reasoning", "citations"};
  SEXTANT_TRY(const TomlTable top, bounded_table(text, where));
  SEXTANT_CHECK_OK(top.only(kKeys));
  Proposal proposal;
  SEXTANT_TRY(proposal.title, text_or_none(top, "title"));
  SEXTANT_TRY(proposal.author, text_or_none(top, "author"));
  if (top.has("devices")) {
    SEXTANT_TRY(proposal.devices, top.integer("devices", std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max()));
  }
  SEXTANT_TRY(const std::vector<std::string> claims, listed_texts(top, "claims"));
  for (const std::string& claim : claims) {
    SEXTANT_TRY(const Claim read, parse_claim(claim));
    proposal.claims.push_back(read);
  }
  SEXTANT_TRY(proposal.trade_offs, listed_texts(top, "trade_offs"));
  SEXTANT_CHECK_OK(read_change(top, proposal));
  SEXTANT_CHECK_OK(read_reasoning(top, proposal));
  SEXTANT_CHECK_OK(read_citations(top, proposal));
  return proposal;
}

std::string verdict_text(const verify::Verdict& verdict) {
  std::string lines;
  add_line(lines, "ruling",
           describe::word_of<verify::Ruling>(verify::kRulingWords, verdict.ruling));
  add_line(lines, "ground",
           describe::word_of<verify::Ground>(verify::kGroundWords, verdict.ground));
  add_line(lines, "reason", verdict.reason);
  add_list(lines, "missing", verdict.missing);
  std::vector<std::string> claims;
  for (const verify::JudgedClaim& judged : verdict.claims) {
    claims.push_back(fmt::format(
        "{}: {}", describe::word_of<verify::ClaimRuling>(verify::kClaimRulingWords, judged.ruling),
        judged.why));
  }
  add_list(lines, "claims", claims);
  std::vector<std::string> citations;
  for (const verify::JudgedCitation& judged : verdict.citations) {
    citations.push_back(fmt::format("{} {}: {}", judged.stands ? "stands" : "struck",
                                    judged.citation.id, judged.why));
  }
  add_list(lines, "citations", citations);
  return lines;
}

Result<verify::Ruling> parse_ruling(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const TomlTable top, bounded_table(text, where));
  SEXTANT_TRY(const std::string word, top.text("ruling"));
  return describe::parse_word<verify::Ruling>(verify::kRulingWords, word, "ruling",
                                              top.where("ruling"));
}

}  // namespace sextant::agents
