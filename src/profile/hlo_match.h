// Which instruction of a compiled module each kernel of a graph ran, where the profile says only
// that the graph did ("command_buffer_1"): XLA records a module's kernels in the order of its
// schedule, so the two rows are laid over each other.
//
// A kernel that XLA made bears its instruction's name ("loop_add_fusion_3" for loop_add_fusion.3),
// or that of another with the same code: the words fit, the numbers need not. A kernel of a library
// (no instruction has its name) is a call to cuBLAS or cuDNN. Each kernel takes the next
// instruction that fits, at most kFarthest places ahead of where the last one was; at the end of
// the schedule it begins again. A library's kernel with no call ahead of it belongs to the call
// before it, which ran in several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/hlo_module.h"

namespace sextant::profile {

struct HloMatch {
  const HloComputation* where = nullptr;
  const HloInstruction* instruction = nullptr;
  bool is_first = true;  // the first kernel of this execution of it
};

class HloMatcher {
 public:
  static constexpr std::size_t kFarthest = 8;

  explicit HloMatcher(const HloModule& module);

  // Of the next kernel, in the order in which they ran; nothing where none fits. Copies and sets of
  // memory are not asked for: a library sets its workspace.
  std::optional<HloMatch> next(const std::string& kernel);

 private:
  struct Entry {
    std::string word;
    bool is_library = false;
    const HloInstruction* instruction = nullptr;
  };
  [[nodiscard]] bool fits(const Entry& entry, std::string_view word, bool is_library) const;

  const HloComputation* entry_ = nullptr;
  std::vector<Entry> schedule_;
  std::unordered_map<std::string, bool> words_;  // of instructions that XLA makes kernels of
  std::size_t at_ = 0;                           // where the next kernel is looked for
  std::optional<std::size_t> last_;
};

// "loop_add_fusion" of "loop_add_fusion.3" and of "loop_add_fusion_3".
std::string kernel_word(std::string_view name);

}  // namespace sextant::profile
