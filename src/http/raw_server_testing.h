// A server whose every byte a test says: it answers each connection with the next text, whatever
// was asked, and remembers what was.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/sockets.h"
#include "http/url.h"

namespace sextant::http {

class RawServer {
 public:
  // An answer of "…" never comes: the connection stays open until the server's end.
  explicit RawServer(std::vector<std::string> answers)
      : listener_(*Listener::open("127.0.0.1", 0)), answers_(std::move(answers)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~RawServer() {
    stop_ = true;
    thread_.join();
  }
  RawServer(const RawServer&) = delete;
  RawServer(RawServer&&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  RawServer& operator=(RawServer&&) = delete;

  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(listener_.port());
  }
  [[nodiscard]] Url url() const { return *parse_url("http://" + address(), ""); }
  [[nodiscard]] std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void serve() {
    std::vector<std::unique_ptr<Stream>> held;
    for (const std::string& answer : answers_) {
      std::unique_ptr<Stream> stream;
      while (stream == nullptr && !stop_) {
        stream = *listener_.accept(patience_of(Seconds(0.02), &stop_));
      }
      if (stream == nullptr) {
        return;
      }
      remember_request(*stream);
      if (answer == "…") {
        held.push_back(std::move(stream));
      } else {
        static_cast<void>(stream->write(answer, patience_of(Seconds(20.0), &stop_)));
      }
    }
    while (!held.empty() && !stop_) {
      std::this_thread::yield();
    }
  }

  void remember_request(Stream& stream) {
    std::string request;
    std::array<char, 4096> piece{};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const auto got = stream.read(piece, patience_of(Seconds(20.0), &stop_));
      if (!got || *got == 0) {
        break;
      }
      request.append(piece.data(), *got);
    }
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
  }

  Listener listener_;
  std::vector<std::string> answers_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace sextant::http
