#include "run_program.h"

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/places_testing.h"

namespace sextant::tests {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become(const Folder& folder, const std::string& program,
                         std::vector<std::string> arguments, std::vector<std::string> variables) {
  const auto open_as = [&](const char* name, int flags, int target) {
    const int file = open((folder.path() / name).c_str(), flags, 0600);
    dup2(file, target);
  };
  open_as("in", O_RDONLY, STDIN_FILENO);
  open_as("out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  open_as("err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (chdir(folder.path().c_str()) != 0) {
    _exit(126);
  }
  arguments.insert(arguments.begin(), program);
  execve(program.c_str(), pointers(arguments).data(), pointers(variables).data());
  _exit(127);
}

}  // namespace

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

namespace {

pid_t started(const Folder& folder, const std::string& program,
              const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables) {
  const pid_t child = fork();
  if (child == 0) {
    become(folder, program, arguments, variables);
  }
  return child;
}

Ran finished(const Folder& folder, pid_t child) {
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  Ran ran;
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = content(folder.path() / "out");
  ran.err = content(folder.path() / "err");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  ran.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  ran.peak_kib = usage.ru_maxrss;
  return ran;
}

// The pipe's writing end once the program has opened the other one; -1 if it ended before.
int opened_for(pid_t child, const std::filesystem::path& pipe) {
  for (;;) {
    const int file = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    siginfo_t ended{};
    if (file >= 0 ||
        waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid != 0) {
      return file;
    }
    sched_yield();
  }
}

}  // namespace

Ran run_sextant(const std::vector<std::string>& arguments, const std::string& input,
                const std::vector<std::string>& variables) {
  const Folder folder;
  (void)folder.write("in", input);
  return finished(folder, started(folder, built_program(), arguments, variables));
}

Ran run_other(const std::string& program, const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables) {
  const Folder folder;
  (void)folder.write("in", "");
  return finished(folder, started(folder, program, arguments, variables));
}

Ran interrupted_sextant(const std::vector<std::string>& arguments, const std::string& input) {
  const Folder folder;
  (void)folder.write("in", "");
  const std::filesystem::path pipe = folder.path() / "pipe.json";
  mkfifo(pipe.c_str(), 0600);
  std::signal(SIGPIPE, SIG_IGN);  // the program may be gone before it reads
  const pid_t child = started(folder, built_program(), arguments, {});
  if (const int file = opened_for(child, pipe); file >= 0) {
    kill(child, SIGINT);
    (void)!write(file, input.data(), input.size());
    close(file);
  }
  return finished(folder, child);
}

}  // namespace sextant::tests
