// A device without a device: the kernels run on the host, their blocks and threads in orders drawn from a seed.
#pragma once

#include "impl/device/device.hpp"
#include "kernels/host_grid.hpp"

namespace poolproof {

class HostGridDevice final : public Device {
 public:
  explicit HostGridDevice(std::uint64_t seed) : orders_(seed) {}

  [[nodiscard]] std::string name() const override { return "the host grid"; }
  [[nodiscard]] void* allocate(std::size_t bytes, const char* what) override;
  void release(void* memory) noexcept override;
  void upload(void* to, const void* from, std::size_t bytes) override;
  void download(void* to, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void zero(void* at, std::size_t bytes) override;
  void launch(const kernels::Launch& launch) override;
  void launch_aside(const kernels::Launch& launch) override;
  void sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int bits) override;
  void synchronize() override { run_late(); }
  [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& launches) override;

 private:
  void perform(std::function<void()> work);
  [[nodiscard]] std::function<void()> launching(const kernels::Launch& launch);
  void run_late();

  kernels::OrderStream orders_;
  std::vector<std::function<void()>>* recording_ = nullptr;
  std::vector<std::function<void()>> late_;  ///< launched aside
};

}  // namespace poolproof
