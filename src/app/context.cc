#include "app/context.h"

namespace sextant::app {

Result<Context> load_context(const std::map<std::string, Setting>& given,
                             const Surroundings& surroundings) {
  Context context;
  SEXTANT_TRY(context.settings, load_settings(given, surroundings));
  if (const std::string& folder = context.settings.at("data").value; !folder.empty()) {
    SEXTANT_TRY(context.data, describe::DataStore::with_override(folder));
  }
  context.kb_file = context.settings.at("kb").value;
  if (const auto folder = user_data_folder(surroundings);
      context.kb_file.empty() && !folder.empty()) {
    context.kb_file = folder / "kb.sqlite";
  }
  context.user = surroundings.variable("USER").value_or("");
  context.now = surroundings.now ? surroundings.now() : "";
  return context;
}

}  // namespace sextant::app
