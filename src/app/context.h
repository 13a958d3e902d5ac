// What every use case needs: the data, and settings with where they came from.
#pragma once

#include "app/settings.h"
#include "describe/data_store.h"

namespace sextant::app {

struct Context {
  describe::DataStore data;
  Settings settings;
};

// The settings, and the data that they name.
Result<Context> load_context(const std::map<std::string, Setting>& given,
                             const Surroundings& surroundings);

}  // namespace sextant::app
