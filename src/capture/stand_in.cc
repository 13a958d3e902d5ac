#include "capture/stand_in.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "capture/batch.h"
#include "capture/stand_ins.h"

// NOLINTBEGIN(concurrency-mt-unsafe): a stand-in has one thread
namespace sextant::capture {
namespace {

constexpr int kNotFound = 127;  // a shell's exit code where there is no such program
constexpr Bytes kMostBatchScript = 1_MiB;
constexpr Bytes kMostAnswers = 4_KiB;

std::string variable_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

bool is_shell(std::string_view word) {
  return is_one_of(word.substr(word.rfind('/') + 1), {"bash", "sh", "zsh", "dash", "env"});
}

bool can_run(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool is_on_path(const std::string& word) {
  const std::string path = variable_text("PATH");
  return std::ranges::any_of(split(path, ':'), [&](std::string_view folder) {
    return can_run(fmt::format("{}/{}", folder, word));
  });
}

// Configuration files that the words name.
bool is_configuration(const std::string& path) {
  static constexpr std::array<std::string_view, 9> kEndings{
      ".json", ".yaml", ".yml", ".toml", ".hjson", ".cfg", ".conf", ".ini", "hostfile"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return path.ends_with(end); });
}

void add_named_file(std::string_view word, SpooledCall& call) {
  if (word.empty() || word[0] == '-' || call.files.size() >= kMostNamedFiles) {
    return;
  }
  const std::filesystem::path path =
      (std::filesystem::path(call.folder) / std::filesystem::path(word)).lexically_normal();
  std::error_code error;
  if (is_configuration(path.string()) && std::filesystem::is_regular_file(path, error) &&
      std::filesystem::file_size(path, error) <= kMostNamedFile) {
    if (auto text = read_file(path, Bytes(static_cast<double>(kMostNamedFile)))) {
      call.files.emplace_back(path.string(), std::move(*text));
    }
  }
}

SpooledCall call_of(const std::vector<std::string>& words) {
  SpooledCall call;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  call.id = fmt::format("{:012}.{:09}-{}", now.tv_sec, now.tv_nsec, getpid());
  call.words = words;
  if (words[0].starts_with(kHome)) {
    call.words[0] = words[0].substr(words[0].rfind('/') + 1);
  }
  std::error_code error;
  call.folder = std::filesystem::current_path(error).string();
  call.outer = variable_text(std::string(kOuterVariable).c_str());
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    if (!text.starts_with("BASH_FUNC_") && !text.starts_with(kOuterVariable)) {
      call.environment.emplace_back(text);
    }
  }
  for (const std::string& word : words) {
    add_named_file(word, call);
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      add_named_file(std::string_view(word).substr(equals + 1), call);
    }
  }
  return call;
}

bool made_new_file(const std::string& path, std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the kernel has it
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return false;
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = write(file, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) {
      break;
    }
    done += static_cast<std::size_t>(wrote);
  }
  close(file);
  return done == bytes.size();
}

// Where the sandbox takes it from; it is gone with the sandbox.
void leave(const SpooledCall& call) {
  made_new_file(fmt::format("{}/{}", kSpool, call.id), spooled(call));
}

Answers known_answers() {
  const auto text = read_file(kAnswers, kMostAnswers);
  return answers_of(text ? *text : std::string());
}

int start(std::span<const std::string> words) {
  std::vector<std::string> owned(words.begin(), words.end());
  // A stand-in is found by its name, whatever path it was called by.
  if (stand_in_of(owned[0]) != nullptr) {
    owned[0] = fmt::format("{}/{}", kBin, stand_in_of(owned[0])->name);
  }
  std::vector<char*> pointers;
  for (std::string& word : owned) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  return kNotFound;
}

void set_unless_set(std::string_view name, std::string_view value) {
  setenv(std::string(name).c_str(), std::string(value).c_str(), 0);
}

void set_ranks(std::string_view launcher, const std::vector<std::string>& options) {
  if (launcher == "srun") {
    for (const auto& [name, value] : batch_variables(options, known_answers())) {
      set_unless_set(name, value);
    }
  } else if (launcher.starts_with("mpi")) {
    for (const std::string_view name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK"}) {
      set_unless_set(name, "0");
    }
  }
}

int launch(const std::vector<std::string>& words, bool recorded, std::string_view name) {
  const bool any = !is_one_of(name, {"conda", "mamba", "micromamba", "uv", "docker", "podman"});
  const std::size_t inner = launched_word(words, any);
  SpooledCall call = call_of(words);
  if (inner >= words.size()) {
    leave(call);
    return 0;
  }
  if (recorded) {
    call.words.resize(inner);
    call.launches = true;
    leave(call);
    setenv(std::string(kOuterVariable).c_str(), call.id.c_str(), 1);
    set_ranks(name, call.words);
  }
  return start(std::span(words).subspan(inner));
}

// A script on standard input, as a file that bash can read; it is gone with the sandbox.
std::optional<std::string> script_from_input() {
  const auto text = read_file("-", kMostBatchScript);
  const std::string path = fmt::format("{}/sbatch-{}", kHome, getpid());
  return text && made_new_file(path, *text) ? std::optional(path) : std::nullopt;
}

int submit(const std::vector<std::string>& words) {
  SpooledCall call = call_of(words);
  call.launches = true;
  std::vector<std::string> job;
  for (std::size_t i = 1; i < words.size() && job.empty(); ++i) {
    if (words[i].starts_with("--wrap")) {
      const bool joined = words[i].starts_with("--wrap=");
      job = {"bash", "-c", joined ? words[i].substr(7) : i + 1 < words.size() ? words[i + 1] : ""};
    } else if (std::filesystem::is_regular_file(words[i]) && !words[i].starts_with('-')) {
      job = {"bash"};
      job.insert(job.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      call.words.resize(i);
    }
  }
  if (job.empty()) {
    const auto script = script_from_input();
    job = script ? std::vector<std::string>{"bash", *script} : job;
  }
  if (job.empty()) {
    leave(call);
    return 1;
  }
  if (job[1] != "-c") {
    const auto text = read_file(job[1], kMostBatchScript);
    const std::vector<std::string> header = batch_words(text ? *text : std::string());
    call.words.insert(call.words.begin() + 1, header.begin(), header.end());
  }
  leave(call);
  for (const auto& [variable, value] : batch_variables(call.words, known_answers())) {
    setenv(variable.c_str(), value.c_str(), 1);
  }
  setenv(std::string(kOuterVariable).c_str(), call.id.c_str(), 1);
  const bool bare = std::ranges::find(words, "--parsable") != words.end();
  std::fputs(bare ? "1\n" : "Submitted batch job 1\n", stdout);
  std::fflush(stdout);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what the job prints is not what sbatch prints
  return start(job);
}

int ask(const std::vector<std::string>& words, std::string question) {
  SpooledCall call = call_of(words);
  call.question = std::move(question);
  leave(call);
  return 0;
}

int say_devices(const std::vector<std::string>& words) {
  const Answers answers = known_answers();
  std::fputs(device_tool_text(words, answers).c_str(), stdout);
  std::fflush(stdout);
  return answers.devices_per_node > 0 ? 0 : ask(words, "how many devices a node has");
}

int say_nodes(const std::vector<std::string>& words) {
  const Answers answers = known_answers();
  const bool hosts = words.size() > 2 && words[1] == "show" && words[2].starts_with("hostname");
  if (!hosts) {
    return 0;
  }
  std::string list = words.size() > 3 ? words[3] : variable_text("SLURM_JOB_NODELIST");
  const bool asked = list.empty() && answers.nodes == 0;
  if (list.empty()) {
    list =
        fmt::format("node[0-{}]", (answers.nodes > 0 ? answers.nodes : answers.stand_in_nodes) - 1);
  }
  for (const std::string& host : host_names(list)) {
    std::fputs((host + "\n").c_str(), stdout);
  }
  std::fflush(stdout);
  return asked ? ask(words, "which nodes there are") : 0;
}

// A line of code, or a program on standard input: what it would print is asked for.
int python(const std::vector<std::string>& words) {
  std::size_t at = 1;
  while (at < words.size() && is_one_of(words[at], {"-u", "-O", "-B", "-s", "-E", "-I", "-S"})) {
    ++at;
  }
  if (at < words.size() && is_one_of(words[at], {"-V", "--version"})) {
    std::fputs("Python 3\n", stdout);
    std::fflush(stdout);
    return 0;
  }
  if (at < words.size() && words[at] != "-c" && words[at] != "-") {
    leave(call_of(words));
    return 0;
  }
  const Answers answers = known_answers();
  const bool counts =
      at + 1 < words.size() && words[at + 1].find("device_count") != std::string::npos;
  const bool known = counts && answers.devices_per_node > 0;
  std::fputs(
      fmt::format("{}\n", known ? answers.devices_per_node : answers.stand_in_devices).c_str(),
      stdout);
  std::fflush(stdout);
  return known
             ? 0
             : ask(words, counts ? "how many devices a node has" : "what a line of Python prints");
}

// A line a device with these fields of it, as --query-gpu has them.
std::string queried_text(const std::vector<std::string_view>& fields, int count,
                         const std::string& name, bool header) {
  std::vector<std::string> titles;
  for (const std::string_view field : fields) {
    titles.emplace_back(trimmed(field));
  }
  std::string text = header ? join(titles, ", ") + "\n" : std::string();
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> values;
    for (const std::string& title : titles) {
      values.push_back(title == "name" || title == "gpu_name" ? name
                       : title == "index"                     ? std::to_string(i)
                       : title == "count"                     ? std::to_string(count)
                                                              : "[N/A]");
    }
    text += join(values, ", ") + "\n";
  }
  return text;
}

}  // namespace

std::size_t launched_word(std::span<const std::string> words, bool any_program) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (stand_in_of(words[i]) != nullptr || is_shell(words[i])) {
      return i;
    }
    const bool file = words[i].find('/') != std::string::npos && words[i][0] != '-';
    const bool value = words[i - 1].starts_with('-') && !words[i - 1].starts_with("--") && i > 1;
    if (file && can_run(words[i])) {
      return i;
    }
    if (any_program && !file && !value && words[i][0] != '-' && is_on_path(words[i])) {
      return i;
    }
  }
  return words.size();
}

std::string device_tool_text(std::span<const std::string> words, const Answers& answers) {
  constexpr std::string_view kQuery = "--query-gpu=";
  const int count =
      answers.devices_per_node > 0 ? answers.devices_per_node : answers.stand_in_devices;
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(
        words, [&](const std::string& word) { return word.find(part) != std::string::npos; });
  };
  std::string text;
  if (std::ranges::find(words, "-L") != words.end() || has("--list-gpus")) {
    for (int i = 0; i < count; ++i) {
      text += fmt::format("GPU {}: {} (UUID: GPU-{})\n", i, answers.device_name, i);
    }
    return text;
  }
  for (const std::string& word : words) {
    if (word.starts_with(kQuery)) {
      text = queried_text(split(std::string_view(word).substr(kQuery.size()), ','), count,
                          answers.device_name, !has("noheader"));
    }
  }
  return text;
}

bool is_stand_in_call(std::string_view program) {
  return stand_in_of(program) != nullptr && access(std::string(kAnswers).c_str(), R_OK) == 0;
}

int stand_in_call(const std::vector<std::string>& words) {
  const StandIn* self = stand_in_of(words[0]);
  switch (self->kind) {
    case StandInKind::kTraining:
    case StandInKind::kNetwork:
      leave(call_of(words));
      return 0;
    case StandInKind::kPython:
      return python(words);
    case StandInKind::kLauncher:
      return launch(words, true, self->name);
    case StandInKind::kWrapper:
      return launch(words, false, self->name);
    case StandInKind::kBatch:
      return submit(words);
    case StandInKind::kDevices:
      return say_devices(words);
    case StandInKind::kNodes:
      return say_nodes(words);
    case StandInKind::kIdle:
      return 0;
  }
  return 0;
}

}  // namespace sextant::capture
// NOLINTEND(concurrency-mt-unsafe)
