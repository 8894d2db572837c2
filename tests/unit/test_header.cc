// SPDX-License-Identifier: BSD-3-Clause
// The translation unit that the tests' precompiled header is made with.
