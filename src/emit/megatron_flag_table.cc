#include "emit/megatron_flag_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "describe/json_value.h"
#include "emit/megatron_arguments.h"

namespace sextant::emit {
namespace {

void add_flags(const describe::JsonValue& list, bool negates, FlagTable& table) {
  for (const describe::JsonValue& element : list.elements()) {
    const std::string text = element.text().value_or("");
    const std::size_t colon = text.find(':');
    const std::string flag = text.substr(0, colon);
    const std::string destination = colon == std::string::npos ? flag : text.substr(colon + 1);
    table.flags[flag] = {destination, negates};
    table.destinations[destination] = true;
  }
}

FlagTable read_flag_table(const describe::DataStore& data) {
  constexpr std::string_view kPath = "frameworks/megatron_flags.json";
  constexpr std::string_view kArrow = " -> ";
  FlagTable table;
  const Result<std::string> text = data.read(kPath);
  const auto json = text ? describe::JsonValue::parse(*text, data.where(kPath))
                         : Result<describe::JsonValue>(tl::unexpected(text.error()));
  if (!json) {
    return table;
  }
  for (const auto& [list, negates] : {std::pair{"switch", false}, std::pair{"off", true},
                                      std::pair{"value", false}, std::pair{"list", false}}) {
    if (const auto member = json->member(list)) {
      add_flags(*member, negates, table);
    }
  }
  if (const auto renamed = json->member("renamed")) {
    for (const describe::JsonValue& element : renamed->elements()) {
      const std::string line = element.text().value_or("");
      const std::size_t arrow = std::min(line.find(kArrow), line.size());
      table.renamed[line.substr(0, arrow)] =
          line.substr(std::min(arrow + kArrow.size(), line.size()));
    }
  }
  if (const auto derived = json->member("derived")) {
    for (const describe::JsonValue& element : derived->elements()) {
      table.destinations[element.text().value_or("")] = true;
    }
  }
  return table;
}

}  // namespace

std::shared_ptr<const FlagTable> flag_table(const describe::DataStore& data) {
  static const auto kEmbedded =
      std::make_shared<const FlagTable>(read_flag_table(describe::DataStore{}));
  return data.override_folder() ? std::make_shared<const FlagTable>(read_flag_table(data))
                                : kEmbedded;
}

KnownKeys megatron_keys(const describe::DataStore& data) {
  KnownKeys known;
  for (const auto& [flag, meaning] : flag_table(data)->flags) {
    known.keys.push_back(flag);
  }
  return known;
}

}  // namespace sextant::emit
