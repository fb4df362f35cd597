// Where decisions come from. One generator draws every decision from a Choices; the source behind it is a counter-based
// random stream, a tape (rapidcheck's, a fuzzer's), or later an odometer that enumerates all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poolproof {

class Choices {
 public:
  Choices() = default;
  virtual ~Choices() = default;
  Choices(const Choices&) = default;
  Choices& operator=(const Choices&) = default;
  Choices(Choices&&) = default;
  Choices& operator=(Choices&&) = default;

  /// A number in [0, bound). bound >= 1. 0 is the plainest choice: tapes that run out answer 0.
  virtual std::uint64_t draw(std::uint64_t bound) = 0;

  /// True with odds num/den.
  bool odds(std::uint64_t num, std::uint64_t den) { return draw(den) < num; }
  /// A number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(high - low) + 1));
  }
};

/// A counter-based random stream: the n-th draw is a hash of (seed, stream, n), the same on every machine and compiler.
class RandomChoices final : public Choices {
 public:
  RandomChoices(std::uint64_t seed, std::uint64_t stream);
  std::uint64_t draw(std::uint64_t bound) override;

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

/// Reads decisions from a tape; answers 0 when it has run out.
class TapeChoices final : public Choices {
 public:
  explicit TapeChoices(std::vector<std::uint64_t> tape) : tape_(std::move(tape)) {}
  std::uint64_t draw(std::uint64_t bound) override;
  [[nodiscard]] bool exhausted() const { return next_ >= tape_.size(); }

 private:
  std::vector<std::uint64_t> tape_;
  std::size_t next_ = 0;
};

}  // namespace poolproof
