#include "describe/layout/job.h"

#include <cmath>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"

namespace sextant::describe {
namespace {

constexpr std::int64_t kLongestSequence = 1'000'000'000;

constexpr std::array<Word<Sequences::Kind>, 3> kKindWords{
    {{Sequences::Kind::kFixed, "fixed"},
     {Sequences::Kind::kPacked, "packed"},
     {Sequences::Kind::kVariable, "variable"}}};

Result<std::int64_t> parse_length(std::string_view text) {
  constexpr std::int64_t kBinaryKilo = 1024;  // as contexts are named: 8k is 8192
  const bool kilo = !text.empty() && (text.back() == 'k' || text.back() == 'K');
  const auto number = to_integer(kilo ? text.substr(0, text.size() - 1) : text);
  const std::int64_t unit = kilo ? kBinaryKilo : 1;
  if (!number || *number < 1 || *number > kLongestSequence / unit) {
    return invalid(fmt::format("'{}' is not a sequence length", printable(text)), "‹seq›",
                   fmt::format("a whole number from 1 to {}; 8k is 8192", kLongestSequence));
  }
  return *number * unit;
}

// "512*0.7,2048*0.3": shares must sum to 1.
Result<std::vector<std::pair<std::int64_t, double>>> parse_lengths(std::string_view text,
                                                                   std::int64_t longest) {
  constexpr double kRounding = 1e-6;
  std::vector<std::pair<std::int64_t, double>> lengths;
  double sum = 0.0;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> pair = split(part, '*');
    SEXTANT_TRY(const std::int64_t length, parse_length(pair[0]));
    const auto share = pair.size() == 2 ? to_double(pair[1]) : std::nullopt;
    if (!share || *share <= 0.0 || length > longest) {
      return invalid(fmt::format("'{}' is not LENGTH*SHARE", printable(part)), "‹seq›",
                     fmt::format("lengths up to {} with shares above 0", longest));
    }
    lengths.emplace_back(length, *share);
    sum += *share;
  }
  if (std::abs(sum - 1.0) > kRounding) {
    return invalid(fmt::format("the shares sum to {:.6g}", sum), "‹seq›", "shares that sum to 1");
  }
  return lengths;
}

}  // namespace

double Sequences::mean_length() const {
  if (lengths.empty()) {
    return static_cast<double>(length);
  }
  double sum = 0.0;
  for (const auto& [tokens, share] : lengths) {
    sum += static_cast<double>(tokens) * share;
  }
  return sum;
}

double Sequences::attention_length() const {
  if (lengths.empty()) {
    return static_cast<double>(length);
  }
  double squares = 0.0;
  for (const auto& [tokens, share] : lengths) {
    squares += static_cast<double>(tokens) * static_cast<double>(tokens) * share;
  }
  return squares / mean_length();
}

Result<Sequences> parse_sequences(std::string_view text) {
  Sequences sequences;
  std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() == 1) {
    SEXTANT_TRY(sequences.length, parse_length(parts[0]));
    return sequences;
  }
  SEXTANT_TRY(sequences.kind,
              parse_word<Sequences::Kind>(kKindWords, parts[0], "kind of sequence", "‹seq›"));
  SEXTANT_TRY(sequences.length, parse_length(parts[1]));
  if (parts.size() == 3 && sequences.kind != Sequences::Kind::kFixed) {
    SEXTANT_TRY(sequences.lengths, parse_lengths(parts[2], sequences.length));
  } else if (parts.size() != 2) {
    return invalid(fmt::format("'{}' is not a sequence", printable(text)), "‹seq›",
                   "4096, packed:8192, packed:8192:512*0.7,2048*0.3, variable:4096:…");
  }
  return sequences;
}

std::int64_t Job::dp() const {
  if (layout.dp > 0) {
    return layout.dp;
  }
  const std::int64_t model_ranks = saturating_product({layout.tp, layout.cp, layout.pp});
  return cluster.devices % model_ranks == 0 ? cluster.devices / model_ranks : 0;
}

std::int64_t Job::microbatches() const {
  const std::int64_t replicas = dp();
  if (replicas == 0 || global_batch % replicas != 0) {
    return 0;
  }
  const std::int64_t sequences_a_replica = global_batch / replicas;
  return (sequences_a_replica + layout.mbs - 1) / layout.mbs;
}

}  // namespace sextant::describe
