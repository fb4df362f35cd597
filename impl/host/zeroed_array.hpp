// A fixed array that reads zero until it is written. The system hands out zeroed memory page by page on first touch, so
// the KV and the mapping of a production-sized pool cost next to nothing until tokens are lent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace poolproof {

/// T is a number. Throws std::bad_alloc when the address space is exhausted; a copy touches all of it.
template <typename T>
class ZeroedArray {
  static_assert(std::is_arithmetic_v<T>);

 public:
  explicit ZeroedArray(std::size_t size = 0) : size_(size), data_(allocate(size)) {}
  ~ZeroedArray() = default;
  ZeroedArray(const ZeroedArray& other) : size_(other.size_), data_(allocate(other.size_)) { copy_from(other); }
  ZeroedArray(ZeroedArray&&) noexcept = default;
  ZeroedArray& operator=(const ZeroedArray& other) {
    if (this != &other) {
      if (size_ != other.size_) {
        data_ = allocate(other.size_);
        size_ = other.size_;
      }
      copy_from(other);
    }
    return *this;
  }
  ZeroedArray& operator=(ZeroedArray&&) noexcept = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  [[nodiscard]] std::span<T> span() { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  struct Release {
    void operator()(T* memory) const { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc)
  };
  using Memory = std::unique_ptr<T[], Release>;

  static Memory allocate(std::size_t size) {
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): nothing in std hands out memory that is zero before it is touched
    Memory memory(static_cast<T*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(T))));
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return memory;
  }
  void copy_from(const ZeroedArray& other) { std::copy_n(other.data_.get(), size_, data_.get()); }

  std::size_t size_;
  Memory data_;
};

}  // namespace poolproof
