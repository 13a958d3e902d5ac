#include "front/mcp/stdio.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "front/mcp/in_flight.h"

namespace sextant::front::mcp {
namespace {

// Lines of a descriptor. One that is longer than a message may be is given as far as it was kept.
class Lines {
 public:
  explicit Lines(int in) : in_(in) {}

  // Nothing at the end; what stands there without a line's end is no message.
  std::optional<std::string> next() {
    std::string line;
    while (true) {
      const char* const begun = buffer_.data() + at_;
      const char* const last = buffer_.data() + size_;
      const char* const end = std::find(begun, last, '\n');
      // One byte over the limit is kept, so that it is seen to be broken.
      const std::size_t room = kMostMessageBytes + 1 - line.size();
      line.append(begun, std::min(static_cast<std::size_t>(end - begun), room));
      if (end != last) {
        at_ = end - buffer_.data() + 1;
        return line;
      }
      if (!fill()) {
        return std::nullopt;
      }
    }
  }

 private:
  bool fill() {
    ssize_t got = 0;
    do {
      got = ::read(in_, buffer_.data(), buffer_.size());
    } while (got < 0 && errno == EINTR);
    at_ = 0;
    size_ = std::max<std::ptrdiff_t>(got, 0);
    return got > 0;
  }

  int in_;
  std::array<char, 65'536> buffer_{};
  std::ptrdiff_t at_ = 0;
  std::ptrdiff_t size_ = 0;
};

class StreamServer {
 public:
  StreamServer(const Server& server, Streams streams) : server_(server), streams_(streams) {}

  void run() {
    std::vector<std::thread> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back([this] { work(); });
    }
    Lines lines(streams_.in);
    while (const auto line = lines.next()) {
      if (!line->empty() && *line != "\r") {
        take(read_message(*line));
      }
    }
    end();
    for (std::thread& worker : workers) {
      worker.join();
    }
  }

 private:
  struct Waiting {
    Request request;
    InFlight::Stop stop;
    bool handshaken = false;
  };

  void take(Message message) {
    if (const auto* rejected = std::get_if<Rejected>(&message)) {
      send(error_message(rejected->id, {.code = rejected->code, .message = rejected->why}));
    } else if (const auto* notification = std::get_if<Notification>(&message)) {
      take(*notification);
    } else if (auto* request = std::get_if<Request>(&message)) {
      take(std::move(*request));
    }
  }

  void take(const Notification& notification) {
    if (notification.method == "notifications/cancelled" &&
        notification.params.contains("requestId")) {
      in_flight_.cancel(notification.params.at("requestId"));
    }
  }

  void take(Request request) {
    InFlight::Stop stop = in_flight_.begin(request.id);
    if (!stop) {
      refuse(request, "another request of this id is being answered");
      return;
    }
    if (!may_take_long(request)) {
      const Answer answer = answered({request, stop, handshaken_});
      handshaken_ = handshaken_ || (request.method == "initialize" && !answer.is_error());
      return;
    }
    const std::unique_lock lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      in_flight_.end(request.id);
      refuse(request, "too many requests wait to be answered");
      return;
    }
    waiting_.push_back({std::move(request), std::move(stop), handshaken_});
    changed_.notify_one();
  }

  void refuse(const Request& request, std::string why) {
    send(error_message(request.id, {.code = kInvalidRequest, .message = std::move(why)}));
  }

  Answer answered(const Waiting& waiting) {
    const auto notify = [this, &waiting](const Json& notification) {
      if (!waiting.stop->load()) {
        send(notification);
      }
    };
    Answer answer = server_.answer(waiting.request, {.stop = *waiting.stop,
                                                     .notify = notify,
                                                     .handshaken = waiting.handshaken,
                                                     .log_level = &log_level_});
    in_flight_.end(waiting.request.id);
    if (!waiting.stop->load()) {
      send(answer.message);
    }
    return answer;
  }

  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (ended_) {
        return;
      }
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (next.stop->load()) {  // cancelled while it waited
        in_flight_.end(next.request.id);
      } else {
        answered(next);
      }
    }
  }

  void end() {
    const std::unique_lock lock(mutex_);
    ended_ = true;
    in_flight_.cancel_all();
    changed_.notify_all();
  }

  void send(const Json& message) {
    const std::string line = one_line(message) + "\n";
    const std::scoped_lock lock(out_mutex_);
    std::string_view left = line;
    while (!left.empty()) {
      const ssize_t wrote = ::write(streams_.out, left.data(), left.size());
      if (wrote < 0 && errno == EINTR) {
        continue;
      }
      if (wrote <= 0) {
        return;  // nobody reads any more: the input ends as well
      }
      left.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }

  const Server& server_;
  Streams streams_;
  bool handshaken_ = false;                              // of the reading thread
  std::atomic<LogLevel> log_level_ = LogLevel::kSilent;  // until the client asks for more
  InFlight in_flight_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool ended_ = false;
  std::mutex out_mutex_;
};

}  // namespace

void serve_streams(const Server& server, Streams streams) {
  StreamServer(server, streams).run();
}

}  // namespace sextant::front::mcp
