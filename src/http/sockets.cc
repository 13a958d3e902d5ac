#include "http/sockets.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/names.h"

namespace sextant::http {
namespace {

using Clock = std::chrono::steady_clock;

// How soon a wait notices that somebody said stop.
constexpr std::chrono::milliseconds kTick(20);

std::string system_text(int code) {
  return std::system_category().message(code);
}

enum class Waited : std::uint8_t { kReady, kLate, kStopped };

Waited waited_for(int socket, short events, const Patience& patience) {
  for (;;) {
    if (patience.is_stopped()) {
      return Waited::kStopped;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.until - Clock::now());
    const auto slice = std::clamp(left, std::chrono::milliseconds(0), kTick);
    pollfd asked{.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&asked, 1, static_cast<int>(slice.count()));
    if (ready > 0) {
      return Waited::kReady;
    }
    if (left.count() <= 0) {
      return Waited::kLate;
    }
  }
}

tl::unexpected<Error> late(std::string_view waiting_for) {
  return external(fmt::format("no time left while {}", waiting_for));
}
tl::unexpected<Error> stopped(std::string_view waiting_for) {
  return external(fmt::format("stopped while {}", waiting_for));
}

Result<void> still_patient(const Patience& patience, std::string_view waiting_for) {
  if (patience.is_stopped()) {
    return stopped(waiting_for);
  }
  if (Clock::now() >= patience.until) {
    return late(waiting_for);
  }
  return {};
}

Result<void> ready_for(int socket, short events, const Patience& patience,
                       std::string_view waiting_for) {
  switch (waited_for(socket, events, patience)) {
    case Waited::kReady:
      return {};
    case Waited::kLate:
      return late(waiting_for);
    case Waited::kStopped:
      break;
  }
  return stopped(waiting_for);
}

class Socket final : public Stream {
 public:
  explicit Socket(int socket) : socket_(socket) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Socket(const Socket&) = delete;
  Socket(Socket&&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() override { close(socket_); }

  Result<std::size_t> read(std::span<char> into, const Patience& patience) override {
    for (;;) {
      // Also where something is there at once: who never pauses is not listened to for ever.
      SEXTANT_CHECK_OK(still_patient(patience, "waiting for an answer"));
      const ssize_t got = recv(socket_, into.data(), into.size(), 0);
      if (got >= 0) {
        return static_cast<std::size_t>(got);
      }
      if (errno != EAGAIN && errno != EINTR) {
        return external(fmt::format("the connection broke: {}", system_text(errno)));
      }
      SEXTANT_CHECK_OK(ready_for(socket_, POLLIN, patience, "waiting for an answer"));
    }
  }

  Result<void> write(std::string_view bytes, const Patience& patience) override {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) {
        return external(fmt::format("the connection broke: {}", system_text(errno)));
      }
      SEXTANT_CHECK_OK(ready_for(socket_, POLLOUT, patience, "sending"));
    }
    return {};
  }

  [[nodiscard]] bool is_gone() const override {
    char byte = 0;
    const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  }

 private:
  int socket_;
};

// The system's form of an address and a port.
struct SystemAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const {
    return static_cast<const sockaddr*>(static_cast<const void*>(&storage));
  }
};

SystemAddress system_address(const std::string& address, std::uint16_t port) {
  SystemAddress result;
  void* const storage = &result.storage;
  if (address.find(':') != std::string::npos) {
    auto* const v6 = static_cast<sockaddr_in6*>(storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr);
    result.size = sizeof(sockaddr_in6);
  } else {
    auto* const v4 = static_cast<sockaddr_in*>(storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &v4->sin_addr);
    result.size = sizeof(sockaddr_in);
  }
  return result;
}

Result<std::unique_ptr<Stream>> connected_to(const SystemAddress& address,
                                             const Patience& patience) {
  const int socket =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) {
    return external(fmt::format("no socket: {}", system_text(errno)));
  }
  auto stream = std::make_unique<Socket>(socket);
  if (connect(socket, address.get(), address.size) != 0) {
    if (errno != EINPROGRESS) {
      return external(system_text(errno));
    }
    SEXTANT_CHECK_OK(ready_for(socket, POLLOUT, patience, "connecting"));
    int code = 0;
    socklen_t size = sizeof code;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size);
    if (code != 0) {
      return external(system_text(code));
    }
  }
  return stream;
}

}  // namespace

Patience patience_of(Seconds limit, const std::atomic<bool>* stop) {
  return {.until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(limit.base())),
          .stop = stop};
}

Patience no_longer_than(const Patience& patience, Seconds limit) {
  return {.until = std::min(patience.until, patience_of(limit, nullptr).until),
          .stop = patience.stop};
}

Result<std::unique_ptr<Stream>> connected(const std::string& host, std::uint16_t port,
                                          const Patience& patience) {
  SEXTANT_TRY(const std::vector<std::string> addresses, addresses_of(host, patience));
  Error last;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // Time is kept back for those that come after.
    const auto left = patience.until - Clock::now();
    Patience share = patience;
    share.until = Clock::now() + left / static_cast<int>(addresses.size() - i);
    auto stream = connected_to(system_address(addresses[i], port), share);
    if (stream) {
      return stream;
    }
    last = std::move(stream.error());
    if (patience.is_stopped()) {
      break;
    }
  }
  return external(fmt::format("cannot connect: {}", last.what));
}

Result<Listener> Listener::open(const std::string& address, std::uint16_t port) {
  if (address != "127.0.0.1" && address != "::1") {
    return invalid(fmt::format("'{}' is no address to listen on", address), "", "127.0.0.1 or ::1");
  }
  const SystemAddress wanted = system_address(address, port);
  Listener listener(
      ::socket(wanted.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), port);
  const int on = 1;
  if (listener.socket_ < 0 ||
      setsockopt(listener.socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener.socket_, wanted.get(), wanted.size) != 0 ||
      listen(listener.socket_, SOMAXCONN) != 0) {
    return external(fmt::format("cannot listen on port {}: {}", port, system_text(errno)), address);
  }
  SystemAddress bound;
  bound.size = sizeof bound.storage;
  void* const storage = &bound.storage;
  getsockname(listener.socket_, static_cast<sockaddr*>(storage), &bound.size);
  // The port stands in the same place of both families.
  listener.port_ = ntohs(static_cast<sockaddr_in*>(storage)->sin_port);
  return listener;
}

Listener::~Listener() {
  if (socket_ >= 0) {
    close(socket_);
  }
}
Listener::Listener(Listener&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}
Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(port_, other.port_);
  return *this;
}

Result<std::unique_ptr<Stream>> Listener::accept(const Patience& patience) const {
  if (waited_for(socket_, POLLIN, patience) != Waited::kReady) {
    return nullptr;
  }
  const int socket = accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) {
    // Whoever knocked is gone again, or there are no descriptors left: both pass.
    return nullptr;
  }
  return std::make_unique<Socket>(socket);
}

}  // namespace sextant::http
