// Hostile JSON, read safely: bounded size and depth, UTF-8, errors with line and column. The only
// place of describe/ that knows the JSON library; everything else sees JsonValue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sextant::describe {

constexpr Bytes kMostJson = 4_MiB;

// A read-only view of one JSON value; copies share the document.
class JsonValue {
 public:
  // Parses a whole document; `where` names the file in errors.
  static Result<JsonValue> parse(std::string_view text, std::string_view where,
                                 Bytes limit = kMostJson);

  enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
  [[nodiscard]] Kind kind() const;

  // The member of an object; nothing if this is no object or has none (a null member counts as none).
  [[nodiscard]] std::optional<JsonValue> member(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  // The elements of an array; empty if this is no array.
  [[nodiscard]] std::vector<JsonValue> elements() const;

  // Values, with an Error that names the file, the line of the key and what is allowed.
  // An integral double ("4096.0") is an integer; NaN does not exist in JSON; out of range is an Error.
  [[nodiscard]] Result<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Result<double> number() const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::string> text() const;

  // "config.json:12 (num_hidden_layers)": the file, the line of the last key on the way here.
  [[nodiscard]] std::string where() const;

 private:
  struct Document;
  struct Node;
  std::shared_ptr<const Document> document_;
  const void* node_ = nullptr;
  std::string path_;
};

}  // namespace sextant::describe
