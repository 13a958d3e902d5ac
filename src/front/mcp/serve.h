// `sextant mcp`: the server as a whole, until its client ends it.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"

namespace sextant::front::mcp {

struct ServeOptions {
  std::string root = {};  // the only folder that is read; "": the working folder
  std::string port = {};  // HTTP on loopback; "": standard input and output
  bool may_add = false;   // to the knowledge base
};

// An Error where it can't begin.
Result<void> serve(const ServeOptions& options, const app::Context& context);

}  // namespace sextant::front::mcp
