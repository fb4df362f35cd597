// A fuzzer's bytes as a source of choices: two bytes a draw, 0 when they have run out.
#pragma once

#include <cstdint>
#include <span>

#include "props/choices.hpp"

namespace poolproof {

class ByteChoices final : public Choices {
 public:
  /// Bytes of one draw.
  static constexpr std::size_t width = 2;

  /// `bytes` outlive it.
  explicit ByteChoices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t draw(std::uint64_t bound) override {
    if (exhausted()) {
      return 0;
    }
    const std::uint64_t value = std::uint64_t{bytes_[0]} | std::uint64_t{bytes_[1]} << 8U;
    bytes_ = bytes_.subspan(width);
    return value % bound;
  }
  [[nodiscard]] bool exhausted() const { return bytes_.size() < width; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace poolproof
