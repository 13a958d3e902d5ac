#include "profile/hlo_match.h"

#include <algorithm>

#include "base/text.h"
#include "profile/hlo_count.h"

namespace sextant::profile {

std::string kernel_word(std::string_view name) {
  std::string word(name);
  std::replace(word.begin(), word.end(), '.', '_');
  std::replace(word.begin(), word.end(), '-', '_');
  // Numbers at the end, each after a '_'.
  while (true) {
    std::size_t end = word.size();
    while (end > 0 && is_digit(word[end - 1])) {
      --end;
    }
    if (end == word.size() || end == 0 || word[end - 1] != '_') {
      return word;
    }
    word.resize(end - 1);
  }
}

HloMatcher::HloMatcher(const HloModule& module) {
  const auto entry = module.computations.find(module.entry);
  if (entry == module.computations.end()) {
    return;
  }
  entry_ = &entry->second;
  for (const std::int64_t id : entry_->schedule) {
    const HloInstruction* instruction = entry_->find(id);
    if (instruction == nullptr || runs_nothing(instruction->opcode) ||
        holds_others(instruction->opcode)) {
      continue;
    }
    Entry next{kernel_word(instruction->name), instruction->opcode == "custom-call", instruction};
    if (!next.is_library) {
      words_.try_emplace(next.word, true);
    }
    schedule_.push_back(std::move(next));
  }
}

bool HloMatcher::fits(const Entry& entry, std::string_view word, bool is_library) const {
  return is_library ? entry.is_library : !entry.is_library && entry.word == word;
}

std::optional<HloMatch> HloMatcher::next(const std::string& kernel) {
  const std::string word = kernel_word(kernel);
  const bool is_library = !words_.contains(word);
  for (std::size_t ahead = 0; ahead < std::min(kFarthest, schedule_.size()); ++ahead) {
    const std::size_t at = (at_ + ahead) % schedule_.size();
    // A further kernel of the call before it, rather than a call behind other kernels.
    const bool is_further = is_library && ahead > 0 && last_ && schedule_[*last_].is_library;
    if (is_further) {
      return HloMatch{entry_, schedule_[*last_].instruction, false};
    }
    if (fits(schedule_[at], word, is_library)) {
      last_ = at;
      at_ = (at + 1) % schedule_.size();
      return HloMatch{entry_, schedule_[at].instruction, true};
    }
  }
  return std::nullopt;
}

}  // namespace sextant::profile
