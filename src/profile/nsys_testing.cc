#include "profile/nsys_testing.h"

#include <stdexcept>

#include <sqlite3.h>

namespace sextant::profile {

std::string database_of(const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  char* error = nullptr;
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error);
  if (error != nullptr) {
    throw std::runtime_error(error);
  }
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string held(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return held;
}

NsysOptions plain_nsys_options() {
  return {.kernels = [](std::string_view name) {
    KernelMeaning meaning;
    if (name.starts_with("nccl")) {
      meaning.kind = timeline::SpanKind::kCommunication;
    }
    if (name.find("SendRecv") != std::string_view::npos) {
      meaning.op = CollectiveOp::kSendReceive;
    }
    return meaning;
  }};
}

}  // namespace sextant::profile
