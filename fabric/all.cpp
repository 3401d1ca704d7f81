// SPDX-License-Identifier: BSD-3-Clause
// CMake wants one source of its own in a library that is made of object libraries.
namespace fabric {}
