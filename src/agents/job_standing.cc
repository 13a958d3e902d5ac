#include "agents/job_standing.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"

namespace sextant::agents {

std::string mesh_words(const describe::Job& job) {
  if (job.framework == describe::Framework::kMaxtext) {
    return describe::to_text(describe::mesh_of(job));
  }
  const describe::Layout& layout = job.layout;
  const std::array<std::pair<std::string_view, std::int64_t>, 5> axes{{{"tp", layout.tp},
                                                                       {"cp", layout.cp},
                                                                       {"pp", layout.pp},
                                                                       {"ep", layout.ep},
                                                                       {"dp", job.dp()}}};
  std::vector<std::string> words;
  for (const auto& [name, size] : axes) {
    if (size > 1) {
      words.push_back(fmt::format("{}={}", name, size));
    }
  }
  return words.empty() ? "dp=1" : join(words, ",");
}

bool is_like_mesh(const describe::Layout& one, const describe::Layout& other) {
  return one.tp == other.tp && one.pp == other.pp && one.ep == other.ep && one.etp == other.etp &&
         (one.cp == other.cp || one.mbs * other.cp == other.mbs * one.cp);
}

std::string changed_words(const describe::Job& before, const describe::Layout& after) {
  const auto old_values = describe::layout_values(before.layout);
  const auto new_values = describe::layout_values(after);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < old_values.size(); ++i) {
    const auto& [key, value] = new_values[i];
    if (key != "dp" && value != old_values[i].second) {
      words.push_back(fmt::format("{}={}", key, value));
    }
  }
  return join(words, ",");
}

}  // namespace sextant::agents
