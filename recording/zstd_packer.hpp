// Text into one zstd frame, as it comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace poolproof {

class ZstdPacker {
 public:
  ZstdPacker();
  ~ZstdPacker();
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;

  /// Appends to `packed` what is ready so far. Only running out of memory can fail, and throws std::bad_alloc.
  void pack(std::string_view text, std::string& packed);
  /// Ends the frame.
  void finish(std::string& packed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poolproof
