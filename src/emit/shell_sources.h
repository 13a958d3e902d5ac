// The texts that a launch script is made of: the script itself and the files it reads or starts.
// Their bytes have one numbering, an origin, so that a word knows which file it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "emit/settings.h"

namespace sextant::emit {

inline constexpr std::size_t kNoOrigin = static_cast<std::size_t>(-1);

class ShellSources {
 public:
  struct Source {
    std::string text;
    std::string name;
    std::size_t base = 0;  // origin of its first byte
    std::vector<std::size_t> line_starts{};
  };
  // It stays where it is.
  const Source& add(std::string_view text, std::string_view name);
  // From 1, in its own file; 0: nowhere.
  [[nodiscard]] std::int64_t line_of(std::size_t origin) const;
  // "train.sh:12"; of another file than the first with its name, of the first "12".
  [[nodiscard]] std::string line_text(std::size_t origin) const;
  [[nodiscard]] Place place(std::size_t origin, std::size_t length) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] const Source* source_of(std::size_t origin) const;

  std::deque<Source> sources_;
};

}  // namespace sextant::emit
