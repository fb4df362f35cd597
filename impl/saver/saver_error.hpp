// What a memory saver answers when it cannot do what it is asked. Every text names the buffer.
#pragma once

#include <cstdint>
#include <string>

namespace poolproof {

enum class SaverErrorKind : std::uint8_t {
  already_paused,  ///< a buffer of the tag is paused; nothing changed
  not_paused,      ///< a buffer of the tag is resident; nothing changed
  touched_paused,  ///< a paused buffer was to be read or written
  out_of_range,    ///< bytes outside of the buffer were to be read or written
  unknown_tag,     ///< no buffer is under this tag
  unknown_buffer,  ///< no such buffer
  out_of_memory,   ///< the device has no room; what was paused stays paused, and a later resume works
  device,          ///< the driver's, or the kernel's
};

struct SaverError {
  SaverErrorKind kind = SaverErrorKind::device;
  std::string text;  ///< one line
};

}  // namespace poolproof
