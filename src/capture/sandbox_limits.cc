#include "capture/sandbox_limits.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/errno_text.h"

namespace sextant::capture {
namespace {

constexpr int kMemfdSecret = 447;  // of every processor; headers of the kernel may be older

// What a program asks of the kernel only to leave, to look into others, to change the machine or to
// hold memory that belongs to no process.
constexpr std::array kRefused{
    SYS_socket,    SYS_io_uring_setup, SYS_ptrace,        SYS_process_vm_readv,
    SYS_keyctl,    SYS_add_key,        SYS_request_key,   SYS_bpf,
    SYS_mount,     SYS_umount2,        SYS_pivot_root,    SYS_perf_event_open,
    SYS_unshare,   SYS_setns,          SYS_userfaultfd,   SYS_process_vm_writev,
    SYS_reboot,    SYS_kexec_load,     SYS_init_module,   SYS_finit_module,
    SYS_open_tree, SYS_move_mount,     SYS_fsopen,        SYS_mount_setattr,
    SYS_swapon,    SYS_settimeofday,   SYS_clock_settime, SYS_open_by_handle_at,
    SYS_shmget,    SYS_memfd_create,   SYS_msgget,        kMemfdSecret,
    SYS_connect};

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // of another no filter is known: nothing runs there
#endif

sock_filter statement(std::uint16_t code, std::uint32_t value) {
  return {code, 0, 0, value};
}
sock_filter jump_equal(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {BPF_JMP | BPF_JEQ | BPF_K, yes, no, value};
}

constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;

// A pair of streams is a pipe. One of datagrams can be sent to any socket that has a path.
void add_socketpair(std::vector<sock_filter>& code) {
  constexpr std::uint32_t kTypeBits = 0xf;
  constexpr std::size_t kType = offsetof(seccomp_data, args) + sizeof(std::uint64_t);
  code.push_back(jump_equal(static_cast<std::uint32_t>(SYS_socketpair), 0, 7));
  code.push_back(statement(kLoad, offsetof(seccomp_data, args)));
  code.push_back(jump_equal(AF_UNIX, 0, 3));
  code.push_back(statement(kLoad, kType));
  code.push_back(statement(BPF_ALU | BPF_AND | BPF_K, kTypeBits));
  code.push_back(jump_equal(SOCK_STREAM, 1, 0));
  code.push_back(statement(kReturn, kDeny));
  code.push_back(statement(kReturn, SECCOMP_RET_ALLOW));
}

std::vector<sock_filter> filter() {
  std::vector<sock_filter> code{
      statement(kLoad, offsetof(seccomp_data, arch)), jump_equal(kMachine, 1, 0),
      statement(kReturn, SECCOMP_RET_KILL_PROCESS), statement(kLoad, offsetof(seccomp_data, nr)),
      // Its flags lie in memory, where no filter sees them: libraries fall back to clone.
      jump_equal(static_cast<std::uint32_t>(SYS_clone3), 0, 1),
      statement(kReturn, SECCOMP_RET_ERRNO | ENOSYS)};
#if defined(__x86_64__)
  constexpr std::uint32_t kX32 = 0x40000000;  // calls of another numbering
  code.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, kX32});
  code.push_back(statement(kReturn, SECCOMP_RET_KILL_PROCESS));
#endif
  for (const long call : kRefused) {
    code.push_back(jump_equal(static_cast<std::uint32_t>(call), 0, 1));
    code.push_back(statement(kReturn, kDeny));
  }
  add_socketpair(code);
  code.push_back(jump_equal(static_cast<std::uint32_t>(SYS_clone), 0, 3));
  code.push_back(statement(kLoad, offsetof(seccomp_data, args)));  // its low half, little-endian
  code.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_NEWUSER});
  code.push_back(statement(kReturn, kDeny));
  code.push_back(statement(kReturn, SECCOMP_RET_ALLOW));
  return code;
}

bool limit(__rlimit_resource what, std::int64_t most) {
  rlimit now{};
  getrlimit(what, &now);
  const auto wanted = static_cast<rlim_t>(most);
  const rlim_t value =
      now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted ? now.rlim_max : wanted;
  const rlimit set{value, value};
  return setrlimit(what, &set) == 0;
}

// Sanitizers reserve more addresses than there is memory.
constexpr bool kSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

// root is not asked for a file's mode; of files that can be written at all there are layers alone.
bool keeps(int right) {
  return getuid() == 0 && (right == CAP_DAC_OVERRIDE || right == CAP_FOWNER);
}

bool rights_dropped() {
  constexpr int kMostRights = 64;
  constexpr unsigned kWord = 32;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> kept{};
  // NOLINTBEGIN(cppcoreguidelines-pro-type-vararg): as the kernel has it
  for (int right = 0; right < kMostRights; ++right) {
    if (keeps(right)) {
      __user_cap_data_struct& word = kept.at(static_cast<unsigned>(right) / kWord);
      word.effective |= 1U << (static_cast<unsigned>(right) % kWord);
      word.permitted = word.inheritable = word.effective;
    } else if (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0 && errno != EINVAL) {
      return false;
    }
  }
  constexpr unsigned long kNoRoot = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED;
  if (prctl(PR_SET_SECUREBITS, kNoRoot, 0, 0, 0) != 0 ||
      syscall(SYS_capset, &header, kept.data()) != 0) {
    return false;
  }
  for (int right = 0; right < kMostRights; ++right) {
    if (keeps(right) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, right, 0, 0) != 0) {
      return false;
    }
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  // NOLINTEND(cppcoreguidelines-pro-type-vararg)
}

}  // namespace

std::optional<std::string> give_up_rights(const SandboxLimits& limits) {
  constexpr std::int64_t kMib = std::int64_t{1} << 20U;
  constexpr std::int64_t kAddresses = 4;  // times what may be used: libraries map more than that
  const bool limited =
      limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, limits.seconds) && limit(RLIMIT_NOFILE, 1'024) &&
      limit(RLIMIT_FSIZE, limits.scratch_mib * kMib) && limit(RLIMIT_MSGQUEUE, 0) &&
      // Of a user in all, where the kernel counts that way: the watch over the sandbox is closer.
      limit(RLIMIT_NPROC, std::int64_t{10} * limits.processes) &&
      (kSanitized || limit(RLIMIT_AS, kAddresses * limits.memory_mib * kMib));
  if (!limited) {
    return fmt::format("limits cannot be set: {}", errno_text());
  }
  if (kMachine == 0) {
    return "no filter of system calls is known for this processor";
  }
  if (!rights_dropped()) {
    return fmt::format("rights cannot be given up: {}", errno_text());
  }
  std::vector<sock_filter> code = filter();
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the kernel has it
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    return fmt::format("system calls cannot be filtered: {}", errno_text());
  }
  return std::nullopt;
}

}  // namespace sextant::capture
