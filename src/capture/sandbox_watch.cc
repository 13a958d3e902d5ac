#include "capture/sandbox_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "capture/errno_text.h"
#include "capture/sandbox_limits.h"
#include "capture/sandbox_mounts.h"

namespace sextant::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeptOutput = 4'096;
constexpr std::size_t kMostSpooled = 4'096;                        // calls
constexpr std::size_t kMostSpooledBytes = std::size_t{16} << 20U;  // of all
constexpr Bytes kMostOneCall = 16_MiB;
constexpr std::size_t kShownOfAName = 300;  // of a folder or a program, in a reason
constexpr int kPollMilliseconds = 10;
constexpr int kLowestPriority = 19;
constexpr int kGraceSeconds = 5;  // for what a script leaves in the background

void send(int out, char kind, std::string_view text) {
  std::string bytes = fmt::format("{}{}:", kind, text.size());
  bytes += text;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = write(out, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return;
    }
    done += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void give_up(int out, std::string_view why) {
  send(out, kWhyNot, why);
  _exit(1);
}

// What this program's caller had open is not the script's, however high its number is.
void close_all_but(int kept) {
  const auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  const auto one = static_cast<unsigned>(kept);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-vararg): as the kernel has it
  const bool below = one <= first || syscall(SYS_close_range, first, one - 1, 0U) == 0;
  if (below && syscall(SYS_close_range, one + 1, ~0U, 0U) == 0) {
    return;
  }
  // NOLINTEND(cppcoreguidelines-pro-type-vararg)
  std::vector<int> open_now;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", error)) {
    const auto descriptor = to_integer(entry.path().filename().string());
    if (descriptor && *descriptor > STDERR_FILENO && *descriptor != kept) {
      open_now.push_back(static_cast<int>(*descriptor));
    }
  }
  for (const int descriptor : open_now) {
    close(descriptor);
  }
}

[[noreturn]] void start_script(const SandboxRequest& request, int printed, int why) {
  setsid();
  // Behind everything else, so that the watch gets its turn whatever the script starts.
  setpriority(PRIO_PROCESS, 0, kLowestPriority);
  const int nothing = open("/dev/null", O_RDONLY);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  dup2(nothing, STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  const auto refuse = [&](const std::string& text) {
    send(why, kWhyNot, text);
    _exit(1);
  };
  if (chdir(request.folder.c_str()) != 0) {
    const std::string reason = errno_text();
    refuse(fmt::format("{}: {}", printable(request.folder, kShownOfAName), reason));
  }
  std::vector<std::string> words = request.command;
  std::vector<std::string> environment = request.environment;
  std::vector<char*> word_pointers;
  std::vector<char*> variable_pointers;
  for (std::string& word : words) {
    word_pointers.push_back(word.data());
  }
  for (std::string& variable : environment) {
    variable_pointers.push_back(variable.data());
    if (variable.starts_with("PATH=")) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread; where execvpe looks
      setenv("PATH", variable.c_str() + 5, 1);
    }
  }
  word_pointers.push_back(nullptr);
  variable_pointers.push_back(nullptr);
  fcntl(why, F_SETFD, FD_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  close_all_but(why);
  if (const auto not_given = give_up_rights(request.limits)) {
    refuse(*not_given);
  }
  execvpe(word_pointers[0], word_pointers.data(), variable_pointers.data());
  const std::string reason = errno_text();
  refuse(fmt::format("{} cannot be started: {}", printable(words[0], kShownOfAName), reason));
  _exit(1);
}

// Processes of this sandbox.
std::vector<std::string> processes_now() {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    std::string name = entry.path().filename().string();
    if (to_integer(name)) {
      found.push_back(std::move(name));
    }
  }
  return found;
}

// "RssAnon:     1234 kB" of /proc/ID/status.
std::int64_t bytes_in_line(std::string_view line, std::string_view name) {
  constexpr std::int64_t kKib = 1'024;
  if (!line.starts_with(name)) {
    return 0;
  }
  const std::string_view value = trimmed(line.substr(name.size()));
  return kKib * to_integer(value.substr(0, value.find(' '))).value_or(0);
}

std::optional<std::int64_t> hex_number(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Memory that processes share has no file, and it stays while one of them has it mapped, whether it
// is resident in that one or not: so the whole of the mapping counts, once for all of them.
class SharedMemory {
 public:
  // False where the kernel does not show this process's mappings.
  bool add(const std::string& process) {
    std::ifstream maps("/proc/" + process + "/maps");
    std::map<std::string, std::int64_t, std::less<>> of_this;
    bool shown = false;
    for (std::string line; std::getline(maps, line);) {  // 65,530 at most, says the kernel
      shown = true;
      add_line(line, of_this);
    }
    for (const auto& [file, bytes] : of_this) {
      bytes_[file] = std::max(bytes_[file], bytes);
    }
    return shown;
  }

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& [file, bytes] : bytes_) {
      sum += bytes;
    }
    return sum;
  }

 private:
  // "7f0000000000-7f0040000000 rw-s 00000000 00:01 1030    /dev/zero (deleted)"
  static void add_line(std::string_view line,
                       std::map<std::string, std::int64_t, std::less<>>& of_this) {
    if (!line.ends_with("/dev/zero (deleted)")) {
      return;
    }
    const std::vector<std::string_view> words = split(line, ' ');
    constexpr std::size_t kInode = 4;
    const std::size_t dash = words[0].find('-');
    if (words.size() <= kInode || dash == std::string_view::npos) {
      return;
    }
    const auto from = hex_number(words[0].substr(0, dash));
    const auto to = hex_number(words[0].substr(dash + 1));
    if (from && to && *to > *from) {
      of_this[std::string(words[kInode])] += *to - *from;
    }
  }

  std::map<std::string, std::int64_t, std::less<>> bytes_;
};

// The memory that they hold; what lies in files is bounded by the folders in memory.
std::int64_t mib_of(const std::vector<std::string>& processes) {
  SharedMemory shared;
  std::int64_t bytes = 0;
  for (const std::string& one : processes) {
    const bool known = shared.add(one);
    std::ifstream status("/proc/" + one + "/status");
    for (std::string line; std::getline(status, line);) {
      bytes += bytes_in_line(line, "RssAnon:");
      bytes += known ? 0 : bytes_in_line(line, "RssShmem:");
    }
  }
  return (bytes + shared.bytes()) / (std::int64_t{1} << 20U);
}

class Watch {
 public:
  Watch(const SandboxRequest& request, pid_t script, int printed)
      : request_(request), script_(script), printed_(printed) {}

  // Until everything has ended, or a limit is met.
  void run() {
    const auto start = std::chrono::steady_clock::now();
    auto last = start + std::chrono::seconds(request_.limits.seconds);
    while (!all_gone_) {
      read_output(kPollMilliseconds);
      reap();
      const auto now = std::chrono::steady_clock::now();
      if (exited_ && !grace_) {
        grace_ = true;
        last = std::min(last, now + std::chrono::seconds(kGraceSeconds));
      }
      if (now >= last) {
        end_ = exited_ ? SandboxEnd::kExited : SandboxEnd::kTime;
        return;
      }
      // Counted first: while processes double, there is no time to look into each.
      const std::vector<std::string> processes = processes_now();
      if (processes.size() > static_cast<std::size_t>(request_.limits.processes)) {
        end_ = SandboxEnd::kProcesses;
        return;
      }
      if (mib_of(processes) > request_.limits.memory_mib) {
        end_ = SandboxEnd::kMemory;
        return;
      }
    }
  }

  void end_all() {
    kill(-1, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    read_output(0);
  }

  [[nodiscard]] std::string ended() const {
    return fmt::format("{} {}", static_cast<int>(end_), code_);
  }
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  void read_output(int milliseconds) {
    pollfd ready{printed_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0 || (ready.revents & POLLIN) == 0) {
      if ((ready.revents & POLLHUP) != 0 && milliseconds > 0) {
        usleep(1'000U * static_cast<unsigned>(milliseconds));
      }
      return;
    }
    std::array<char, 65'536> bytes{};
    const ssize_t got = read(printed_, bytes.data(), bytes.size());
    if (got > 0) {
      output_.append(bytes.data(), static_cast<std::size_t>(got));
      if (output_.size() > kKeptOutput) {
        output_.erase(0, output_.size() - kKeptOutput);
      }
    }
  }

  void reap() {
    int status = 0;
    for (pid_t one = waitpid(-1, &status, WNOHANG); one != 0; one = waitpid(-1, &status, WNOHANG)) {
      if (one < 0) {
        all_gone_ = true;
        return;
      }
      if (one == script_) {
        exited_ = true;
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
  }

  const SandboxRequest& request_;
  pid_t script_;
  int printed_;
  SandboxEnd end_ = SandboxEnd::kExited;
  int code_ = 0;
  bool exited_ = false;
  bool grace_ = false;
  bool all_gone_ = false;
  std::string output_;
};

void send_calls(int out) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(kSpool, error)) {
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
      ids.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(ids);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto text = read_file(fmt::format("{}/{}", kSpool, ids[i]), kMostOneCall);
    if (!text) {
      continue;
    }
    bytes += text->size();
    if (i >= kMostSpooled || bytes > kMostSpooledBytes) {
      send(out, kCut, "");
      return;
    }
    send(out, kCallId, ids[i]);
    send(out, kCallBytes, *text);
  }
}

}  // namespace

void watch_sandbox(const SandboxRequest& request, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (const auto why = mount_sandbox(request)) {
    give_up(out, *why);
  }
  std::array<int, 2> printed{};
  std::array<int, 2> why{};
  if (pipe2(printed.data(), O_CLOEXEC) != 0 || pipe2(why.data(), O_CLOEXEC) != 0) {
    give_up(out, errno_text());
  }
  const pid_t script = fork();
  if (script < 0) {
    give_up(out, errno_text());
  }
  if (script == 0) {
    start_script(request, printed[1], why[1]);
  }
  close(printed[1]);
  close(why[1]);
  Watch watch(request, script, printed[0]);
  watch.run();
  watch.end_all();
  std::array<char, PIPE_BUF> text{};  // one write of a reason, which is shorter: one read
  const ssize_t refused = read(why[0], text.data(), text.size());
  if (refused > 0) {
    const ssize_t wrote = write(out, text.data(), static_cast<std::size_t>(refused));
    _exit(wrote > 0 ? 1 : 2);
  }
  send(out, kEnded, watch.ended());
  send(out, kOutput, watch.output());
  send_calls(out);
  _exit(0);
}

}  // namespace sextant::capture
