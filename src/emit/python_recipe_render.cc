#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/python_recipe.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

// The class that holds a section, or "": its settings are written as comments.
std::string_view section_class(std::string_view section) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kClasses{
      {{"compile", "CompileConfig"},
       {"parallelism", "ParallelismConfig"},
       {"training", "TrainingConfig"}}};
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [&](const auto& row) { return row.first == section; });
  return found == kClasses.end() ? std::string_view() : found->second;
}

// Where a class is imported from.
std::string_view home_of(std::string_view name) {
  if (name.ends_with("AC")) {
    return "torchtitan.distributed.activation_checkpoint";
  }
  if (name.ends_with("Converter")) {
    return "torchtitan.components.quantization";
  }
  return name.ends_with("Config") ? "torchtitan.config" : "torchtitan.components.loss";
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_list_key(std::string_view key) {
  return key == "compile.components" || key == "parallelism.module_fqns_per_model_part" ||
         key == "model.converters";
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
      continue;
    }
    out += c == '"' || c == '\\' ? "\\" : "";
    out += c;
  }
  return out + "\"";
}

std::string plain(const std::string& text) {
  if (text == "true" || text == "false") {
    return text == "true" ? "True" : "False";
  }
  const bool number =
      to_integer(text).has_value() ||
      (to_double(text).has_value() && text.find_first_of("xXpPiInN+ ") == std::string::npos);
  return text == "None" || number ? text : python_string(text);
}

std::string listed(const Setting& setting) {
  std::vector<std::string> parts;
  for (const std::string& value : setting.values) {
    if (setting.key == "model.converters") {
      parts.push_back(is_identifier(value) ? value + ".Config()" : python_string(value));
    } else if (setting.key == "parallelism.module_fqns_per_model_part") {
      std::vector<std::string> modules;
      for (const std::string_view module : split(value, ',')) {
        modules.push_back(python_string(module));
      }
      parts.push_back(fmt::format("[{}]", join(modules, ", ")));
    } else {
      parts.push_back(plain(value));
    }
  }
  return fmt::format("[{}]", join(parts, ", "));
}

std::string python_value(const Setting& setting) {
  return is_list_key(setting.key) || setting.values.size() != 1 ? listed(setting)
                                                                : plain(setting.values[0]);
}

// A member that is a class of its own: activation_checkpoint=FullAC.Config().
std::string class_text(const Setting& setting) {
  const std::string& name = setting.values[0];
  if (name == "None" || !is_identifier(name)) {
    return plain(name);
  }
  if (setting.key == "loss") {
    const std::string inner =
        "CrossEntropyLoss.Config(global_vocab_size=decoder_vocab_size(model_spec))";
    return name == "CrossEntropyLoss" ? inner : fmt::format("{}.Config(loss_fn={})", name, inner);
  }
  return name + ".Config()";
}

bool is_class_member(const Setting& setting) {
  return (setting.key == "activation_checkpoint" || setting.key == "loss") &&
         setting.values.size() == 1;
}

// The last setting of each key, sorted by section in a recipe's usual order.
struct Sorted {
  std::vector<const Setting*> model;
  std::vector<const Setting*> members;  // activation_checkpoint, loss
  std::map<std::string, std::vector<const Setting*>> sections;
  std::vector<const Setting*> others;  // no place in a recipe is known for them
};

Sorted sorted_settings(const Settings& settings) {
  Sorted sorted;
  for (const Setting& setting : settings.given) {
    if (find(settings.given, setting.key) != &setting || setting.key == "recipe" ||
        setting.key == "config" || setting.key == "module" || setting.key == "model.name") {
      continue;
    }
    const std::size_t dot = setting.key.find('.');
    const std::string section = setting.key.substr(0, dot);
    const bool named = dot != std::string::npos && is_identifier(setting.key.substr(dot + 1));
    if (is_class_member(setting)) {
      sorted.members.push_back(&setting);
    } else if (named && section == "model") {
      sorted.model.push_back(&setting);
    } else if (named && !section_class(section).empty()) {
      sorted.sections[section].push_back(&setting);
    } else {
      sorted.others.push_back(&setting);
    }
  }
  return sorted;
}

std::string single_value(const Settings& settings, std::string_view key) {
  const Setting* setting = find(settings.given, key);
  return setting != nullptr && setting->values.size() == 1 ? setting->values[0] : "";
}

std::string registry_call(const Sorted& sorted) {
  std::vector<std::string> arguments;
  for (const Setting* setting : sorted.model) {
    if (setting->key == "model.flavor") {
      arguments.insert(arguments.begin(), python_value(*setting));
    } else {
      arguments.push_back(fmt::format("{}={}", setting->key.substr(6), python_value(*setting)));
    }
  }
  return fmt::format("model_registry({})", join(arguments, ", "));
}

std::string imports(const Settings& settings, const Sorted& sorted) {
  std::map<std::string, std::set<std::string>> names;
  const std::string module = single_value(settings, "model.name");
  const std::string home = is_identifier(module) ? "torchtitan.models." + module : "your_models";
  if (!sorted.model.empty()) {
    names[home].insert("model_registry");
  }
  const std::string base = single_value(settings, "config");
  if (is_identifier(base)) {
    names[home + ".config_registry"].insert(base);
  }
  for (const auto& [section, members] : sorted.sections) {
    const std::string name(section_class(section));
    if (base.empty()) {
      names[std::string(home_of(name))].insert(name);
    }
  }
  std::vector<std::string> classes;
  for (const Setting* setting : sorted.members) {
    classes.push_back(setting->values[0]);
    if (setting->key == "loss") {
      classes.emplace_back("CrossEntropyLoss");
      names["torchtitan.models.common.config_utils"].insert("decoder_vocab_size");
    }
  }
  if (const Setting* converters = find(settings.given, "model.converters")) {
    classes.insert(classes.end(), converters->values.begin(), converters->values.end());
  }
  for (const std::string& name : classes) {
    if (is_identifier(name) && name != "None") {
      names[std::string(home_of(name))].insert(name);
    }
  }
  names["torchtitan.trainer"].insert("Trainer");
  std::string text;
  for (const auto& [from, what] : names) {
    text += fmt::format("from {} import {}\n", from,
                        join(std::vector<std::string>(what.begin(), what.end()), ", "));
  }
  return text;
}

// A new configuration, member by member.
std::string whole(const Sorted& sorted) {
  std::string text;
  if (!sorted.model.empty()) {
    text += fmt::format("    model_spec = {}\n", registry_call(sorted));
  }
  text += "    return Trainer.Config(\n";
  text += sorted.model.empty() ? "" : "        model_spec=model_spec,\n";
  for (const Setting* setting : sorted.members) {
    text += fmt::format("        {}={},\n", setting->key, class_text(*setting));
  }
  for (const auto& [section, members] : sorted.sections) {
    text += fmt::format("        {}={}(\n", section, section_class(section));
    for (const Setting* setting : members) {
      text += fmt::format("            {}={},\n", setting->key.substr(section.size() + 1),
                          python_value(*setting));
    }
    text += "        ),\n";
  }
  return text + "    )\n";
}

// Another recipe, changed.
std::string changed(const std::string& base, const Sorted& sorted) {
  std::string text = fmt::format("    config = {}()\n", base);
  if (!sorted.model.empty()) {
    text += fmt::format("    config.model_spec = {}\n", registry_call(sorted));
  }
  const bool has_loss =
      find_if(sorted.members.begin(), sorted.members.end(),
              [](const Setting* one) { return one->key == "loss"; }) != sorted.members.end();
  text += has_loss ? "    model_spec = config.model_spec\n" : "";
  for (const Setting* setting : sorted.members) {
    text += fmt::format("    config.{} = {}\n", setting->key, class_text(*setting));
  }
  for (const auto& [section, members] : sorted.sections) {
    for (const Setting* setting : members) {
      text += fmt::format("    config.{} = {}\n", setting->key, python_value(*setting));
    }
  }
  return text + "    return config\n";
}

}  // namespace

std::string render_python_recipe(const Settings& settings,
                                 const std::vector<std::string>& comments) {
  const Sorted sorted = sorted_settings(settings);
  std::string text;
  for (const std::string& comment : comments) {
    text += fmt::format("# {}\n", printable(comment, 1000));
  }
  for (const Setting* other : sorted.others) {
    text += fmt::format("# not written here: {} = {}\n", printable(other->key),
                        printable(join(other->values, ", ")));
  }
  text += imports(settings, sorted);
  const std::string name = single_value(settings, "recipe");
  text += fmt::format("\n\ndef {}() -> Trainer.Config:\n", is_identifier(name) ? name : "recipe");
  const std::string base = single_value(settings, "config");
  return text + (is_identifier(base) ? changed(base, sorted) : whole(sorted));
}

}  // namespace sextant::emit
