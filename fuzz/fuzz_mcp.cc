// A message of the Model Context Protocol: any bytes end in a message that can be sent, of the
// request's id, in both eras and with any headers; and any JSON is shortened to JSON.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text_pages.h"
#include "front/mcp/base64.h"
#include "front/mcp/server.h"
#include "front/mcp/shortened.h"

namespace {

using namespace sextant::front::mcp;

const Server& fuzzed_server() {
  static const Server kServer = [] {
    Offer offer;
    offer.info = {{"name", "fuzz"}, {"version", "1"}};
    offer.tools = {{{{"name", "echo"}}, [](const Call& call) -> Handled {
                      call.progress(1, 0, "on");
                      return Json{{"saw", object_of(call.params, "arguments")}};
                    }}};
    offer.prompts = {{{{"name", "p"}}, [](const Call&) -> Handled { return Json::object(); }}};
    offer.read = [](const std::string&, const Call&) -> Handled { return Json(nullptr); };
    offer.complete = [](const Call&) -> Handled { return Json::object(); };
    return Server(std::move(offer));
  }();
  return kServer;
}

void check(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check_sendable(const Json& message) {
  const std::string line = one_line(message);
  check(line.find('\n') == std::string::npos);
  check(!Json::parse(line, nullptr, false).is_discarded());
}

void check_answers(const Request& request) {
  const std::atomic<bool> stop = false;
  const RequestHeaders headers{text_of(request.params, "version"), request.method,
                               text_of(request.params, "name")};
  for (const bool handshaken : {false, true}) {
    for (const bool over_http : {false, true}) {
      const Answer answer = fuzzed_server().answer(
          request, {.stop = stop,
                    .notify = check_sendable,
                    .handshaken = handshaken,
                    .headers = over_http ? std::optional(headers) : std::nullopt});
      check_sendable(answer.message);
      check(answer.message.at("id") == request.id);
      check(answer.message.contains("result") != answer.message.contains("error"));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Message message = read_message(bytes);
  if (const auto* request = std::get_if<Request>(&message)) {
    check_answers(*request);
    const Shortened cut = shortened(request->params, 200);
    check(cut.cuts.size() <= kMostCuts);
    for (const Cut& one : cut.cuts) {
      check(request->params.contains(Json::json_pointer(one.at)));
    }
  } else if (const auto* rejected = std::get_if<Rejected>(&message)) {
    check_sendable(error_message(rejected->id, {.code = rejected->code, .message = rejected->why}));
  }
  if (const auto decoded = from_base64(bytes)) {
    check(to_base64(*decoded) == bytes);
  }
  check(sextant::page_of(bytes, 2, 100).text.size() <= 100);
  return 0;
}
