#include "front/cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

#include <unistd.h>

#include "front/cli/exit_codes.h"

namespace sextant::front {
namespace {

std::atomic<bool>& stop_flag() {
  static std::atomic<bool> flag = false;
  return flag;
}
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_interrupt(int /*signal*/) {
  if (stop_flag().exchange(true)) {
    _exit(kExitInterrupted);
  }
}

bool person_looks() {
  return isatty(STDERR_FILENO) == 1;
}

// One line of standard error, written over and over.
void show_progress(const std::string& line) {
  std::fputs(("\r" + line + "\x1b[K").c_str(), stderr);
}

}  // namespace

app::Control watched_control() {
  std::signal(SIGINT, on_interrupt);
  app::Control control{.stop = &stop_flag()};
  if (person_looks()) {
    control.progress = show_progress;
  }
  return control;
}

void end_progress() {
  if (person_looks()) {
    show_progress("");
  }
}

}  // namespace sextant::front
