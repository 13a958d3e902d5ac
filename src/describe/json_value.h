// Hostile JSON, read safely: bounded size and depth, UTF-8, errors with line and column. The only
// place of describe/ that knows the JSON library; everything else sees JsonValue.
#pragma once

#include <cstddef>
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

  // The member of an object; nothing if this is no object or has none (a null member counts as
  // none).
  [[nodiscard]] std::optional<JsonValue> member(std::string_view key) const;
  // Whether an object states the key at all, be it as null.
  [[nodiscard]] bool states(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  // How many elements or members; 0 of anything else.
  [[nodiscard]] std::size_t size() const;
  // The elements of an array; empty if this is no array.
  [[nodiscard]] std::vector<JsonValue> elements() const;

  // Values, with an Error that names the file, the line of the key and what is allowed.
  // An integral double ("4096.0") is an integer; NaN does not exist in JSON; out of range is an
  // Error.
  [[nodiscard]] Result<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Result<double> number() const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::string> text() const;

  // The value as compact JSON, keys sorted.
  [[nodiscard]] std::string json() const;

  // "config.json:12 (num_hidden_layers)": the file, the line of the last key on the way here. The
  // line is found by searching the text for the keys on the way in order, so a key that an earlier
  // object repeats may be reported at its first line.
  [[nodiscard]] std::string where() const;

 private:
  struct Document;
  JsonValue(std::shared_ptr<const Document> document, const void* node, std::string path);

  std::shared_ptr<const Document> document_;
  const void* node_ = nullptr;  // of the JSON library's type, which stays in json_value.cc
  std::string path_;            // keys on the way here, one a line; an element adds "[3]"
};

}  // namespace sextant::describe
