#include "impl/cuda/cuda_memory.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "impl/cuda/cuda_error.hpp"

namespace poolproof {
namespace {

/// All that is used is as old as CUDA 10.2; the entry points of 12.0 are asked for.
constexpr unsigned entry_points_of = 12000;

void* pointer(Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

template <typename Entry>
void load(Entry& entry, const char* symbol, const std::string& where) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  check_cuda(cudaGetDriverEntryPointByVersion(symbol, &found, entry_points_of, cudaEnableDefault, &answer), symbol,
             where);
  if (answer != cudaDriverEntryPointSuccess || found == nullptr) {
    throw StorageError(fmt::format("{}: the driver has no {}; it is too old for a memory saver", where, symbol),
                       "cuda:no entry point");
  }
  entry = reinterpret_cast<Entry>(found);
}

CudaDriver load_driver(const std::string& where) {
  CudaDriver driver;
  load(driver.granularity, "cuMemGetAllocationGranularity", where);
  load(driver.reserve, "cuMemAddressReserve", where);
  load(driver.unreserve, "cuMemAddressFree", where);
  load(driver.create, "cuMemCreate", where);
  load(driver.release, "cuMemRelease", where);
  load(driver.map, "cuMemMap", where);
  load(driver.unmap, "cuMemUnmap", where);
  load(driver.set_access, "cuMemSetAccess", where);
  load(driver.error_string, "cuGetErrorString", where);
  return driver;
}

std::string device_name(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties",
             fmt::format("device {}", ordinal));
  return fmt::format("{} (device {})", properties.name, ordinal);
}

SaverFault runtime_fault(cudaError_t error, const char* call, std::size_t bytes) {
  if (error == cudaSuccess) {
    return std::nullopt;
  }
  const bool lack = error == cudaErrorMemoryAllocation;
  return SaverError{lack ? SaverErrorKind::out_of_memory : SaverErrorKind::device,
                    fmt::format("{} of {} bytes: {}", call, bytes, cuda_error_text(error))};
}

}  // namespace

CudaMemory::CudaMemory(int ordinal) : ordinal_(ordinal), name_(device_name(ordinal)) {
  check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice", name_);
  check_cuda(cudaFree(nullptr), "cudaFree", name_);  // makes the context, which the driver's calls need
  driver_ = load_driver(name_);
  kind_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  kind_.location.id = ordinal_;
  std::size_t granule = 0;
  if (SaverFault fault =
          driver_fault(driver_.granularity(&granule, &kind_, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granularity", 0)) {
    throw StorageError(name_ + ": " + fault->text, "cuda:no virtual memory");
  }
  granule_bytes_ = static_cast<std::int64_t>(granule);
}

CudaMemory::~CudaMemory() {
  // Errors were told where they arose; nothing more can be done about them here.
  for (const auto& [address, bytes] : mapped_) {
    driver_.unmap(address, static_cast<std::size_t>(bytes));
  }
  for (const MemoryHandle handle : created_) {
    driver_.release(handle);
  }
  for (const auto& [address, bytes] : reserved_) {
    driver_.unreserve(address, static_cast<std::size_t>(bytes));
  }
  for (const Address address : allocated_) {
    cudaFree(pointer(address));
  }
}

SaverFault CudaMemory::driver_fault(CUresult result, const char* call, std::int64_t bytes) const {
  if (result == CUDA_SUCCESS) {
    return std::nullopt;
  }
  const char* text = nullptr;
  driver_.error_string(result, &text);
  return SaverError{result == CUDA_ERROR_OUT_OF_MEMORY ? SaverErrorKind::out_of_memory : SaverErrorKind::device,
                    fmt::format("{} of {} bytes: {}", call, bytes, text == nullptr ? "an unknown error" : text)};
}

std::int64_t CudaMemory::used_bytes() const {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", name_);
  return static_cast<std::int64_t>(total - free);
}

Result<Address, SaverError> CudaMemory::reserve(std::int64_t bytes) {
  CUdeviceptr address = 0;
  if (SaverFault fault = driver_fault(driver_.reserve(&address, static_cast<std::size_t>(bytes), 0, 0, 0),
                                      "cuMemAddressReserve", bytes)) {
    return *std::move(fault);
  }
  reserved_[address] = bytes;
  return static_cast<Address>(address);
}

void CudaMemory::unreserve(Address address, std::int64_t bytes) {
  driver_.unreserve(address, static_cast<std::size_t>(bytes));
  reserved_.erase(address);
}

Result<MemoryHandle, SaverError> CudaMemory::create(std::int64_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  if (SaverFault fault =
          driver_fault(driver_.create(&handle, static_cast<std::size_t>(bytes), &kind_, 0), "cuMemCreate", bytes)) {
    return *std::move(fault);
  }
  created_.insert(handle);
  return static_cast<MemoryHandle>(handle);
}

SaverFault CudaMemory::map(Address address, std::int64_t bytes, MemoryHandle handle) {
  const auto size = static_cast<std::size_t>(bytes);
  if (SaverFault fault = driver_fault(driver_.map(address, size, 0, handle, 0), "cuMemMap", bytes)) {
    return fault;
  }
  mapped_[address] = bytes;
  CUmemAccessDesc access{};
  access.location = kind_.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  SaverFault fault = driver_fault(driver_.set_access(address, size, &access, 1), "cuMemSetAccess", bytes);
  if (!fault) {
    fault = fill(address, bytes, std::byte{0});  // what the driver hands out is not said to be zero
  }
  if (fault) {
    (void)unmap(address, bytes);  // the first error is the one to tell
  }
  return fault;
}

SaverFault CudaMemory::unmap(Address address, std::int64_t bytes) {
  mapped_.erase(address);
  return driver_fault(driver_.unmap(address, static_cast<std::size_t>(bytes)), "cuMemUnmap", bytes);
}

SaverFault CudaMemory::release(MemoryHandle handle) {
  created_.erase(handle);
  return driver_fault(driver_.release(handle), "cuMemRelease", 0);
}

Result<Address, SaverError> CudaMemory::allocate(std::int64_t bytes) {
  void* at = nullptr;
  if (SaverFault fault = runtime_fault(cudaMalloc(&at, static_cast<std::size_t>(bytes)), "cudaMalloc",
                                       static_cast<std::size_t>(bytes))) {
    cudaGetLastError();  // a lack of memory is not an error of later calls
    return *std::move(fault);
  }
  const auto address = reinterpret_cast<Address>(at);
  allocated_.insert(address);
  if (SaverFault fault = fill(address, bytes, std::byte{0})) {
    return *std::move(fault);
  }
  return address;
}

void CudaMemory::free(Address address, std::int64_t /*bytes*/) {
  cudaFree(pointer(address));
  allocated_.erase(address);
}

SaverFault CudaMemory::write(Address address, std::span<const std::byte> from) {
  return runtime_fault(cudaMemcpy(pointer(address), from.data(), from.size(), cudaMemcpyHostToDevice), "cudaMemcpy",
                       from.size());
}

SaverFault CudaMemory::read(Address address, std::span<std::byte> to) const {
  return runtime_fault(cudaMemcpy(to.data(), pointer(address), to.size(), cudaMemcpyDeviceToHost), "cudaMemcpy",
                       to.size());
}

SaverFault CudaMemory::write_stamps(Address address, std::int64_t stride, std::span<const Stamp> stamps) {
  return runtime_fault(cudaMemcpy2D(pointer(address), static_cast<std::size_t>(stride), stamps.data(), sizeof(Stamp),
                                    sizeof(Stamp), stamps.size(), cudaMemcpyHostToDevice),
                       "cudaMemcpy2D", stamps.size_bytes());
}

SaverFault CudaMemory::read_stamps(Address address, std::int64_t stride, std::span<Stamp> stamps) const {
  return runtime_fault(cudaMemcpy2D(stamps.data(), sizeof(Stamp), pointer(address), static_cast<std::size_t>(stride),
                                    sizeof(Stamp), stamps.size(), cudaMemcpyDeviceToHost),
                       "cudaMemcpy2D", stamps.size_bytes());
}

SaverFault CudaMemory::fill(Address address, std::int64_t bytes, std::byte value) {
  const auto size = static_cast<std::size_t>(bytes);
  if (SaverFault fault =
          runtime_fault(cudaMemset(pointer(address), std::to_integer<int>(value), size), "cudaMemset", size)) {
    return fault;
  }
  return runtime_fault(cudaDeviceSynchronize(), "cudaDeviceSynchronize", size);
}

}  // namespace poolproof
