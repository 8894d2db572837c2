// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab run --report` writes its recording here. null: the tables come from a router.
'use strict';
const recording = null;
