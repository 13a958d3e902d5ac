// Small exports of Nsight Systems as tests make them: tables and rows as SQL.
#pragma once

#include <string>

#include "profile/nsys.h"

namespace sextant::profile {

// The bytes of the database that these statements make; asserts that sqlite takes them.
std::string database_of(const std::string& sql);

// Names beginning with "nccl" communicate, all others compute.
NsysOptions plain_nsys_options();

}  // namespace sextant::profile
