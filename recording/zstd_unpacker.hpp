// Zstd frames, unpacked as they come.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace poolproof {

/// A zstd frame, or a skippable one, begins here.
bool begins_zstd(std::string_view head);

class ZstdUnpacker {
 public:
  ZstdUnpacker();
  ~ZstdUnpacker();
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  /// Unpacks into `text` until the input is used up, or `text` has `most_bytes` or somewhat more; what is wrong when it
  /// is no zstd.
  std::optional<std::string> unpack(std::string_view input, std::string& text, std::size_t most_bytes);

  /// A frame has begun and not ended.
  [[nodiscard]] bool inside_frame() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poolproof
