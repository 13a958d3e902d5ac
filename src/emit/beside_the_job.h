// What the files leave open but does not concern the job's layout, batch or speed: where data and
// checkpoints lie, addresses of hosts, logging. It is counted, not listed.
#pragma once

#include "emit/settings.h"

namespace sextant::emit {

// Its setting may be any (`any`): never beside the job.
bool is_beside_the_job(const Unresolved& unresolved);

}  // namespace sextant::emit
