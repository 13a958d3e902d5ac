// Vectors of texts, kept so that none is asked for twice: in a file of their own beside the
// knowledge base, which may be thrown away, or for as long as the value lives.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/database.h"

namespace sextant::kb {

class Vectors {
 public:
  static constexpr std::size_t kLongestVector = 8192;  // numbers

  // `file` empty: nothing is written. What is in the file and is no vector counts as not there.
  static Result<Vectors> open(const std::filesystem::path& file);
  // To be read alone; a file that is not there holds nothing.
  static Result<Vectors> read(const std::filesystem::path& file);

  // What `model` made of that text; nothing where that is not known. Of length 1, to within the
  // sixteen bits that a number is kept in.
  [[nodiscard]] Result<std::optional<std::vector<float>>> find(std::string_view model,
                                                               std::string_view text);
  [[nodiscard]] Result<void> add(std::string_view model, std::string_view text,
                                 const std::vector<float>& vector);

 private:
  std::optional<Database> database_;
  std::map<std::string, std::string> held_;  // without a file
};

}  // namespace sextant::kb
