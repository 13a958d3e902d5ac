#include "http/names.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <nss.h>

#include "base/text.h"

namespace sextant::http {
namespace {

constexpr std::chrono::milliseconds kNameTick(20);
constexpr std::size_t kMostAddresses = 8;

struct Asked {
  std::mutex mutex;
  std::condition_variable answered;
  bool is_answered = false;
  Result<std::vector<std::string>> answer = {};
};

Result<std::vector<std::string>> answered_by_system(const std::string& host) {
  static std::once_flag once;
  std::call_once(once, [] { __nss_configure_lookup("hosts", "files dns"); });
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), nullptr, &wanted, &found); code != 0) {
    return external(
        fmt::format("no address of '{}' is known: {}", printable(host), gai_strerror(code)));
  }
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr && addresses.size() < kMostAddresses;
       one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  freeaddrinfo(found);
  if (addresses.empty()) {
    return external(fmt::format("no address of '{}' is known", printable(host)));
  }
  return addresses;
}

}  // namespace

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

Result<std::vector<std::string>> addresses_of(const std::string& host, const Patience& patience) {
  if (is_address(host)) {
    return std::vector{host};
  }
  if (host == "localhost") {
    return std::vector<std::string>{"127.0.0.1", "::1"};
  }
  // The C library's question cannot be taken back, so it is asked beside: who has no patience
  // left goes on, and the answer is for nobody.
  const auto asked = std::make_shared<Asked>();
  try {
    std::thread([asked, host] {
      auto answer = answered_by_system(host);
      const std::lock_guard lock(asked->mutex);
      asked->answer = std::move(answer);
      asked->is_answered = true;
      asked->answered.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return external("no thread left to look a name up");
  }
  std::unique_lock lock(asked->mutex);
  while (!asked->is_answered) {
    if (patience.is_stopped()) {
      return external(fmt::format("stopped while looking '{}' up", printable(host)));
    }
    if (std::chrono::steady_clock::now() >= patience.until) {
      return external(fmt::format("no time left while looking '{}' up", printable(host)));
    }
    asked->answered.wait_for(lock, kNameTick);
  }
  return asked->answer;
}

}  // namespace sextant::http
