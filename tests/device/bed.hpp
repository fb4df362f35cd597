// Pools on a device with arrays to call them with, and a device that counts what waits.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impl/device/device_pools.hpp"

namespace poolproof {

/// Passes on, and counts the calls that wait for the device or allocate.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(std::shared_ptr<Device> inner) : inner_(std::move(inner)) {}

  int launches = 0;
  int waits = 0;
  int allocations = 0;

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] void* allocate(std::size_t bytes, const char* what) override {
    ++allocations;
    return inner_->allocate(bytes, what);
  }
  void release(void* memory) noexcept override { inner_->release(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { inner_->upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override {
    ++waits;
    inner_->download(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override { inner_->copy(to, from, bytes); }
  void zero(void* at, std::size_t bytes) override { inner_->zero(at, bytes); }
  void launch(const kernels::Launch& launch) override {
    ++launches;
    inner_->launch(launch);
  }
  void launch_aside(const kernels::Launch& launch) override { inner_->launch_aside(launch); }
  void sort_descending(const kernels::Page* in, kernels::Page* out, std::int64_t count, int bits) override {
    inner_->sort_descending(in, out, count, bits);
  }
  void synchronize() override {
    ++waits;
    inner_->synchronize();
  }
  [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& launches_of) override {
    return inner_->record(launches_of);
  }

 private:
  std::shared_ptr<Device> inner_;
};

/// A batch of requests whose arrays lie in device memory.
class Batch {
 public:
  Batch(const std::shared_ptr<Device>& device, std::vector<Pos> prefix, std::vector<Pos> seq, std::vector<Loc> last)
      : prefix_(std::move(prefix)),
        seq_(std::move(seq)),
        device_prefix_(device, size_of(prefix_), "prefix"),
        device_seq_(device, size_of(seq_), "seq"),
        device_last_(device, size_of(last), "last") {
    device_prefix_.upload(prefix_);
    device_seq_.upload(seq_);
    device_last_.upload(last);
  }
  [[nodiscard]] ExtendBatch extend() const {
    return {prefix_, seq_, device_prefix_.data(), device_seq_.data(), device_last_.data()};
  }
  [[nodiscard]] DecodeBatch decode() const { return {seq_, device_seq_.data(), device_last_.data()}; }
  [[nodiscard]] Tokens tokens() const {
    Tokens sum = 0;
    for (std::size_t i = 0; i < seq_.size(); ++i) {
      sum += seq_[i] - prefix_[i];
    }
    return sum;
  }

 private:
  template <typename T>
  static std::int64_t size_of(const std::vector<T>& values) {
    return static_cast<std::int64_t>(values.size());
  }

  std::vector<Pos> prefix_;
  std::vector<Pos> seq_;
  DeviceArray<Pos> device_prefix_;
  DeviceArray<Pos> device_seq_;
  DeviceArray<Loc> device_last_;
};

/// `requests` new ones of `length` tokens.
inline Batch new_requests(const std::shared_ptr<Device>& device, std::int64_t requests, Tokens length) {
  const auto count = static_cast<std::size_t>(requests);
  return {device, std::vector<Pos>(count, 0), std::vector<Pos>(count, length), std::vector<Loc>(count, -1)};
}

inline Geometry paired_geometry(Tokens page, std::int64_t pages) {
  Geometry g;
  g.layout = Layout::hybrid;
  g.page = page;
  g.full = g.swa = page * pages;
  g.window = page;
  return g;
}

/// Is nothing wrong?
inline bool nothing_wrong(const kernels::CensusCounts& c) {
  return c.outside + c.padding + c.repeated + c.peer_outside + c.peer_repeated + c.peer_idle + c.idle_mapped +
             c.tail_wrong ==
         0;
}

}  // namespace poolproof
