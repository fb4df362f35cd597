// fmt's own functions, compiled once into the model's library instead of into every file that formats something: that
// takes two thirds off the compile time of most files. It stands in for libfmt.so, which our users then need not have.

#include <fmt/format-inl.h>

// What <fmt/format.h> promises that a library has.
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
