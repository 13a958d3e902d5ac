// One request to a server, and its reply, by http or https.
//
// Every Error says what happened and where (the server's address); none shows a header, a body or a
// login.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "http/message.h"
#include "http/url.h"

namespace sextant::http {

struct ClientOptions {
  std::optional<Url> proxy = {};           // proxy_for()
  std::filesystem::path authorities = {};  // authorities_file(); asked for by https alone
  Seconds connect_limit = Seconds(20.0);   // names, connection, proxy and TLS together
  Seconds silence_limit = Seconds(120.0);  // between two pieces of the reply
  Seconds whole_limit = Seconds(600.0);
  MessageLimits limits = {};
  std::size_t longest_line = std::size_t{1} << 20U;  // of a reply that is taken line by line
  const std::atomic<bool>* stop = nullptr;           // set: the request ends with an Error
};

// Takes each line of a reply of status 200 to 299 as it comes; an Error from it ends the request.
using TakeLine = std::function<Result<void>(std::string_view line)>;

// REQUIRES: `request.target` is a path of that server (target_of). Host, Content-Length and
// Connection are added. With `take` the body of a reply that is fine goes there and is not kept;
// any other reply's is kept.
Result<Reply> reply_to(const Request& request, const Url& server, const ClientOptions& options,
                       const TakeLine& take = {});

}  // namespace sextant::http
