#include "recording/zstd_packer.hpp"

#include <zstd.h>

#include <new>
#include <vector>

namespace poolproof {

struct ZstdPacker::State {
  std::unique_ptr<ZSTD_CStream, std::size_t (*)(ZSTD_CStream*)> stream{ZSTD_createCStream(), &ZSTD_freeCStream};
  std::vector<char> output = std::vector<char>(ZSTD_CStreamOutSize());

  /// Until all of the input is taken and, at the end, all of the output is out.
  void run(ZSTD_inBuffer& in, ZSTD_EndDirective directive, std::string& packed) {
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{output.data(), output.size(), 0};
      left = ZSTD_compressStream2(stream.get(), &out, &in, directive);
      if (ZSTD_isError(left) != 0U) {
        throw std::bad_alloc();
      }
      packed.append(output.data(), out.pos);
    } while (in.pos < in.size || (directive == ZSTD_e_end && left != 0));
  }
};

ZstdPacker::ZstdPacker() : state_(std::make_unique<State>()) {}
ZstdPacker::~ZstdPacker() = default;

void ZstdPacker::pack(std::string_view text, std::string& packed) {
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  state_->run(in, ZSTD_e_continue, packed);
}

void ZstdPacker::finish(std::string& packed) {
  ZSTD_inBuffer in{nullptr, 0, 0};
  state_->run(in, ZSTD_e_end, packed);
}

}  // namespace poolproof
