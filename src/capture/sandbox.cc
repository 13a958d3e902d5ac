#include "capture/sandbox.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGKILL of POSIX
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/errno_text.h"
#include "capture/sandbox_watch.h"

namespace sextant::capture {
namespace {

constexpr std::size_t kMostFromSandbox = std::size_t{32} << 20U;
constexpr std::size_t kLongestFrameHead = 24;

bool put(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  const bool done = file >= 0 && write(file, text.data(), text.size()) > 0;
  if (file >= 0) {
    close(file);
  }
  return done;
}

[[noreturn]] void refuse(int out, std::string_view why) {
  const std::string bytes = fmt::format("{}{}:{}", kWhyNot, why.size(), why);
  const ssize_t wrote = write(out, bytes.data(), bytes.size());
  _exit(wrote > 0 ? 1 : 2);
}

// Namespaces of its own for this process and its children, as the same user.
[[noreturn]] void enter_sandbox(const SandboxRequest& request, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  const uid_t user = getuid();
  const gid_t group = getgid();
  constexpr int kSpaces =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (unshare(kSpaces) != 0) {
    refuse(out, fmt::format("the kernel does not let this user have namespaces: {}", errno_text()));
  }
  put("/proc/self/setgroups", "deny");
  if (!put("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
      !put("/proc/self/gid_map", fmt::format("{0} {0} 1", group))) {
    refuse(out, fmt::format("the user cannot be kept in a namespace: {}", errno_text()));
  }
  const pid_t first = fork();
  if (first == 0) {
    watch_sandbox(request, out);
  }
  int status = 0;
  if (first > 0) {
    waitpid(first, &status, 0);
  }
  _exit(first > 0 ? 0 : 1);
}

std::string all_bytes(int from) {
  std::string bytes;
  std::array<char, 65'536> part{};
  while (bytes.size() < kMostFromSandbox) {
    const ssize_t got = read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

void keep_end(std::string_view text, SandboxResult& result) {
  const std::size_t blank = text.find(' ');
  const auto end = to_integer(text.substr(0, blank));
  if (blank == std::string_view::npos || !end) {
    return;
  }
  result.end = static_cast<SandboxEnd>(*end);
  result.exit_code = static_cast<int>(to_integer(text.substr(blank + 1)).value_or(0));
}

// The pipe was written by this program alone.
Result<SandboxResult> result_of(std::string_view bytes) {
  SandboxResult result;
  bool ended = false;
  while (!bytes.empty()) {
    const std::size_t colon = bytes.substr(0, kLongestFrameHead).find(':');
    const auto length =
        colon == std::string_view::npos ? std::nullopt : to_integer(bytes.substr(1, colon - 1));
    if (!length || *length < 0 || static_cast<std::size_t>(*length) > bytes.size() - colon - 1) {
      break;  // it was ended while it wrote
    }
    const std::string_view text = bytes.substr(colon + 1, static_cast<std::size_t>(*length));
    switch (bytes[0]) {
      case kWhyNot:
        return external(fmt::format("the script is not run: {}", text), "capture");
      case kEnded:
        ended = true;
        keep_end(text, result);
        break;
      case kOutput:
        result.output = text;
        break;
      case kCallId:
        result.calls.emplace_back(text, std::string());
        break;
      case kCallBytes:
        result.calls.back().second = text;
        break;
      case kCut:
        result.calls_cut = true;
        break;
      default:
        break;
    }
    bytes.remove_prefix(colon + 1 + text.size());
  }
  if (!ended) {
    return external("the sandbox ended before the script did", "capture");
  }
  return result;
}

}  // namespace

Result<SandboxResult> run_in_sandbox(SandboxRequest request) {
  if (request.program.empty()) {
    std::error_code error;
    request.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  }
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return external(errno_text(), "capture");
  }
  const pid_t child = fork();
  if (child < 0) {
    return external(errno_text(), "capture");
  }
  if (child == 0) {
    close(pipe[0]);
    enter_sandbox(request, pipe[1]);
  }
  close(pipe[1]);
  const std::string bytes = all_bytes(pipe[0]);
  close(pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return result_of(bytes);
}

}  // namespace sextant::capture
