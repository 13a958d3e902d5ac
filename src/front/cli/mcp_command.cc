// mcp: the program as a server of the Model Context Protocol.
#include "front/cli/command.h"
#include "front/cli/exit_codes.h"
#include "front/mcp/serve.h"

namespace sextant::front {
namespace {

Result<Output> run_mcp(const Arguments& arguments, const Session& session) {
  SEXTANT_CHECK_OK(mcp::serve({.root = arguments.one("--root"),
                               .port = arguments.one("--http"),
                               .may_add = arguments.has("--allow-write")},
                              session.context));
  return Output{{}, {}, kExitFine};
}

}  // namespace

Command mcp_command() {
  return {
      .name = "mcp",
      .summary = "A Model Context Protocol server: any assistant asks, the models answer",
      .examples = {"sextant mcp", "sextant mcp --root ~/runs", "sextant mcp --http 0"},
      .positionals = {},
      .options = {{"--root", "FOLDER", "read files below it only (default: this folder)", "files"},
                  {"--http", "PORT",
                   "listen on 127.0.0.1 instead of standard input; 0: any free port", ""},
                  {"--allow-write", "", "let clients add to the knowledge base, under their name",
                   ""}},
      .run = run_mcp};
}

}  // namespace sextant::front
