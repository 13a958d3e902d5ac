#include "measured/run_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

using describe::Framework;

// First match wins.
constexpr std::array<std::pair<std::string_view, Framework>, 25> kFrameworkPhrases{
    {{"megatron-deepspeed", Framework::kMegatronDeepspeed},
     {"megatron_deepspeed", Framework::kMegatronDeepspeed},
     {"automodel", Framework::kTorchtitan},
     {"torchtitan", Framework::kTorchtitan},
     {"torchtune", Framework::kTorchtitan},
     {"fsdp2", Framework::kTorchtitan},
     {"llm-foundry", Framework::kFsdp1},
     {"composer", Framework::kFsdp1},
     {"fms-fsdp", Framework::kFsdp1},
     {"maxtext", Framework::kMaxtext},
     {"paxml", Framework::kMaxtext},
     {"levanter", Framework::kMaxtext},
     {"jax", Framework::kMaxtext},
     {"nanotron", Framework::kNanotron},
     {"megatron", Framework::kMegatronCore},
     {"nemo", Framework::kMegatronCore},
     {"primus", Framework::kMegatronCore},
     {"nvidia release", Framework::kMegatronCore},
     {"nvidia pytorch", Framework::kMegatronCore},
     {"nvidia ngc", Framework::kMegatronCore},
     {"ngc pytorch", Framework::kMegatronCore},
     {"deepspeed", Framework::kDeepspeed},
     {"accelerate", Framework::kAccelerate},
     {"hugging face", Framework::kAccelerate},
     {"fsdp", Framework::kFsdp1}}};

// Environment variables of NVIDIA's MLPerf submissions: whoever sets them runs NeMo.
constexpr std::array<std::string_view, 4> kNemoVariables{"tp_comm_overlap", "use_dist_optimizer",
                                                         "fp8_dpa", "mcore_cuda_graph"};

}  // namespace

FrameworkReading framework_of(std::string_view text, std::string_view flags) {
  const std::string lower = to_lower(text);
  for (const auto& [phrase, framework] : kFrameworkPhrases) {
    if (contains(lower, phrase)) {
      const std::string_view word =
          describe::word_of<Framework>(describe::kFrameworkWords, framework);
      return {framework, contains(lower, word)};
    }
  }
  const Flags variables(flags);
  for (const std::string_view variable : kNemoVariables) {
    if (variables.mention(variable)) {
      return {Framework::kMegatronCore, false};
    }
  }
  return {};
}

Flags::Flags(std::string_view text) {
  for (const std::string_view entry : split(text, ';')) {
    entries_.push_back(to_lower(trimmed(entry)));
  }
}

bool Flags::mention(std::string_view text) const {
  const std::string wanted = to_lower(text);
  return std::any_of(entries_.begin(), entries_.end(),
                     [&wanted](const std::string& entry) { return contains(entry, wanted); });
}

std::optional<std::string_view> Flags::value(std::string_view key) const& {
  const std::string wanted = to_lower(key);
  for (const std::string& entry : entries_) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos &&
        trimmed(std::string_view(entry).substr(0, equals)) == wanted) {
      return trimmed(std::string_view(entry).substr(equals + 1));
    }
  }
  return std::nullopt;
}

std::optional<bool> Flags::on(std::string_view key) const {
  const auto word = value(key);
  if (!word) {
    return std::nullopt;
  }
  return *word == "1" || *word == "true";
}

namespace {

bool has_digits(std::string_view text, std::size_t at, std::size_t count) {
  return text.size() >= at + count && std::ranges::all_of(text.substr(at, count), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

int number_at(std::string_view text, std::size_t at, std::size_t count) {
  return static_cast<int>(to_integer(text.substr(at, count)).value_or(0));
}

// The first month named; month 0: a year alone.
std::optional<Month> month_of(std::string_view date) {
  constexpr std::string_view kCentury = "20";
  for (std::size_t at = 0; at < date.size(); ++at) {
    if (has_digits(date, at, 4) && date.substr(at, 2) == kCentury) {
      const bool named = date.substr(at + 4, 1) == "-" && has_digits(date, at + 5, 2) &&
                         !has_digits(date, at + 5, 3);
      return Month{number_at(date, at, 4), named ? number_at(date, at + 5, 2) : 0};
    }
    // Container releases: YY.MM.
    if (has_digits(date, at, 2) && date.substr(at + 2, 1) == "." && has_digits(date, at + 3, 2)) {
      return Month{2000 + number_at(date, at, 2), number_at(date, at + 3, 2)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> year_of(std::string_view date) {
  const auto month = month_of(date);
  return month ? std::optional(month->year) : std::nullopt;
}

bool is_since(std::string_view date, Month month) {
  const auto named = month_of(date);
  return named &&
         (named->year > month.year ||
          (named->year == month.year && (named->month == 0 || named->month >= month.month)));
}

}  // namespace sextant::measured
