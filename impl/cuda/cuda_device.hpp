// A CUDA device with a stream of its own. Memory comes from the device's pool, so that building an allocator for each
// trace costs little; everything is ordered by the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <string>

#include "impl/device/device.hpp"

namespace poolproof {

class CudaDevice final : public Device {
 public:
  /// Throws StorageError.
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice(CudaDevice&&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  CudaDevice& operator=(CudaDevice&&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] void* allocate(std::size_t bytes, const char* what) override;
  void release(void* memory) noexcept override;
  void upload(void* to, const void* from, std::size_t bytes) override;
  void download(void* to, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void zero(void* at, std::size_t bytes) override;
  void launch(const kernels::Launch& launch) override;
  void launch_aside(const kernels::Launch& launch) override;
  void sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int bits) override;
  void synchronize() override;
  [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& launches) override;

 private:
  void launch_on(cudaStream_t stream, const kernels::Launch& launch);
  void check(cudaError_t error, const char* call, std::size_t bytes) const;
  void check_waited(cudaError_t error, const std::string& call) const;
  void select() const;
  [[nodiscard]] StorageError out_of_memory(std::size_t bytes, const char* what) const;

  int ordinal_;
  std::string name_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t aside_ = nullptr;  ///< made when it is first asked for
  void* sort_scratch_ = nullptr;
  std::size_t sort_scratch_bytes_ = 0;
  /// The kernels launched last, for errors that show at a later call.
  std::array<std::size_t, 4> recent_{};
  std::size_t launches_ = 0;
};

}  // namespace poolproof
