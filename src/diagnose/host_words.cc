#include "diagnose/host_words.h"

#include <cmath>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::diagnose {
namespace {

std::string lost_text(const HostFigures& figures) {
  return fmt::format("{} a step ({:.1f} %)", to_text(figures.lost), 100.0 * figures.share);
}

// "12 times", "once", "0.3 times": in a mean step.
std::string times_text(double count) {
  if (std::abs(count - 1.0) < 0.05) {
    return "once";
  }
  return count < 9.95 && std::abs(count - std::round(count)) > 0.05
             ? fmt::format("{:.1f} times", count)
             : fmt::format("{:.0f} times", count);
}

std::string named(const HostFigures& figures, const char* otherwise) {
  return figures.what.empty() ? std::string(otherwise) : figures.what;
}

std::string input_sentence(const HostFigures& figures) {
  if (figures.status == Status::kVerified) {
    return fmt::format("{} waits {} for {}, which takes {}", figures.waits, lost_text(figures),
                       figures.what, to_text(figures.stall));
  }
  return fmt::format(
      "{} waits {} between the mark of a step and its first operator, where loops fetch their "
      "batch; no loader was recorded",
      figures.waits, lost_text(figures));
}

std::string launch_sentence(const HostFigures& figures) {
  return fmt::format(
      "the device is idle {} because the host launches too slowly: {:.0f} launches a step, one in "
      "{}, of work that takes {} on average{}{}",
      lost_text(figures), figures.launches,
      to_text(figures.launches > 0.0 ? figures.step / figures.launches : figures.step),
      to_text(figures.kernel),
      2.0 * figures.in_update > figures.lost
          ? fmt::format("; {} of it in the optimizer's step", to_text(figures.in_update))
          : std::string(),
      figures.recorded > Seconds()
          ? fmt::format("; {} more are the profiler's", to_text(figures.recorded))
          : std::string());
}

std::string sync_sentence(const HostFigures& figures) {
  return fmt::format(
      "{} makes the host wait for the device {} a step, after which nothing is queued: it is idle "
      "{}",
      named(figures, "a call"), times_text(figures.stalls), lost_text(figures));
}

std::string pageable_sentence(const HostFigures& figures) {
  return fmt::format(
      "{} copies {} from memory that is not pinned, {} a step, and the host waits for each: {} in "
      "which nothing computes",
      named(figures, "the host"), to_text(figures.copied), times_text(figures.stalls),
      lost_text(figures));
}

std::string recorder_sentence(const HostFigures& figures) {
  if (figures.status == Status::kVerified) {
    return fmt::format("the profiler itself ({}) keeps the device idle {}", figures.what,
                       lost_text(figures));
  }
  return fmt::format(
      "every operator and function of Python was recorded, which slows the host: the device is "
      "idle "
      "up to {} because of that, and how fast the host launches by itself is not known",
      lost_text(figures));
}

std::string save_sentence(const HostFigures& figures) {
  if (figures.status == Status::kVerified) {
    return fmt::format("{} keeps the device waiting {}", figures.what, lost_text(figures));
  }
  return fmt::format(
      "{} a step go to the host, as when a checkpoint is written: the device waits {}",
      to_text(figures.copied), lost_text(figures));
}

std::string busy_sentence(const HostFigures& figures) {
  return figures.status == Status::kUnverified
             ? fmt::format(
                   "{} is idle {} while the host runs no operator; what it does then was "
                   "not recorded",
                   figures.waits, lost_text(figures))
             : fmt::format("{} is idle {} while the host is at {} and launches nothing",
                           figures.waits, lost_text(figures), figures.what);
}

std::string compilation_sentence(const HostFigures& figures) {
  return figures.status == Status::kVerified
             ? fmt::format("the device waits {} while the host compiles ({}), {} a step{}",
                           lost_text(figures), figures.what, times_text(figures.stalls),
                           figures.tried > Seconds()
                               ? fmt::format("; {} of it runs kernels only to time them",
                                             to_text(figures.tried))
                               : std::string())
             : fmt::format("the device waits {} while kernels are loaded at their first launch",
                           lost_text(figures));
}

}  // namespace

std::string host_sentence(HostRule rule, const HostFigures& figures) {
  switch (rule) {
    case HostRule::kInput:
      return input_sentence(figures);
    case HostRule::kLaunch:
      return launch_sentence(figures);
    case HostRule::kSync:
      return sync_sentence(figures);
    case HostRule::kCollection:
      return fmt::format("Python's garbage collector runs {} a step and keeps the device idle {}",
                         times_text(figures.stalls), lost_text(figures));
    case HostRule::kAllocator:
      return fmt::format(
          "memory is asked for and given back {} a step ({}), which keeps the device idle {}",
          times_text(figures.stalls), named(figures, "cudaFree"), lost_text(figures));
    case HostRule::kMemoryLimit:
      return fmt::format(
          "the allocator finds no room, gives back what it keeps and asks again ({} calls a step): "
          "the device is idle {}",
          fmt::format("{:.0f}", figures.stalls), lost_text(figures));
    case HostRule::kPageable:
      return pageable_sentence(figures);
    case HostRule::kRecorder:
      return recorder_sentence(figures);
    case HostRule::kCompilation:
      return compilation_sentence(figures);
    case HostRule::kSave:
      return save_sentence(figures);
    case HostRule::kOffload:
      return fmt::format(
          "the optimizer runs on the host ({}): the device waits {} for it and for what is copied",
          named(figures, "its states lie there"), lost_text(figures));
    case HostRule::kContention:
      return fmt::format(
          "the launching thread stands still {} a step for {} in calls that take microseconds, as "
          "when it loses its core: the device is idle {}",
          times_text(figures.stalls), to_text(figures.stall), lost_text(figures));
    case HostRule::kBusy:
      return busy_sentence(figures);
  }
  return {};
}

}  // namespace sextant::diagnose
