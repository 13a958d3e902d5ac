// The configuration that Megatron-Bridge prints into its log: YAML in block style, beginning with
// the name of its class ("_target_: megatron.bridge.training.config.ConfigContainer").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::emit {

// Takes such lines one at a time. Only what such a dump holds is understood: maps, lists of single
// values, scalars; anything else ends it.
class YamlDump {
 public:
  // A dump that begins with this line, or nothing.
  static std::optional<YamlDump> starting_at(std::string_view line);

  enum class Took { kLine, kOther, kEnd };  // a line of it, of another rank, or the end
  Took take(std::string_view line);

  struct Field {
    std::string key;  // dotted; "" where the line held none
    std::vector<std::string> values;
    bool item = false;  // a further value of the list `key`
  };
  // What the last line said.
  [[nodiscard]] const Field& field() const { return field_; }

 private:
  Took take_item(std::string_view item);
  [[nodiscard]] std::string path() const;

  std::string prefix_;                                      // what the launcher put in front
  std::vector<std::pair<std::size_t, std::string>> stack_;  // indent and key of the open maps
  Field field_;
  int others_ = 0;
};

}  // namespace sextant::emit
