// SPDX-License-Identifier: BSD-3-Clause
// What `surety-lab run --report` has recorded stands here; a router has nothing, and is asked.
'use strict';
const recording = null;
