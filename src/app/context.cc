#include "app/context.h"

namespace sextant::app {

Result<Context> load_context(const std::map<std::string, Setting>& given,
                             const Surroundings& surroundings) {
  Context context;
  SEXTANT_TRY(context.settings, load_settings(given, surroundings));
  if (const std::string& folder = context.settings.at("data").value; !folder.empty()) {
    SEXTANT_TRY(context.data, describe::DataStore::with_override(folder));
  }
  return context;
}

}  // namespace sextant::app
