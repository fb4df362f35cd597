// A value of a type that is known by its interface alone: whoever holds it is copyable as ever, and a copy clones.
#pragma once

#include <memory>
#include <utility>

namespace poolproof {

/// T has `std::unique_ptr<T> clone() const`, and `bool assign(const T&)`, which is tried before a clone is made: false
/// where it cannot become a copy of the other in place. Never empty but after it was moved from, when it can be
/// assigned to alone.
template <typename T>
class Cloned {
 public:
  explicit Cloned(std::unique_ptr<T> value) : value_(std::move(value)) {}
  ~Cloned() = default;
  Cloned(const Cloned& other) : value_(other.value_->clone()) {}
  Cloned(Cloned&&) noexcept = default;
  Cloned& operator=(const Cloned& other) {
    if (this != &other && (value_ == nullptr || !value_->assign(*other.value_))) {
      value_ = other.value_->clone();
    }
    return *this;
  }
  Cloned& operator=(Cloned&&) noexcept = default;

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace poolproof
