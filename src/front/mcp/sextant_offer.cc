#include "front/mcp/sextant_offer.h"

#include "explain/provenance.h"
#include "front/mcp/listed_tool.h"

namespace sextant::front::mcp {
namespace {

constexpr std::string_view kInstructions =
    "Sextant is the performance engineer for large-scale LLM training: it predicts steps and "
    "memory, plans layouts, reads profiles and says what is slow, and judges changes. Everything "
    "is worked out here, from models held to measurements; nothing is sent anywhere.\n"
    "Begin with check (somebody's files), diagnose (a profile) or plan (a new job). A layout is "
    "written tp=8,pp=4,mbs=1; a cluster 64xh100-sxm; files lie below the server's folder. Answers "
    "are shortened; `left_out` says where, and the same call with `detail` gives that part. "
    "Outcome \"no\" is an answer, "
    "not a failure. Have every change judged by verify_proposal before you advise it.";

}  // namespace

Offer sextant_offer(Desk& desk) {
  Offer offer;
  offer.info = {
      {"name", "sextant"}, {"title", "Sextant"}, {"version", std::string(explain::tool_version())}};
  offer.instructions = kInstructions;
  for (const app::ToolRow& row : app::tool_rows()) {
    if (!row.writes || desk.may_add) {
      offer.tools.push_back({listed_tool(row), [&row, &desk](const Call& call) {
                               return answered_tool(row, call, desk);
                             }});
    }
  }
  offer.prompts = sextant_prompts();
  offer.resources = listed_resources();
  offer.templates = listed_templates();
  offer.read = [&desk](const std::string& uri, const Call& call) {
    return read_resource(uri, call, desk);
  };
  offer.complete = [&desk](const Call& call) { return completed_word(call, desk); };
  return offer;
}

}  // namespace sextant::front::mcp
