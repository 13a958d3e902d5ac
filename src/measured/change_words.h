// The words of one side of a published change: "tp=8,mbs=1,recompute=selective(op); DeepEP".
//
// Words are separated by ',' and ';' outside parentheses, and by " + ". Those that the layout
// language knows become columns and flags of a runs row (run_cells.h); the rest stays as it is
// written: where both sides have it, it is the row's circumstances, where they do not, the change
// is beyond what a layout can say.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "measured/run_cells.h"

namespace sextant::measured {

// What a side says of a runs row's columns; nothing or "": not said.
struct ChangeWords {
  Count tp, pp, vpp, cp, ep, etp, dp, dp_shard, zero, zero_group, micro_batch, grad_accum, batch;
  std::optional<bool> sp, compiled, reshard, optimizer_offload, activation_offload;
  std::string precision;       // the normalised word
  std::string precision_text;  // as written: recipes are in it
  std::string recompute;       // none, selective, full
  std::string recompute_text;
  std::string attention;
  std::vector<std::string> flags;  // phrases that run_layout understands
  std::optional<bool> all_to_all;  // tokens reach experts by plain all-to-alls
  bool fine_tuning = false;
  bool folded = true;            // false: experts are cut by tp as everything else
  std::set<std::string> beyond;  // what none of this says
  [[nodiscard]] std::string flag_text() const;
};

// Of at most 64 KiB; longer text is all beyond.
ChangeWords change_words(std::string_view text);

// "512->2048" → 512 and 2048, "4096" both times; the halves are trimmed.
struct TwoSides {
  std::string_view before;
  std::string_view after;
};
TwoSides two_sides(std::string_view text);

// "8192", "32K", "1.1M": a count of tokens; nothing of anything else.
Count side_count(std::string_view text);

}  // namespace sextant::measured
