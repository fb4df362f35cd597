// The devices that tests run on: the host grid everywhere, a GPU where there is one. A test on a GPU that is not there
// is skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "impl/cuda/cuda.hpp"
#include "impl/device/host_grid_device.hpp"

namespace poolproof {

enum class DeviceName : std::uint8_t { host_grid, cuda };

inline std::string device_test_name(const testing::TestParamInfo<DeviceName>& info) {
  return info.param == DeviceName::cuda ? "cuda" : "host_grid";
}

inline const auto all_devices = testing::Values(DeviceName::host_grid, DeviceName::cuda);

/// A fixture with `device`.
class OnDevice : public testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceName::host_grid) {
      device = std::make_shared<HostGridDevice>(1);
      return;
    }
    if (const auto missing = cuda_missing()) {
      GTEST_SKIP() << "skipped: " << *missing;
    }
    auto opened = open_cuda(0);
    ASSERT_TRUE(opened.ok()) << opened.error();
    device = *opened;
  }

  std::shared_ptr<Device> device;
};

}  // namespace poolproof
