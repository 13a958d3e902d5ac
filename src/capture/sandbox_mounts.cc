#include "capture/sandbox_mounts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/errno_text.h"
#include "capture/stand_ins.h"

namespace sextant::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMounts = 100'000;  // as many as the kernel lets a namespace have
// The new root, while it is put together; the system's /dev is not needed any more then.
constexpr std::string_view kRoot = "/dev";
// A folder in which others are mounted can have no layer: what is in it gets one each, so deep and
// where it is not more than so many.
constexpr int kDeepest = 5;
constexpr std::size_t kMostEntries = 128;
constexpr std::array<std::string_view, 6> kDeviceNodes{"null",   "zero",    "full",
                                                       "random", "urandom", "tty"};
constexpr std::string_view kProgram = "/dev/.sextant/program";
constexpr std::string_view kLayers = "/dev/.sextant/layers";
// Beside the caller's PATH: where a script may name a program by its whole path.
constexpr std::string_view kUsualFolders =
    "/bin:/usr/bin:/usr/local/bin:/sbin:/usr/sbin:/usr/local/sbin:/opt/conda/bin:/opt/venv/bin";

std::string failed(std::string_view what) {
  return fmt::format("{}: {}", what, errno_text());
}

int opened_path(const std::string& path, int more) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the kernel has it
  return open(path.c_str(), O_PATH | O_CLOEXEC | more);
}

bool mounted(const char* source, const std::string& target, const char* type, unsigned long flags,
             const std::string& data) {
  return mount(source, target.c_str(), type, flags, data.empty() ? nullptr : data.c_str()) == 0;
}

std::string descriptor_path(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

// "\040" as the kernel writes a blank.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

bool is_of_the_system(std::string_view path) {
  return is_below(path, "/proc") || is_below(path, "/sys") || is_below(path, "/dev");
}

struct Mount {
  std::string id;
  std::string path;
  bool writable = false;
  bool ours = false;
};

// "43 42 254:0 / /mnt rw,relatime - ext4 /dev/vda rw"
std::vector<Mount> mounts_now() {
  std::vector<Mount> mounts;
  std::ifstream file("/proc/self/mountinfo");
  constexpr std::size_t kPath = 4;
  constexpr std::size_t kOptions = 5;
  for (std::string line; std::getline(file, line) && mounts.size() < kMostMounts;) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() > kOptions) {
      const std::string_view options = words[kOptions];
      mounts.push_back({.id = std::string(words[0]),
                        .path = unescaped(words[kPath]),
                        .writable = options == "rw" || options.starts_with("rw,"),
                        .ours = line.find(" - overlay scratch ") != std::string::npos ||
                                line.find(" - tmpfs scratch ") != std::string::npos ||
                                line.find(" - tmpfs spool ") != std::string::npos});
    }
  }
  return mounts;
}

// Flags of a mount that a user namespace may not take away.
unsigned long locked_flags(const std::string& path) {
  struct statvfs info{};
  if (statvfs(path.c_str(), &info) != 0) {
    return 0;
  }
  unsigned long flags = 0;
  flags |= (info.f_flag & ST_NOEXEC) != 0 ? static_cast<unsigned long>(MS_NOEXEC) : 0UL;
  flags |= (info.f_flag & ST_NOATIME) != 0 ? static_cast<unsigned long>(MS_NOATIME) : 0UL;
  flags |= (info.f_flag & ST_NODIRATIME) != 0 ? static_cast<unsigned long>(MS_NODIRATIME) : 0UL;
  flags |= (info.f_flag & ST_RELATIME) != 0 ? static_cast<unsigned long>(MS_RELATIME) : 0UL;
  return flags;
}

bool made_read_only(const std::string& path) {
  return mounted(nullptr, path, nullptr,
                 MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | locked_flags(path), {});
}

bool made_file(const std::string& path, std::string_view text) {
  std::ofstream file(path);
  file << text;
  return file.good();
}

std::string in_new_root(std::string_view path) {
  return fmt::format("{}{}", kRoot, path);
}

// Puts the system's folders into the new root, each as a layer in memory over what is there.
class NewRoot {
 public:
  // REQUIRES: `layers` lies in the new root.
  explicit NewRoot(std::string layers) : layers_(std::move(layers)) {}

  std::optional<std::string> add_all() {
    const int folder = opened_path("/", O_DIRECTORY);
    return folder < 0 ? std::optional(failed("/")) : add_parts("/", folder, 0);
  }

  // Nothing, or why it cannot be done. Where the kernel has no layer for a folder (it is too old),
  // the folder is there as it is, to be read only.
  std::optional<std::string> add(const std::string& path, int depth) {
    struct stat info{};
    const int folder = opened_path(path, O_DIRECTORY);
    if (folder < 0 || fstat(folder, &info) != 0 || fchdir(folder) != 0) {
      made_folder(in_new_root(path),
                  0700);  // what this user may not enter, the script may not either
      return std::nullopt;
    }
    made_folder(in_new_root(path), info.st_mode & 07777U);
    auto why = layered(path, info.st_mode & 07777U) ? std::nullopt : add_parts(path, folder, depth);
    close(folder);
    return why;
  }

  // Where the job is at home. In a layer a folder of another user cannot be copied, so it needs one
  // of its own.
  void add_home(const std::string& path) {
    struct stat info{};
    struct stat there{};
    const int folder = path.empty() || path[0] != '/' || is_of_the_system(path)
                           ? -1
                           : opened_path(path, O_DIRECTORY);
    const bool wanted = folder >= 0 && fstat(folder, &info) == 0 &&
                        stat(in_new_root(path).c_str(), &there) == 0 &&
                        (info.st_uid != getuid() || is_read_only(in_new_root(path)));
    if (wanted && fchdir(folder) == 0) {
      layered(path, info.st_mode & 07777U);
    }
    if (folder >= 0) {
      close(folder);
    }
  }

 private:
  static bool made_folder(const std::string& path, mode_t mode) {
    return (mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) && chmod(path.c_str(), mode) == 0;
  }

  static bool is_read_only(const std::string& path) {
    struct statvfs info{};
    return statvfs(path.c_str(), &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
  }

  // REQUIRES: the folder is the working directory.
  bool layered(const std::string& path, mode_t mode) {
    const std::string layer = fmt::format("{}/{}", layers_, count_++);
    if (!made_folder(layer, 0755) || !made_folder(layer + "/up", mode) ||
        !made_folder(layer + "/work", 0755)) {
      return false;
    }
    const std::string data = fmt::format("lowerdir=.,upperdir={0}/up,workdir={0}/work", layer);
    constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
    return mounted("scratch", in_new_root(path), "overlay", kFlags, data + ",userxattr") ||
           mounted("scratch", in_new_root(path), "overlay", kFlags, data);
  }

  std::optional<std::string> add_parts(const std::string& path, int folder, int depth) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
      entries.push_back(entry);
    }
    if (depth >= kDeepest || error || (entries.size() > kMostEntries && path != "/")) {
      const bool done = mounted(descriptor_path(folder).c_str(), in_new_root(path), nullptr,
                                MS_BIND | MS_REC, {}) &&
                        made_read_only(in_new_root(path));
      return done ? std::nullopt
                  : std::optional(failed(fmt::format("{} cannot be made read-only", path)));
    }
    for (const fs::directory_entry& entry : entries) {
      const std::string part = entry.path().string();
      if (entry.is_symlink(error)) {
        fs::create_symlink(fs::read_symlink(entry.path(), error), in_new_root(part), error);
      } else if (is_of_the_system(part)) {
        continue;
      } else if (entry.is_directory(error)) {
        if (auto why = add(part, depth + 1)) {
          return why;
        }
      } else if (entry.is_regular_file(error) && made_file(in_new_root(part), "") &&
                 mounted(part.c_str(), in_new_root(part), nullptr, MS_BIND, {}) &&
                 !made_read_only(in_new_root(part))) {
        return failed(fmt::format("{} cannot be made read-only", part));
      }
    }
    return std::nullopt;
  }

  std::string layers_;
  int count_ = 0;
};

// The mount that a path leads to.
std::string mount_id(const std::string& path) {
  const int file = opened_path(path, 0);
  std::ifstream info(fmt::format("/proc/self/fdinfo/{}", file));
  std::string id;
  for (std::string line; std::getline(info, line);) {
    constexpr std::string_view kName = "mnt_id:";
    id = line.starts_with(kName) ? std::string(trimmed(line.substr(kName.size()))) : id;
  }
  if (file >= 0) {
    close(file);
  }
  return id;
}

// What is mounted in places that no layer covers (a single file, say). After this nothing that can
// be reached is written but layers.
std::optional<std::string> close_what_is_left() {
  const std::vector<Mount> mounts = mounts_now();
  if (mounts.empty() || mounts.size() >= kMostMounts) {
    return "what is mounted cannot be looked through: the list of it is empty or cut";
  }
  for (const Mount& mount : mounts) {
    const bool node = std::ranges::any_of(kDeviceNodes, [&](std::string_view name) {
      return mount.path == fmt::format("/dev/{}", name);
    });
    if (mount.writable && !mount.ours && !node && mount_id(mount.path) == mount.id &&
        !made_read_only(mount.path)) {
      return failed(fmt::format("{} cannot be made read-only", mount.path));
    }
  }
  return std::nullopt;
}

// An empty root, and a /dev of its own: what every program needs, and where stand-ins live.
std::optional<std::string> mount_root(const SandboxRequest& request) {
  std::array<int, kDeviceNodes.size()> nodes{};
  for (std::size_t i = 0; i < kDeviceNodes.size(); ++i) {
    nodes.at(i) = opened_path(fmt::format("/dev/{}", kDeviceNodes.at(i)), 0);
  }
  // As this namespace has the file: a descriptor of another one cannot be mounted.
  const int program = opened_path(request.program, 0);
  const std::string size =
      fmt::format("size={}m,nr_inodes=50k,mode=755", request.limits.scratch_mib);
  if (!mounted("scratch", std::string(kRoot), "tmpfs", MS_NOSUID, size)) {
    return failed("a root of its own cannot be mounted");
  }
  std::error_code error;
  for (const std::string_view folder :
       {std::string_view("/proc"), std::string_view("/sys"), std::string_view("/dev"),
        std::string_view("/dev/shm"), kHome, kBin, kSpool, kLayers}) {
    fs::create_directory(in_new_root(folder), error);
  }
  for (std::size_t i = 0; i < kDeviceNodes.size(); ++i) {
    const std::string path = in_new_root(fmt::format("/dev/{}", kDeviceNodes.at(i)));
    if (nodes.at(i) >= 0 && (!made_file(path, "") || !mounted(descriptor_path(nodes.at(i)).c_str(),
                                                              path, nullptr, MS_BIND, {}))) {
      return failed(fmt::format("{} cannot be mounted", path));
    }
  }
  fs::create_symlink("/proc/self/fd", in_new_root("/dev/fd"), error);
  fs::create_symlink("/proc/self/fd/0", in_new_root("/dev/stdin"), error);
  fs::create_symlink("/proc/self/fd/1", in_new_root("/dev/stdout"), error);
  fs::create_symlink("/proc/self/fd/2", in_new_root("/dev/stderr"), error);
  const std::string self = in_new_root(kProgram);
  if (!made_file(in_new_root(kAnswers), answers_text(request.answers)) || !made_file(self, "") ||
      !mounted(descriptor_path(program).c_str(), self, nullptr, MS_BIND, {}) ||
      !made_read_only(self)) {
    return failed("the stand-ins cannot be put in place");
  }
  for (const StandIn& one : stand_ins()) {
    fs::create_symlink(kProgram, in_new_root(fmt::format("{}/{}", kBin, one.name)), error);
  }
  if (!mounted("spool", in_new_root(kSpool), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
               "size=24m,nr_inodes=8k,mode=755")) {
    return failed("the place of the record cannot be mounted");
  }
  return std::nullopt;
}

// A script that names a program by its whole path meets the stand-in too: it is put over the file.
// One that several programs share (busybox) is left alone.
void cover_programs(const std::string& path_variable) {
  const std::string folders = fmt::format("{}:{}", path_variable, kUsualFolders);
  const std::string self(kProgram);
  std::vector<std::string> done;
  for (const std::string_view folder : split(folders, ':')) {
    for (const StandIn& one : stand_ins()) {
      std::error_code error;
      const fs::path real = fs::canonical(fmt::format("{}/{}", folder, one.name), error);
      const bool ours = !error && !is_of_the_system(real.string()) &&
                        real.filename().string().starts_with(one.name) &&
                        one.kind != StandInKind::kIdle;
      if (!folder.empty() && folder[0] == '/' && ours &&
          std::ranges::find(done, real.string()) == done.end()) {
        mounted(self.c_str(), real.string(), nullptr, MS_BIND, {});
        done.push_back(real.string());
      }
    }
  }
}

std::optional<std::string> mount_processes() {
  constexpr unsigned long kFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const std::string target = in_new_root("/proc");
  const bool done = mounted("proc", target, "proc", kFlags, {}) ||
                    (mounted("/proc", target, nullptr, MS_BIND | MS_REC, {}) &&
                     mounted(nullptr, target, nullptr, MS_REMOUNT | MS_BIND | kFlags, {}));
  return done ? std::nullopt : std::optional(failed("/proc cannot be made read-only"));
}

// The new root in the place of the system's, which cannot be reached any more.
std::optional<std::string> change_root() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the kernel has it
  if (chdir(std::string(kRoot).c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
      umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) {
    return failed("the root cannot be changed");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> mount_sandbox(const SandboxRequest& request) {
  if (!mounted(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, {})) {
    return failed("mounts cannot be made private");
  }
  if (auto why = mount_root(request)) {
    return why;
  }
  NewRoot root(in_new_root(kLayers));
  if (auto why = root.add_all()) {
    return why;
  }
  std::string path;
  for (const std::string& variable : request.environment) {
    path = variable.starts_with("PATH=") ? variable.substr(5) : path;
    if (variable.starts_with("HOME=") || variable.starts_with("TMPDIR=")) {
      root.add_home(variable.substr(variable.find('=') + 1));
    }
  }
  root.add_home(request.folder);
  if (auto why = mount_processes()) {
    return why;
  }
  if (auto why = change_root()) {
    return why;
  }
  cover_programs(path);
  return close_what_is_left();
}

}  // namespace sextant::capture
