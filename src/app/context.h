// What every use case needs: the data, how to render, and where settings came from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/settings.h"
#include "describe/data_store.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::app {

struct Context {
  describe::DataStore data;
  explain::Style style = {};
  Settings settings;
};

// What a command gives back: text for standard output, notes for standard error, and the exit code.
struct Output {
  std::string text;
  std::vector<std::string> notes;
  int exit_code = 0;
};

// Exit codes of the command line (docs/interface.md).
inline constexpr int kExitFine = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitExternal = 3;

}  // namespace sextant::app
