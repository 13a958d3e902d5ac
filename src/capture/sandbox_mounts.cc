#include "capture/sandbox_mounts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/stand_ins.h"

namespace sextant::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMounts = 512;
constexpr std::array<std::string_view, 6> kDeviceNodes{"null",   "zero",    "full",
                                                       "random", "urandom", "tty"};
// Beside the caller's PATH: where a script may name a program by its whole path.
constexpr std::string_view kUsualFolders =
    "/bin:/usr/bin:/usr/local/bin:/sbin:/usr/sbin:/usr/local/sbin:/opt/conda/bin:/opt/venv/bin";

std::string failed(std::string_view what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
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
                        .ours = line.find(" - overlay scratch ") != std::string::npos});
    }
  }
  return mounts;
}

// A folder that gets a layer of its own: the top folders, whatever is mounted below them, and where
// the job is at home.
struct Covered {
  std::string path;
  int folder = -1;  // what lies there now
  mode_t mode = 0755;
  bool at_home = false;
  bool own = false;  // the user's; in a layer a folder of somebody else cannot be copied
  bool layered = false;
};

void add_folder(const std::string& path, bool at_home, std::vector<Covered>& folders) {
  struct stat info{};
  const int folder = path.empty() || path[0] != '/' || is_of_the_system(path)
                         ? -1
                         : opened_path(path, O_DIRECTORY);
  if (folder >= 0 && fstat(folder, &info) == 0) {
    folders.push_back({path, folder, info.st_mode & 07777U, at_home, info.st_uid == getuid()});
  }
}

std::vector<Covered> covered_folders(const SandboxRequest& request) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/", error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) {
      paths.push_back(entry.path().string());
    }
  }
  for (const Mount& mount : mounts_now()) {
    if (mount.path != "/") {
      paths.push_back(mount.path);
    }
  }
  std::ranges::sort(paths);
  const auto [first, last] = std::ranges::unique(paths);
  paths.erase(first, last);
  std::vector<Covered> folders;
  for (const std::string& path : paths) {
    add_folder(path, false, folders);
  }
  add_folder(request.folder, true, folders);
  for (const std::string& variable : request.environment) {
    if (variable.starts_with("HOME=") || variable.starts_with("TMPDIR=")) {
      add_folder(variable.substr(variable.find('=') + 1), true, folders);
    }
  }
  return folders;
}

// Flags of a mount that a user namespace may not take away.
unsigned long locked_flags(const std::string& path) {
  struct statvfs info{};
  if (statvfs(path.c_str(), &info) != 0) {
    return 0;
  }
  unsigned long flags = 0;
  flags |= (info.f_flag & ST_NOEXEC) != 0 ? MS_NOEXEC : 0UL;
  flags |= (info.f_flag & ST_NOATIME) != 0 ? MS_NOATIME : 0UL;
  flags |= (info.f_flag & ST_NODIRATIME) != 0 ? MS_NODIRATIME : 0UL;
  flags |= (info.f_flag & ST_RELATIME) != 0 ? MS_RELATIME : 0UL;
  return flags;
}

bool made_read_only(const std::string& path) {
  return mounted(nullptr, path, nullptr,
                 MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | locked_flags(path), {});
}

// A layer in memory over the folder; where the kernel has none for it (others are mounted in it, or
// it is too old), the folder as it is, to be read only.
std::optional<std::string> cover(Covered& one, std::size_t number) {
  const std::string layer = fmt::format("{}/layers/{}", kHome, number);
  if (fchdir(one.folder) != 0) {
    return std::nullopt;  // what this user may not enter, the script may not either
  }
  if (mkdir(layer.c_str(), 0755) != 0 || mkdir((layer + "/up").c_str(), 0755) != 0 ||
      mkdir((layer + "/work").c_str(), 0755) != 0) {
    return failed("a scratch layer cannot be made");
  }
  chmod((layer + "/up").c_str(), one.mode);
  const std::string data = fmt::format("lowerdir=.,upperdir={0}/up,workdir={0}/work", layer);
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
  one.layered = mounted("scratch", one.path, "overlay", kFlags, data + ",userxattr") ||
                mounted("scratch", one.path, "overlay", kFlags, data);
  if (one.layered ||
      (mounted(descriptor_path(one.folder).c_str(), one.path, nullptr, MS_BIND | MS_REC, {}) &&
       made_read_only(one.path))) {
    return std::nullopt;
  }
  return failed(fmt::format("{} cannot be made read-only", one.path));
}

std::optional<std::string> cover_all(std::vector<Covered>& folders) {
  for (std::size_t i = 0; i < folders.size(); ++i) {
    Covered& one = folders[i];
    const Covered* around = nullptr;  // the nearest folder that is covered already
    for (std::size_t k = 0; k < i; ++k) {
      const bool nearer = around == nullptr || folders[k].path.size() >= around->path.size();
      around = is_below(one.path, folders[k].path) && nearer ? &folders[k] : around;
    }
    if (one.at_home && one.own && around != nullptr && around->layered) {
      continue;
    }
    if (auto why = cover(one, i)) {
      return why;
    }
  }
  return std::nullopt;
}

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
  for (const Mount& mount : mounts_now()) {
    if (mount.writable && !mount.ours && !is_of_the_system(mount.path) &&
        mount_id(mount.path) == mount.id && !made_read_only(mount.path)) {
      return failed(fmt::format("{} cannot be made read-only", mount.path));
    }
  }
  return std::nullopt;
}

bool made_file(const std::string& path, std::string_view text) {
  std::ofstream file(path);
  file << text;
  return file.good();
}

// A /dev of its own: what every program needs, and where stand-ins live.
std::optional<std::string> mount_devices(const SandboxRequest& request) {
  std::array<int, kDeviceNodes.size()> nodes{};
  for (std::size_t i = 0; i < kDeviceNodes.size(); ++i) {
    nodes.at(i) = opened_path(fmt::format("/dev/{}", kDeviceNodes.at(i)), 0);
  }
  // As this namespace has the file: a descriptor of another one cannot be mounted.
  const int program = opened_path(request.program, 0);
  const std::string size =
      fmt::format("size={}m,nr_inodes=50k,mode=755", request.limits.scratch_mib);
  if (!mounted("scratch", "/dev", "tmpfs", MS_NOSUID, size)) {
    return failed("a /dev of its own cannot be mounted");
  }
  for (std::size_t i = 0; i < kDeviceNodes.size(); ++i) {
    const std::string path = fmt::format("/dev/{}", kDeviceNodes.at(i));
    if (nodes.at(i) >= 0 && (!made_file(path, "") || !mounted(descriptor_path(nodes.at(i)).c_str(),
                                                              path, nullptr, MS_BIND, {}))) {
      return failed(fmt::format("{} cannot be mounted", path));
    }
  }
  std::error_code error;
  fs::create_symlink("/proc/self/fd", "/dev/fd", error);
  fs::create_symlink("/proc/self/fd/0", "/dev/stdin", error);
  fs::create_symlink("/proc/self/fd/1", "/dev/stdout", error);
  fs::create_symlink("/proc/self/fd/2", "/dev/stderr", error);
  const std::string home(kHome);
  const std::string bin(kBin);
  for (const std::string& folder :
       {std::string("/dev/shm"), home, bin, std::string(kSpool), home + "/layers"}) {
    fs::create_directory(folder, error);
  }
  const std::string self = home + "/program";
  if (!made_file(std::string(kAnswers), answers_text(request.answers)) || !made_file(self, "") ||
      !mounted(descriptor_path(program).c_str(), self, nullptr, MS_BIND, {}) ||
      !made_read_only(self)) {
    return failed("the stand-ins cannot be put in place");
  }
  for (const StandIn& one : stand_ins()) {
    fs::create_symlink(self, fmt::format("{}/{}", bin, one.name), error);
  }
  if (!mounted("spool", std::string(kSpool), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
               "size=24m,nr_inodes=8k,mode=755")) {
    return failed("the place of the record cannot be mounted");
  }
  return std::nullopt;
}

// A script that names a program by its whole path meets the stand-in too: it is put over the file.
// One that several programs share (busybox) is left alone.
void cover_programs(const std::string& path_variable) {
  const std::string folders = fmt::format("{}:{}", path_variable, kUsualFolders);
  const std::string self = fmt::format("{}/program", kHome);
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

std::optional<std::string> mount_system() {
  if (!mounted("nothing", "/sys", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
               "size=4k")) {
    return failed("/sys cannot be covered");
  }
  constexpr unsigned long kFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mounted("proc", "/proc", "proc", kFlags, {})) {
    return std::nullopt;
  }
  return mounted(nullptr, "/proc", nullptr, MS_REMOUNT | MS_BIND | kFlags, {})
             ? std::nullopt
             : std::optional(failed("/proc cannot be made read-only"));
}

}  // namespace

std::optional<std::string> mount_sandbox(const SandboxRequest& request) {
  if (!mounted(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, {})) {
    return failed("mounts cannot be made private");
  }
  std::vector<Covered> folders = covered_folders(request);
  if (auto why = mount_devices(request)) {
    return why;
  }
  if (auto why = cover_all(folders)) {
    return why;
  }
  if (chdir("/") != 0 || !made_read_only("/")) {
    return failed("/ cannot be made read-only");
  }
  if (auto why = close_what_is_left()) {
    return why;
  }
  std::string path;
  for (const std::string& variable : request.environment) {
    path = variable.starts_with("PATH=") ? variable.substr(5) : path;
  }
  cover_programs(path);
  return mount_system();
}

}  // namespace sextant::capture
