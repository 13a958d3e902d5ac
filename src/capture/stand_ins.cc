#include "capture/stand_ins.h"

#include <algorithm>
#include <array>

namespace sextant::capture {
namespace {

constexpr auto kTraining = StandInKind::kTraining;
constexpr auto kPython = StandInKind::kPython;
constexpr auto kLauncher = StandInKind::kLauncher;
constexpr auto kWrapper = StandInKind::kWrapper;
constexpr auto kNetwork = StandInKind::kNetwork;

constexpr std::array kStandIns{StandIn{"torchrun", kTraining},
                               StandIn{"deepspeed", kTraining},
                               StandIn{"accelerate", kTraining},
                               StandIn{"ray", kTraining},
                               StandIn{"composer", kTraining},
                               StandIn{"tune", kTraining},
                               StandIn{"swift", kTraining},
                               StandIn{"megatron", kTraining},
                               StandIn{"llamafactory-cli", kTraining},
                               StandIn{"axolotl", kTraining},
                               StandIn{"xpk", kTraining},
                               StandIn{"nemo", kTraining},
                               StandIn{"flagscale", kTraining},
                               StandIn{"primus-cli", kTraining},
                               StandIn{"python", kPython},
                               StandIn{"python2", kPython},
                               StandIn{"python3", kPython},
                               StandIn{"pypy3", kPython},
                               StandIn{"ipython", kPython},
                               StandIn{"srun", kLauncher},
                               StandIn{"mpirun", kLauncher},
                               StandIn{"mpiexec", kLauncher},
                               StandIn{"mpiexec.hydra", kLauncher},
                               StandIn{"salloc", kLauncher},
                               StandIn{"docker", kLauncher},
                               StandIn{"podman", kLauncher},
                               StandIn{"singularity", kLauncher},
                               StandIn{"apptainer", kLauncher},
                               StandIn{"enroot", kLauncher},
                               StandIn{"shifter", kLauncher},
                               StandIn{"numactl", kWrapper},
                               StandIn{"nsys", kWrapper},
                               StandIn{"ncu", kWrapper},
                               StandIn{"rocprof", kWrapper},
                               StandIn{"dlprof", kWrapper},
                               StandIn{"uv", kWrapper},
                               StandIn{"conda", kWrapper},
                               StandIn{"mamba", kWrapper},
                               StandIn{"micromamba", kWrapper},
                               StandIn{"sudo", kWrapper},
                               StandIn{"sbatch", StandInKind::kBatch},
                               StandIn{"nvidia-smi", StandInKind::kDevices},
                               StandIn{"rocm-smi", StandInKind::kDevices},
                               StandIn{"amd-smi", StandInKind::kDevices},
                               StandIn{"scontrol", StandInKind::kNodes},
                               StandIn{"squeue", kNetwork},
                               StandIn{"sinfo", kNetwork},
                               StandIn{"sacct", kNetwork},
                               StandIn{"scancel", kNetwork},
                               StandIn{"curl", kNetwork},
                               StandIn{"wget", kNetwork},
                               StandIn{"ssh", kNetwork},
                               StandIn{"scp", kNetwork},
                               StandIn{"sftp", kNetwork},
                               StandIn{"rsync", kNetwork},
                               StandIn{"git", kNetwork},
                               StandIn{"pip", kNetwork},
                               StandIn{"pip3", kNetwork},
                               StandIn{"apt", kNetwork},
                               StandIn{"apt-get", kNetwork},
                               StandIn{"yum", kNetwork},
                               StandIn{"dnf", kNetwork},
                               StandIn{"npm", kNetwork},
                               StandIn{"aws", kNetwork},
                               StandIn{"gsutil", kNetwork},
                               StandIn{"gcloud", kNetwork},
                               StandIn{"az", kNetwork},
                               StandIn{"kubectl", kNetwork},
                               StandIn{"helm", kNetwork},
                               StandIn{"huggingface-cli", kNetwork},
                               StandIn{"hf", kNetwork},
                               StandIn{"wandb", kNetwork},
                               StandIn{"ping", kNetwork},
                               StandIn{"nc", kNetwork},
                               StandIn{"telnet", kNetwork},
                               StandIn{"ds_ssh", kNetwork},
                               StandIn{"pdsh", kNetwork},
                               StandIn{"module", StandInKind::kIdle},
                               StandIn{"ml", StandInKind::kIdle},
                               StandIn{"sleep", StandInKind::kIdle}};

bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::span<const StandIn> stand_ins() {
  return kStandIns;
}

const StandIn* stand_in_of(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const auto* const found = std::ranges::find(kStandIns, name, &StandIn::name);
  if (found != kStandIns.end()) {
    return found;
  }
  constexpr std::string_view kPythonName = "python";
  return name.starts_with(kPythonName) && is_version(name.substr(kPythonName.size()))
             ? std::ranges::find(kStandIns, kPythonName, &StandIn::name)
             : nullptr;
}

}  // namespace sextant::capture
