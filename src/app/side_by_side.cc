#include "app/side_by_side.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace sextant::app {
namespace {

// Hands out pieces in order, each once there is room for it.
class Gate {
 public:
  Gate(std::span<const Bytes> weights, Bytes most) : weights_(weights), most_(most) {}

  // The next piece; weights.size() when there are no more. Its room is taken until leave().
  std::size_t enter() {
    std::unique_lock lock(mutex_);
    const std::size_t piece = next_;
    if (piece == weights_.size()) {
      return piece;
    }
    ++next_;
    // Those handed out earlier enter first: one large piece is not passed by for ever.
    changed_.wait(lock, [&] {
      return entered_ == piece && (under_way_ == 0 || taken_ + weights_[piece] <= most_);
    });
    ++entered_;
    ++under_way_;
    taken_ += weights_[piece];
    changed_.notify_all();
    return piece;
  }

  void leave(std::size_t piece) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    taken_ = under_way_ == 0 ? Bytes() : taken_ - weights_[piece];
    changed_.notify_all();
  }

 private:
  std::span<const Bytes> weights_;
  Bytes most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t entered_ = 0;
  std::size_t under_way_ = 0;
  Bytes taken_;
};

}  // namespace

void side_by_side(std::span<const Bytes> weights, const SideBySide& limits,
                  const std::function<void(std::size_t)>& work) {
  Gate gate(weights, limits.most);
  const auto run = [&] {
    for (std::size_t piece = gate.enter(); piece < weights.size(); piece = gate.enter()) {
      work(piece);
      gate.leave(piece);
    }
  };
  const std::size_t asked =
      limits.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : limits.threads;
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(asked, weights.size()); ++i) {
    threads.emplace_back(run);
  }
  run();
}

}  // namespace sextant::app
