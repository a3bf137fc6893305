// SPDX-License-Identifier: Apache-2.0
// What the table of a Python program has beside ours: NumPy computes it, so it is refused by name
// here. A test compares the list with the table of Python.
#pragma once

namespace afterglow::c_api {

inline constexpr const char* refused_ops[] = {"choice",
                                              "choice_by_waiting",
                                              "cond",
                                              "constraint_check",
                                              "copy_make_border",
                                              "eig",
                                              "eigh",
                                              "eigvals",
                                              "eigvalsh",
                                              "fft",
                                              "histogram",
                                              "ifft",
                                              "imresize",
                                              "lcm",
                                              "lstsq",
                                              "matrix_rank",
                                              "median",
                                              "multivariate_normal",
                                              "np_unravel_index",
                                              "orthogonal",
                                              "percentile",
                                              "pinv",
                                              "qr",
                                              "quantile",
                                              "singular_values",
                                              "slogdet",
                                              "trsm"};

}  // namespace afterglow::c_api
