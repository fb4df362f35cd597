// Errors in a trace's text, with the excerpt that a person sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/trace_cursor.hpp"
#include "model/trace_text.hpp"

namespace poolproof {

/// An error at byte `failure.at` of `line`, which is line `number` of the file.
TextError text_error(std::string_view file, std::uint32_t number, std::string_view line, LineFailure failure);

/// An error of the file as a whole.
TextError file_error(std::string_view file, std::string message);

}  // namespace poolproof
