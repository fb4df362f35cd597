#include "impl/device/host_grid_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace poolproof {
namespace {

class HostRecording final : public Recording {
 public:
  explicit HostRecording(std::vector<std::function<void()>> work) : work_(std::move(work)) {}
  void replay() override {
    for (const std::function<void()>& one : work_) {
      one();
    }
  }

 private:
  std::vector<std::function<void()>> work_;
};

}  // namespace

void* HostGridDevice::allocate(std::size_t bytes, const char* what) {
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): nothing in std hands out memory that is zero before it is touched
  void* memory = std::calloc(std::max<std::size_t>(bytes, 1), 1);
  if (memory == nullptr) {
    throw StorageError(fmt::format("out of memory: {} bytes wanted for {}", bytes, what), "out of memory", false);
  }
  return memory;
}

void HostGridDevice::release(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

/// Now, or when the recording is replayed.
void HostGridDevice::perform(std::function<void()> work) {
  if (recording_ != nullptr) {
    recording_->push_back(std::move(work));
  } else {
    work();
  }
}

void HostGridDevice::upload(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

void HostGridDevice::download(void* to, const void* from, std::size_t bytes) {
  if (recording_ != nullptr) {
    throw StorageError("a download cannot be recorded: it waits", "download while recording", false);
  }
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
  run_late();
}

void HostGridDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    perform([to, from, bytes] { std::memcpy(to, from, bytes); });
  }
}

void HostGridDevice::zero(void* at, std::size_t bytes) {
  if (bytes > 0) {
    perform([at, bytes] { std::memset(at, 0, bytes); });
  }
}

void HostGridDevice::launch(const kernels::Launch& launch) {
  if (recording_ == nullptr) {
    kernels::run_on_host(launch, orders_);
    return;
  }
  perform(launching(launch));
}

void HostGridDevice::launch_aside(const kernels::Launch& launch) { late_.push_back(launching(launch)); }

/// A launch to be made later, with a copy of its kernel.
std::function<void()> HostGridDevice::launching(const kernels::Launch& launch) {
  const auto* first = static_cast<const std::byte*>(launch.body);
  auto body = std::make_shared<std::vector<std::byte>>(first, first + launch.body_bytes);
  return [this, later = launch, body]() mutable {
    later.body = body->data();
    kernels::run_on_host(later, orders_);
  };
}

void HostGridDevice::run_late() {
  for (const std::function<void()>& launch : std::exchange(late_, {})) {
    launch();
  }
}

void HostGridDevice::sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int /*bits*/) {
  perform([in, out, count] {
    std::copy_n(in, count, out);
    std::sort(out, out + count, std::greater<>());
  });
}

std::unique_ptr<Recording> HostGridDevice::record(const std::function<void()>& launches) {
  std::vector<std::function<void()>> work;
  recording_ = &work;
  try {
    launches();
  } catch (...) {
    recording_ = nullptr;
    throw;
  }
  recording_ = nullptr;
  return std::make_unique<HostRecording>(std::move(work));
}

}  // namespace poolproof
