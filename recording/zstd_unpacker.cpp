#include "recording/zstd_unpacker.hpp"

#include <zstd.h>

#include <vector>

namespace poolproof {

struct ZstdUnpacker::State {
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream{ZSTD_createDStream(), &ZSTD_freeDStream};
  std::vector<char> output = std::vector<char>(ZSTD_DStreamOutSize());
  bool inside_frame = false;
};

bool begins_zstd(std::string_view head) {
  return head.starts_with("\x28\xB5\x2F\xFD") ||
         (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50 &&
          head.substr(1, 3) == "\x2A\x4D\x18");
}

ZstdUnpacker::ZstdUnpacker() : state_(std::make_unique<State>()) {}
ZstdUnpacker::~ZstdUnpacker() = default;

bool ZstdUnpacker::inside_frame() const { return state_->inside_frame; }

std::optional<std::string> ZstdUnpacker::unpack(std::string_view input, std::string& text, std::size_t most_bytes) {
  State& s = *state_;
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  bool held_back = false;  // what did not fit into the output is still inside the stream
  while ((in.pos < in.size || held_back) && text.size() < most_bytes) {
    ZSTD_outBuffer out{s.output.data(), s.output.size(), 0};
    const std::size_t left = ZSTD_decompressStream(s.stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0U) {
      return std::string(ZSTD_getErrorName(left));
    }
    s.inside_frame = left != 0;
    held_back = s.inside_frame && out.pos == out.size;
    text.append(s.output.data(), out.pos);
  }
  return std::nullopt;
}

}  // namespace poolproof
