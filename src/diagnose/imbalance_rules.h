// Rules on work that is dealt unevenly: sequence-imbalance, expert-imbalance.
//
// Uneven lengths: attention, which grows with their squares, takes now this rank longer and now
// that one, while other work of the ranks varies less. Uneven routing: the kernels of experts take
// some ranks of a group longer than others, and more so than all else they do, which a slow device
// does not do. What it costs is what ranks wait for one another: if all had the mean of the work,
// no one would.
#pragma once

#include "diagnose/communication.h"
#include "diagnose/diagnosis.h"

namespace sextant::diagnose {

Findings uneven_work(const Scene& scene, const CommunicationTimes& times);

}  // namespace sextant::diagnose
