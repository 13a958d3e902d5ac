#include "emit/python_recipe_flatten.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit::python {
namespace {

constexpr std::size_t kMostSettings = 2'000;

// Members whose values decide speed: what is open there is said.
bool matters(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kSections{
      "activation_checkpoint", "compile", "loss", "model", "parallelism", "training"};
  const std::string_view section = key.substr(0, key.find('.'));
  return std::find(kSections.begin(), kSections.end(), section) != kSections.end() &&
         !key.starts_with("loss.") && !key.starts_with("activation_checkpoint.");
}

// "FullAC" of "activation_checkpoint.FullAC.Config".
std::string class_name(std::string_view callee) {
  if (callee.ends_with(".Config")) {
    callee.remove_suffix(std::string_view(".Config").size());
  }
  return std::string(callee.substr(callee.rfind('.') + 1));
}

bool is_plain(const Value& value) {
  return value.kind == Value::Kind::kBool || value.kind == Value::Kind::kNumber ||
         value.kind == Value::Kind::kText || value.kind == Value::Kind::kNone;
}

struct Flattening {
  Value& config;
  std::string_view file;

  [[nodiscard]] Place place(const Value& value) const {
    return {std::string(file), value.line, value.offset, value.length};
  }

  void put(std::string key, std::vector<std::string> values, const Value& from) const {
    if (config.settings.size() < kMostSettings) {
      config.settings.push_back({std::move(key), std::move(values), place(from)});
    }
  }

  void open(const std::string& key, const Value& value) const {
    if (matters(key) && config.unresolved.size() < kMostSettings) {
      config.unresolved.push_back(
          {fmt::format("{} = {}", key, value.text), value.why, place(value)});
    }
  }

  // Lists of plain values, of lists of such (a stage's modules, joined by commas), of calls (their
  // classes).
  void put_list(const std::string& key, const Value& list) const {
    std::vector<std::string> values;
    for (const Value& item : list.items) {
      if (is_plain(item)) {
        values.push_back(item.text);
      } else if (item.kind == Value::Kind::kCall) {
        values.push_back(class_name(item.text));
      } else if (item.kind == Value::Kind::kList &&
                 std::all_of(item.items.begin(), item.items.end(), is_plain)) {
        std::vector<std::string> inner;
        for (const Value& one : item.items) {
          inner.push_back(one.text);
        }
        values.push_back(join(inner, ","));
      } else {
        open(key, item);
        return;
      }
    }
    put(key, std::move(values), list);
  }

  void put_call(const std::string& key, const Value& call) const {
    std::string prefix = key;
    const std::string name = class_name(call.text);
    if (key == "model_spec" || key == "model") {
      prefix = "model";
      if (!call.items.empty()) {
        put_value("model.flavor", call.items.front());
      }
    } else if (!name.ends_with("Config")) {
      put(key, {name}, call);
    }
    for (const auto& [keyword, value] : call.keywords) {
      put_value(fmt::format("{}.{}", prefix, keyword), value);
    }
  }

  void put_value(const std::string& key, const Value& value) const {
    switch (value.kind) {
      case Value::Kind::kNone:
      case Value::Kind::kBool:
      case Value::Kind::kNumber:
      case Value::Kind::kText:
        put(key, {value.text}, value);
        break;
      case Value::Kind::kList:
        put_list(key, value);
        break;
      case Value::Kind::kCall:
        put_call(key, value);
        break;
      case Value::Kind::kConfig:
        open(key, unknown("a configuration", "is a whole configuration", value.line));
        break;
      case Value::Kind::kUnknown:
        open(key, value);
        break;
    }
  }
};

}  // namespace

bool is_whole_config(const Value& value) {
  return value.kind == Value::Kind::kCall &&
         (value.text == "Trainer.Config" || value.text.ends_with("Trainer.Config"));
}

void set_member(Value& config, std::string_view member, const Value& value, std::string_view file) {
  const std::string name(member == "model_spec" ? "model" : member);
  const auto inside = [&](std::string_view key) {
    return key == name || (key.starts_with(name) && key.substr(name.size()).starts_with('.'));
  };
  // Where a flavour's module was imported from is no part of the call.
  std::erase_if(config.settings, [&](const Setting& setting) {
    return inside(setting.key) && setting.key != "model.name";
  });
  std::erase_if(config.unresolved, [&](const Unresolved& one) {
    return inside(std::string_view(one.what).substr(0, one.what.find(' ')));
  });
  Flattening{config, file}.put_value(std::string(member), value);
}

}  // namespace sextant::emit::python
