// The fields of one configuration under one name each, whatever release of the library wrote them.
//
// A field is looked for under the family's own name for it, our name, then the names other classes
// use ("n_embd" for hidden_size). Stated as null, it is nothing. Not stated, it takes the class's
// default, which is noted. Every number is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/json_value.h"
#include "describe/model/hf_family.h"

namespace sextant::describe {

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
constexpr Range kSizes{1, 100'000'000};
constexpr Range kSizesOrNone{0, 100'000'000};
constexpr Range kLayerCounts{1, 10'000};
constexpr Range kLayerIndices{0, 10'000};
constexpr Range kExpertCounts{0, 100'000};

class HfFields {
 public:
  // `outer` is the wrapper the configuration was found in; it may state tie_word_embeddings.
  HfFields(JsonValue config, std::optional<JsonValue> outer, const HfFamily& family);

  // A value the configuration states; nothing if it does not, or states null.
  [[nodiscard]] std::optional<JsonValue> stated(std::string_view field) const;
  // A value stated, or else the class's default.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view field);

  Result<std::optional<std::int64_t>> optional_integer(std::string_view field, Range range);
  // An Error where neither the configuration nor the class says.
  Result<std::int64_t> integer(std::string_view field, Range range);
  Result<std::int64_t> integer_or(std::string_view field, Range range, std::int64_t otherwise);
  Result<bool> flag(std::string_view field);  // false where nothing says
  Result<bool> flag(const HfSwitch& when);
  // A list with as many elements as there are layers, or nothing.
  Result<std::vector<std::string>> layer_words(std::string_view field, std::int64_t layers);
  // A list of layer numbers or of per-layer flags, at most kLayerCounts.most long.
  Result<std::vector<std::int64_t>> integers(std::string_view field, Range range);

  void assume(Assumption assumption);
  [[nodiscard]] const Assumptions& assumed() const { return assumed_; }
  [[nodiscard]] std::string where() const { return config_.where(); }
  // "file:line (field)" where stated, else the file.
  [[nodiscard]] std::string where(std::string_view field) const;

 private:
  struct Lookup {
    bool stated = false;
    std::optional<JsonValue> value;
  };
  [[nodiscard]] Lookup look_up(std::string_view field) const;

  JsonValue config_;
  std::optional<JsonValue> outer_;
  const HfFamily* family_;
  Assumptions assumed_;
};

}  // namespace sextant::describe
