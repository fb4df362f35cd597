#include "impl/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "impl/cuda/cuda_error.hpp"
#include "kernels/cuda_entries.hpp"

namespace poolproof {
namespace {

/// A graph ready to run, on the stream that it was recorded from.
class CudaRecording final : public Recording {
 public:
  CudaRecording(std::string where, cudaStream_t stream, cudaGraph_t graph)
      : where_(std::move(where)), stream_(stream), graph_(graph) {
    check_cuda(cudaGraphInstantiate(&runnable_, graph_, 0), "cudaGraphInstantiate", where_);
  }
  ~CudaRecording() override {
    // Nothing can be done about an error here; the next call of the device reports it.
    if (runnable_ != nullptr) {
      cudaGraphExecDestroy(runnable_);
    }
    cudaGraphDestroy(graph_);
  }
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording(CudaRecording&&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;
  CudaRecording& operator=(CudaRecording&&) = delete;

  void replay() override { check_cuda(cudaGraphLaunch(runnable_, stream_), "cudaGraphLaunch", where_); }

 private:
  std::string where_;
  cudaStream_t stream_;
  cudaGraph_t graph_;
  cudaGraphExec_t runnable_ = nullptr;
};

std::string device_name(int ordinal) {
  cudaDeviceProp properties{};
  const std::string where = fmt::format("device {}", ordinal);
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties", where);
  return fmt::format("{} ({})", properties.name, where);
}

/// What is freed stays with the process: building an allocator for each trace then costs no call of the driver.
void keep_freed_memory(int ordinal, const std::string& where) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, ordinal), "cudaDeviceGetDefaultMemPool", where);
  std::uint64_t all = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute", where);
}

}  // namespace

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal), name_(device_name(ordinal)) {
  select();
  keep_freed_memory(ordinal_, name_);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", 0);
}

CudaDevice::~CudaDevice() {
  // Errors were reported where they arose; destroying in their wake fails again and changes nothing.
  if (sort_scratch_ != nullptr) {
    cudaFreeAsync(sort_scratch_, stream_);
  }
  if (aside_ != nullptr) {
    cudaStreamSynchronize(aside_);
    cudaStreamDestroy(aside_);
  }
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

void CudaDevice::select() const { check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice", name_); }

void CudaDevice::check(cudaError_t error, const char* call, std::size_t bytes) const {
  if (error != cudaSuccess) {
    check_cuda(error, bytes == 0 ? std::string(call) : fmt::format("{} of {} bytes", call, bytes), name_);
  }
}

/// A call that waits reports what went wrong in the launches before it.
void CudaDevice::check_waited(cudaError_t error, const std::string& call) const {
  if (error == cudaSuccess) {
    return;
  }
  std::string behind;
  for (std::size_t i = std::min(launches_, recent_.size()); i > 0; --i) {
    behind += fmt::format("{}{}", behind.empty() ? " after " : ", ",
                          kernels::kernel_name(recent_[(launches_ - i) % recent_.size()]));
  }
  check_cuda(error, call + behind, name_);
}

StorageError CudaDevice::out_of_memory(std::size_t bytes, const char* what) const {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", 0);
  return {
      fmt::format("out of device memory: {} bytes wanted for {}, {} of {} free on {}; take a smaller `full` or `swa`",
                  bytes, what, free, total, name_),
      "out of device memory", false};
}

void* CudaDevice::allocate(std::size_t bytes, const char* what) {
  select();
  void* memory = nullptr;
  cudaError_t error = cudaMallocAsync(&memory, bytes, stream_);
  if (error == cudaErrorMemoryAllocation) {
    // What other allocators gave back may lie in the pool in pieces.
    cudaGetLastError();
    synchronize();
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, ordinal_), "cudaDeviceGetDefaultMemPool", 0);
    check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo", 0);
    error = cudaMallocAsync(&memory, bytes, stream_);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it was taken note of
    throw out_of_memory(bytes, what);
  }
  check(error, "cudaMallocAsync", bytes);
  zero(memory, bytes);
  return memory;
}

void CudaDevice::release(void* memory) noexcept {
  // After a sticky error the context is gone, and the memory with it.
  cudaFreeAsync(memory, stream_);
}

void CudaDevice::upload(void* to, const void* from, std::size_t bytes) {
  select();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync to the device", bytes);
}

void CudaDevice::download(void* to, const void* from, std::size_t bytes) {
  select();
  // Into memory that is not pinned the copy waits by itself.
  if (const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_);
      error != cudaSuccess) {
    check_waited(error, fmt::format("cudaMemcpyAsync to the host of {} bytes", bytes));
  }
  check_waited(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  select();
  if (bytes > 0) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync on the device", bytes);
  }
}

void CudaDevice::zero(void* at, std::size_t bytes) {
  select();
  check(cudaMemsetAsync(at, 0, bytes, stream_), "cudaMemsetAsync", bytes);
}

void CudaDevice::launch(const kernels::Launch& launch) { launch_on(stream_, launch); }

void CudaDevice::launch_aside(const kernels::Launch& launch) {
  if (aside_ == nullptr) {
    select();
    check(cudaStreamCreateWithFlags(&aside_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", 0);
  }
  launch_on(aside_, launch);
}

void CudaDevice::launch_on(cudaStream_t stream, const kernels::Launch& launch) {
  select();
  void* argument = const_cast<void*>(launch.body);  // the runtime's signature; it copies the value
  recent_[launches_++ % recent_.size()] = launch.number;
  const cudaError_t error =
      cudaLaunchKernel(kernels::cuda_entry(launch.number), dim3(static_cast<unsigned>(launch.blocks)),
                       dim3(static_cast<unsigned>(launch.threads)), &argument, 0, stream);
  if (error != cudaSuccess) {
    check_cuda(error,
               fmt::format("the launch of {} ({} blocks of {} threads)", kernels::kernel_name(launch.number),
                           launch.blocks, launch.threads),
               name_);
  }
}

void CudaDevice::sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int bits) {
  select();
  cudaError_t error = cudaSuccess;
  const std::size_t bytes = kernels::cuda_sort_scratch_bytes(count, bits, error);
  check(error, "sizing a sort", 0);
  if (bytes > sort_scratch_bytes_) {
    if (sort_scratch_ != nullptr) {
      check(cudaFreeAsync(std::exchange(sort_scratch_, nullptr), stream_), "cudaFreeAsync", 0);
    }
    sort_scratch_bytes_ = 0;
    sort_scratch_ = allocate(bytes, "sorting");
    sort_scratch_bytes_ = bytes;
  }
  check(kernels::cuda_sort_descending(sort_scratch_, sort_scratch_bytes_, in, out, count, bits, stream_),
        "the launch of a sort", static_cast<std::size_t>(count) * sizeof(kernels::Page));
}

void CudaDevice::synchronize() {
  select();
  check_waited(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

std::unique_ptr<Recording> CudaDevice::record(const std::function<void()>& launches) {
  select();
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture", 0);
  cudaGraph_t graph = nullptr;
  try {
    launches();
  } catch (...) {
    // The capture ends, and what went wrong in it is told, not that it was broken off.
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) {
      cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture", 0);
  return std::make_unique<CudaRecording>(name_, stream_, graph);
}

}  // namespace poolproof
