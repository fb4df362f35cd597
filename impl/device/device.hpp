// What the device allocators run on: memory, copies and launches in one order. A GPU (impl/cuda/), or the host grid
// (impl/device/host_grid_device.hpp), which runs the same kernels without one.
//
// Everything is ordered: a launch sees what was launched and copied before. Only download() and synchronize() wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "impl/storage_error.hpp"
#include "kernels/all.hpp"

namespace poolproof {

/// Launches that were recorded and run again as one (a CUDA graph).
class Recording {
 public:
  Recording() = default;
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording(Recording&&) = delete;
  Recording& operator=(const Recording&) = delete;
  Recording& operator=(Recording&&) = delete;
  virtual void replay() = 0;
};

class Device {
 public:
  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(const Device&) = delete;
  Device& operator=(Device&&) = delete;

  /// For people: "NVIDIA H200 (device 0)".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Memory that reads zero. Throws StorageError with the bytes wanted and free; `what` is for that.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, const char* what) = 0;
  virtual void release(void* memory) noexcept = 0;

  /// `from` belongs to the caller again when it returns.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void zero(void* at, std::size_t bytes) = 0;
  virtual void launch(const kernels::Launch& launch) = 0;
  /// On a second stream, which nothing orders with anything else: what planted faults forget to wait for. On the host
  /// grid it comes after the next thing that waits.
  virtual void launch_aside(const kernels::Launch& launch) = 0;
  /// out[0..count) = in, descending; pages below 2^bits. `in` and `out` do not overlap.
  virtual void sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int bits) = 0;
  virtual void synchronize() = 0;
  /// What `launches` launches is kept instead of run. It must neither wait nor allocate.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(const std::function<void()>& launches) = 0;

  template <typename Kernel>
  void run(const Kernel& kernel, std::int64_t blocks) {
    launch(kernels::launch_of(kernel, blocks));
  }
};

/// An array in device memory, zero at first. A copy is a copy of the memory, on the same device.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  DeviceArray(std::shared_ptr<Device> device, std::int64_t size, const char* what)
      : device_(std::move(device)), size_(size), what_(what), data_(allocate()) {}
  DeviceArray(const DeviceArray& other)
      : device_(other.device_), size_(other.size_), what_(other.what_), data_(allocate()) {
    if (size_ > 0) {
      device_->copy(data_, other.data_, bytes());
    }
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  /// Of one size on one device the memory is kept.
  DeviceArray& operator=(const DeviceArray& other) {
    if (device_ == other.device_ && size_ == other.size_) {
      copy_from(other.data_, other.size_);
    } else {
      DeviceArray copy(other);
      swap(copy);
    }
    return *this;
  }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) {
      device_->release(data_);
    }
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  // An array that a layout does not have is empty, and nothing is asked of its device.

  void zero() {
    if (size_ > 0) {
      device_->zero(data_, bytes());
    }
  }
  /// The first values.
  void upload(std::span<const T> values) {
    if (!values.empty()) {
      device_->upload(data_, values.data(), values.size_bytes());
    }
  }
  void download(std::span<T> values) const {
    if (!values.empty()) {
      device_->download(values.data(), data_, values.size_bytes());
    }
  }
  /// `count` values of another array of the same device.
  void copy_from(const T* other, std::int64_t count) {
    if (count > 0) {
      device_->copy(data_, other, static_cast<std::size_t>(count) * sizeof(T));
    }
  }
  /// At least so many, what they hold forgotten when it takes a new array.
  void grow(std::int64_t size) {
    if (size > size_) {
      *this = DeviceArray(device_, size + size / 2, what_);
    }
  }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(what_, other.what_);
    std::swap(data_, other.data_);
  }
  T* allocate() {
    return device_ == nullptr || size_ == 0 ? nullptr : static_cast<T*>(device_->allocate(bytes(), what_));
  }

  std::shared_ptr<Device> device_;
  std::int64_t size_ = 0;
  const char* what_ = "";
  T* data_ = nullptr;
};

}  // namespace poolproof
